r"""What the learned denoisers share: the loss, the bound, sampling and codes; `ddpm.py` has the members.

    L = E w_t ‖target − net(x_t, t, y)‖² / D,     t and ε of each example its own
    L = E L_{t−1} / (p_t D),  t ~ p_t             where it is the bound that is trained

A member sets `net`, (x, t, y or None) -> a prediction of noise, data or velocity. Everything else follows
from that and a schedule.

Shapes: x (B, *event_shape), t (B,) from 1 to T, y (B,) int64. References: see `ddpm.py`.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.distributions import Independent, Normal

from modules.base import Mean, Module, Split, require
from modules.diffusion import inversion, parameterisation, samplers, schedule
from modules.diffusion.bound import (
    Bound,
    Spread,
    Variance,
    bound,
    learned_variance,
    proposal,
    term,
    variances,
)
from modules.diffusion.exact import Denoiser
from modules.diffusion.guidance import classifier_free
from modules.trace import Trace


class Diffusion(Module):
    """Base of the learned denoisers: a member sets `self.net`, (x, t, y or None) -> a prediction.

    Args:
        event_shape: of one x.
        noise_steps: T. noise_schedule: "linear", "cosine", or "…-zero", which ends in pure noise.
        target: what the network predicts: "eps", "x0" or "v".
        min_snr: γ of the weights; None weighs all t alike.
        conditional: learn p(x | y) too. num_classes: of y. drop_label: share of labels left out.
        shift, scale: the model's x is (data − shift) / scale.
        clip: bound on |x̂_0| while sampling, in the model's units; None has none. clip_bound: in the reported
            bound too; else a schedule that ends in nearly pure noise pays there for what no sample sees.
        levels: grey levels of the bound's decoder; None takes densities.
        variance: σ_t² of the bound, "beta" or "posterior"; "learned" by number, between the two: then the net
            says twice as many numbers, and the loss has `hybrid` times the bound added, which moves σ² alone.
        objective: "simple", the weighted squared error; or "vlb", the bound itself, with t drawn by
            `proposal`: fewer bits, and samples that look worse.
        bound_draws: steps of the bound that validation draws for each example, besides its first and its last
            term; None takes all. test_draws: those that the test draws.
    """

    net: nn.Module
    anchor: Tensor

    def __init__(
        self,
        event_shape: Sequence[int],
        /,
        noise_steps: int = 1000,
        noise_schedule: schedule.Kind = "linear",
        target: parameterisation.Kind = "eps",
        min_snr: float | None = None,
        conditional: bool = False,
        num_classes: int | None = None,
        drop_label: float = 0.1,
        shift: float = 0.0,
        scale: float = 1.0,
        clip: float | None = None,
        clip_bound: bool = False,
        levels: int | None = None,
        variance: Variance | Literal["learned"] = "beta",
        hybrid: float = 1e-3,
        objective: Literal["simple", "vlb"] = "simple",
        bound_draws: int | None = 8,
        test_draws: int | None = None,
        **training: Any,
    ) -> None:
        names = ["mse", "elbo", *(["bpd"] if levels else [])]
        super().__init__(_measures={name: Mean() for name in names}, **training)
        require(1, event_shape=event_shape, num_classes=num_classes or 1)
        require(1, bound_draws=bound_draws or 1, test_draws=test_draws or 1)
        require(2, noise_steps=noise_steps, levels=levels or 2)
        require(0, 1, drop_label=drop_label)
        require(1e-9, scale=scale, clip=clip or 1, min_snr=min_snr or 1)
        parameterisation.check(target)
        if target in ("eps", "score") and noise_schedule.endswith("-zero"):
            raise ValueError(
                f"A schedule that ends in pure noise hides x_0 from {target}: set target to v or x0."
            )
        if objective not in ("simple", "vlb"):
            raise ValueError(f"objective is {objective!r}: it must be simple or vlb.")
        if conditional and not num_classes:
            raise ValueError("conditional is true, but the data have no classes: leave it out.")
        self.event_shape, self.event_dim = tuple(event_shape), math.prod(event_shape)
        self.code_shape = self.event_shape  # of what is diffused
        self.schedule = schedule.named(noise_schedule, noise_steps)
        self.target: parameterisation.Kind = target
        self.min_snr, self.drop_label = min_snr, drop_label
        self.num_classes = (num_classes or 0) if conditional else 0
        self.shift, self.scale, self.clip, self.levels = shift, scale, clip, levels
        if variance not in ("beta", "posterior", "learned"):
            raise ValueError(f"variance is {variance!r}: it must be beta, posterior or learned.")
        require(0, hybrid=hybrid)
        self.variance, self.hybrid = variance, hybrid
        self.channels_said = 2 if variance == "learned" else 1
        self.objective = objective
        self.draws = {"val": bound_draws, "test": test_draws}
        self.clip_bound = clip_bound
        share = proposal(
            self.schedule, variances(self.schedule, "beta" if variance == "learned" else variance)
        )
        self.share = share if objective == "vlb" else torch.cat([share[:1], 0 * share[1:] + 1 / noise_steps])
        self.register_buffer("anchor", torch.zeros(()), persistent=False)  # knows device and precision

    # --- Training -----------------------------------------------------------------------------------

    def inside(self, x: Tensor) -> Tensor:
        """Data in the model's units."""
        return (x - self.shift) / self.scale

    def outside(self, x: Tensor) -> Tensor:
        """The model's x in the data's units."""
        return x * self.scale + self.shift

    def losses(self, x: Tensor, t: Tensor, eps: Tensor, y: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Squared errors a number, of the target (weighted) and of ε, (B,) each; x in the model's units."""
        xt, a = self.schedule.noised(x, t, eps), self.schedule.alpha_bar[t.cpu()]
        said, share = self.split(self.net(xt, t, y))
        wanted = parameterisation.express(x, eps, a, self.target)
        error = (said - wanted).square().flatten(1).mean(1)
        weight = parameterisation.loss_weight(self.schedule.snr[t.cpu()], self.target, self.min_snr)
        loss = error * weight.to(error)
        if self.objective == "simple" and share is None:
            return loss, error
        guess = parameterisation.clean_and_noise(said, xt, a, self.target)[0]
        if self.objective == "simple":
            nats = self.hybrid * self.term(x, guess.detach(), share, t)
            return loss + self.schedule.T * nats / x[0].numel(), error
        chance = self.share[t.cpu()].to(error)
        return self.term(x, guess, share, t) / (chance * x[0].numel()), error

    def split(self, said: Tensor) -> tuple[Tensor, Tensor | None]:
        """The prediction, and the share v of σ² where it is learned; (B, *event_shape) each."""
        if self.channels_said == 1:
            return said, None
        prediction, share = said.chunk(2, 1)
        return prediction, share.sigmoid()

    def say(self, x: Tensor, t: Tensor, y: Tensor | None) -> Tensor:
        """The prediction alone."""
        return self.split(self.net(x, t, y))[0]

    def term(self, x: Tensor, guess: Tensor, share: Tensor | None, t: Tensor) -> Tensor:
        """L_{t−1}, or L_0 at t = 1, of x̂_0 and v in nats, (B,)."""
        if share is not None:
            square = learned_variance(self.schedule, share, t)
        else:
            assert self.variance != "learned"
            square = schedule.rows(variances(self.schedule, self.variance)[t.cpu()], x.double())
        return term(self.schedule, x, guess, square, t, self.levels).to(x)

    def drawn_times(self, n: int, split: Split, generator: samplers.Draws = None) -> Tensor:
        """t (n,) of each example its own: uniform in 1 … T, or in training on the bound by its proposal."""
        u = samplers.uniform((n,), generator)
        if split == "train" and self.objective == "vlb":
            t = torch.searchsorted(self.share.cumsum(0), u.double(), right=True)
        else:
            t = 1 + (u * self.schedule.T).long()
        return t.clamp(1, self.schedule.T).to(self.anchor.device)

    def without_some(self, y: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Labels (B,), a share of them "none"."""
        dropped = torch.rand(len(y), generator=generator).to(y.device) < self.drop_label
        return torch.where(dropped, self.num_classes, y)

    def step(self, batch: Any, split: Split) -> Tensor:
        x, *rest = batch if isinstance(batch, list | tuple) else (batch,)
        generator = None if split == "train" else samplers.of_each(x)
        x = self.inside(x)
        t = self.drawn_times(len(x), split, generator)
        y = rest[0] if self.num_classes else None
        y = y if y is None or split != "train" else self.without_some(y)
        loss, error = self.losses(x, t, samplers.gaussian(x, generator), y)
        self.log_metric(split, "mse", (error if self.objective == "vlb" else loss).detach())
        if split != "train":
            nats = self.bound(x, y, self.draws[split], generator).total - self.log_unit
            self.log_metric(split, "elbo", nats)
            if self.levels:
                self.log_metric(split, "bpd", nats / (self.event_dim * math.log(2)))
        return loss.mean()

    # --- The bound ----------------------------------------------------------------------------------

    @property
    def log_unit(self) -> float:
        """log |d model / d data|: what a density gains by the change of units; 0 of grey levels."""
        return 0.0 if self.levels else -self.event_dim * math.log(self.scale)

    @torch.no_grad()
    def bound(
        self,
        x: Tensor,
        y: Tensor | None = None,
        draws: int | None = None,
        generator: samplers.Draws = None,
    ) -> Bound:
        """Terms of −ELBO of x in the model's units; `draws` steps and the last, None takes all."""
        clip = self.clip if self.clip_bound else None
        spread = self.step_variance(y) if self.variance == "learned" else self.variance
        return bound(self.denoiser(y), self.schedule, x, spread, self.levels, draws, generator, clip)

    def step_variance(self, y: Tensor | None = None) -> Spread:
        """The learned σ_t² of (x_t, t), by number."""

        def answer(x: Tensor, t: Tensor) -> Tensor:
            share = self.split(self.net(x, t, y))[1]
            assert share is not None
            return learned_variance(self.schedule, share, t)

        return answer

    def elbo(self, x: Tensor, y: Tensor | None = None, generator: samplers.Draws = None) -> Tensor:
        """A lower bound on log p(x), data units, nats, (B,); one draw of noise for each of the T terms."""
        return self.log_unit - self.bound(self.inside(x), y, None, generator).total

    # --- Sampling -----------------------------------------------------------------------------------

    def denoiser(self, y: Tensor | None = None, guidance: float = 0.0) -> Denoiser:
        """x̂_0 and ε̂ of (x, t), in the model's units; `guidance` is w of classes y (B,).

        Raises:
            ValueError: guidance without classes to lean towards.
        """
        if guidance and (y is None or not self.num_classes):
            raise ValueError(
                "Guidance leans towards a class: give y, of a model with classes, or leave it out."
            )

        def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
            if y is None or not guidance:
                said = self.say(x, t, y)
            else:
                said = classifier_free(self.say, x, t, y, self.num_classes, guidance)
            return parameterisation.clean_and_noise(said, x, self.schedule.level(t), self.target)

        return predict

    def start(self, n: int, generator: samplers.Draws = None) -> Tensor:
        """x_T ~ N(0, I), (n, *code_shape)."""
        return samplers.gaussian(self.anchor.expand(n, *self.code_shape), generator)

    def classes(self, n: int, label: int | None, guidance: float) -> Tensor | None:
        """Classes (n,) of n draws: `label`, or each in turn.

        Raises:
            ValueError: no such class, or a model without classes.
        """
        if not self.num_classes:
            if label is not None or guidance:
                raise ValueError("This model knows no classes: leave label and guidance out.")
            return None
        if label is not None and not 0 <= label < self.num_classes:
            raise ValueError(f"label is {label}: it must be from 0 to {self.num_classes - 1}.")
        y = torch.arange(n) % self.num_classes if label is None else torch.full((n,), label)
        return y.to(self.anchor.device)

    def walk(
        self, x: Tensor, steps: int = 50, eta: float = 0.0, y: Tensor | None = None,
        guidance: float = 0.0, generator: torch.Generator | None = None, start: int | None = None,
    ) -> samplers.Walk:  # fmt: skip
        """DDIM from x at time `start` (T without), in the model's units."""
        start = self.schedule.T if start is None else start
        if not 1 <= steps <= start:
            raise ValueError(f"steps is {steps}: it must be from 1 to {start}.")
        times = self.schedule.times(steps, start)
        return samplers.ddim(self.denoiser(y, guidance), self.schedule, x, times, eta, self.clip, generator)

    def chain(
        self, x: Tensor, steps: int = 1000, y: Tensor | None = None, guidance: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> samplers.Walk:  # fmt: skip
        """The chain backwards from x at T, with σ² of the model's own: learned, it lies between β and β̃ of
        each hop by the network's share, however many are left out (Nichol & Dhariwal 2021, §4)."""
        own: samplers.Variance | samplers.Hop
        own = self.hop_variance(y) if self.variance == "learned" else self.variance  # type: ignore[assignment]
        times = self.schedule.times(min(steps, self.schedule.T))
        predict = self.denoiser(y, guidance)
        return samplers.ancestral(predict, self.schedule, x, times, own, self.clip, generator)

    def hop_variance(self, y: Tensor | None = None) -> samplers.Hop:
        """The learned σ² of a hop from x_t at t to p > 0, by number."""

        def answer(x: Tensor, t: int, p: int) -> Tensor:
            share = self.split(self.net(x, torch.full((len(x),), t, device=x.device), y))[1]
            assert share is not None
            tilde = float(self.schedule.posterior_weights(torch.tensor(t), torch.tensor(p))[2])
            beta = 1 - float(self.schedule.alpha_bar[t] / self.schedule.alpha_bar[p])
            return (share * math.log(beta) + (1 - share) * math.log(max(tilde, 1e-20))).exp()

        return answer

    def noised(self, x: Tensor, t: int, generator: torch.Generator | None = None) -> Tensor:
        """Data x as it is at time t, in the model's units: where a walk may start that is to keep some of x
        (SDEdit: Meng et al. 2022, arXiv:2108.01073)."""
        x0 = self.inside(x)
        return self.schedule.noised(x0, torch.full((len(x),), t), samplers.gaussian(x0, generator))

    @torch.no_grad()
    def sample(
        self,
        n: int,
        steps: int | None = None,
        eta: float = 0.0,
        guidance: float = 0.0,
        label: int | None = None,
        generator: torch.Generator | None = None,
        seed: int | None = None,
    ) -> Tensor:
        """n draws of x, (n, *event_shape), by DDIM of so many steps: 100 of the T, or all where T is less.

        η = 0 is deterministic but for the start, 1 as noisy as the chain. `label` is the class, each in turn
        without; `guidance` is w.
        """
        if seed is not None:
            generator = torch.Generator().manual_seed(seed)
        y = self.classes(n, label, guidance)
        steps = min(100, self.schedule.T) if steps is None else steps
        walk = self.walk(self.start(n, generator), steps, eta, y, guidance, generator)
        return self.outside(samplers.last(walk))

    @torch.no_grad()
    def sample_trace(
        self, n: int = 1, steps: int = 20, eta: float = 0.0, guidance: float = 0.0,
        label: int | None = None, seed: int = 0,
    ) -> Trace:  # fmt: skip
        """`sample` as steps, one a hop: values x, x0 and eps (n, *event_shape), in the model's units."""
        generator = torch.Generator().manual_seed(seed)
        y = self.classes(n, label, guidance)
        found = samplers.trace(self.walk(self.start(n, generator), steps, eta, y, guidance, generator))
        return Trace(found.steps, self.outside(found.result))

    # --- Latent -------------------------------------------------------------------------------------

    @property
    def prior(self) -> Independent:
        """N(0, I) over codes."""
        zeros = self.anchor.expand(self.code_shape)
        return Independent(Normal(zeros, zeros + 1, validate_args=False), len(self.code_shape), False)

    def code_times(self, steps: int) -> list[int]:
        """From T to 0, leaving out what has ᾱ < 0.001: there x̂_0 magnifies what ε̂ misses 1/√ᾱ times."""
        times = self.schedule.times(min(steps, self.schedule.T))
        found = [t for t in times if self.schedule.alpha_bar[t] >= 1e-3]
        # a single step would be left out whole: it starts at the first t that is not
        return found if len(found) > 1 else [int((self.schedule.alpha_bar >= 1e-3).nonzero()[-1]), 0]

    @torch.no_grad()
    def encode(self, x: Tensor, steps: int = 100, y: Tensor | None = None) -> Tensor:
        """x in data units -> its code, nearly N(0, I), by DDIM upwards."""
        return inversion.invert(self.denoiser(y), self.schedule, self.inside(x), self.code_times(steps))

    @torch.no_grad()
    def decode(self, z: Tensor, steps: int = 100, y: Tensor | None = None) -> Tensor:
        """Code -> x in data units, by DDIM with η = 0 and no clipping."""
        walk = samplers.ddim(self.denoiser(y), self.schedule, z, self.code_times(steps))
        return self.outside(samplers.last(walk))
