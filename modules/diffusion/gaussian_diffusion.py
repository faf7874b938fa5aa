r"""Gaussian diffusion, learned: the loss, the bound, sampling and codes of every denoiser; `ddpm.py` has the
members.

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
from modules.classes import ClassConditional
from modules.diffusion import inversion, parameterisation, samplers, schedule
from modules.diffusion.bound import (
    Bound,
    StepVariance,
    Variance,
    bound,
    learned_variance,
    proposal,
    term,
    variances,
)
from modules.diffusion.exact import Denoiser
from modules.diffusion.guidance import classifier_free_guidance
from modules.former import former
from modules.noise import Generators, normal_like, per_example, uniform32
from modules.trace import Trace


class GaussianDiffusion(ClassConditional, Module):
    """Base of the learned denoisers. Subclasses set `self.net`, (x, t, y or None) -> a prediction.

    Args:
        event_shape: of one x.
        noise_steps: T. noise_schedule: "linear", "cosine", or "…-zero", which ends in pure noise.
        target: what the network predicts: "eps", "x0" or "v".
        min_snr_gamma: γ of the weights; None weighs all t alike.
        conditional: learn p(x | y) too. num_classes: of y. label_dropout: share of labels dropped.
        shift, scale: the model's x is (data − shift) / scale.
        clip: bound on |x̂_0| while sampling, in the model's units; None has none. clip_bound: in the reported
            bound too; else a schedule that ends in nearly pure noise pays there for what no sample sees.
        levels: grey levels of the bound's decoder; None takes densities.
        variance: σ_t² of the bound, "beta" or "posterior"; "learned" per dimension, between the two: then the
            net gives twice as many numbers, and the loss has `vlb_weight` times the bound added, which moves
            σ² alone.
        objective: "simple", the weighted squared error; or "vlb", the bound itself, with t drawn by
            `proposal`: fewer bits, and samples that look worse.
        bound_draws: steps of the bound that validation draws per example, besides its first and its last
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
        min_snr_gamma: float | None = None,
        conditional: bool = False,
        num_classes: int | None = None,
        label_dropout: float = 0.1,
        shift: float = 0.0,
        scale: float = 1.0,
        clip: float | None = None,
        clip_bound: bool = False,
        levels: int | None = None,
        variance: Variance | Literal["learned"] = "beta",
        vlb_weight: float = 1e-3,
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
        require(0, 1, label_dropout=label_dropout)
        require(1e-9, scale=scale, clip=clip or 1, min_snr_gamma=min_snr_gamma or 1)
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
        self.min_snr_gamma, self.label_dropout = min_snr_gamma, label_dropout
        self.num_classes = (num_classes or 0) if conditional else 0
        self.shift, self.scale, self.clip, self.levels = shift, scale, clip, levels
        if variance not in ("beta", "posterior", "learned"):
            raise ValueError(f"variance is {variance!r}: it must be beta, posterior or learned.")
        require(0, vlb_weight=vlb_weight)
        self.variance, self.vlb_weight = variance, vlb_weight
        self.output_factor = 2 if variance == "learned" else 1
        self.objective = objective
        self.draws = {"val": bound_draws, "test": test_draws}
        self.clip_bound = clip_bound
        p = proposal(self.schedule, variances(self.schedule, "beta" if variance == "learned" else variance))
        self.time_probs = p if objective == "vlb" else torch.cat([p[:1], 0 * p[1:] + 1 / noise_steps])
        self.register_buffer("anchor", torch.zeros(()), persistent=False)  # knows device and precision

    def extra_repr(self) -> str:
        sizes = f"event_shape={self.event_shape}, num_classes={self.num_classes}"
        return f"{sizes}, {self.schedule}, target={self.target}, variance={self.variance}"

    # --- Training -----------------------------------------------------------------------------------

    def preprocess(self, x: Tensor) -> Tensor:
        """Model's units of data."""
        return (x - self.shift) / self.scale

    def postprocess(self, x: Tensor) -> Tensor:
        """Data's units of the model's x."""
        return x * self.scale + self.shift

    def losses(self, x: Tensor, t: Tensor, eps: Tensor, y: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Per-dimension squared error of the target (weighted) and of ε, (B,) each; x in the model's
        units."""
        xt, a = self.schedule.noised(x, t, eps), self.schedule.alpha_bar[t.cpu()]
        output, v = self.split(self.net(xt, t, y))
        target = parameterisation.from_x0_eps(x, eps, a, self.target)
        error = (output - target).square().flatten(1).mean(1)
        weight = parameterisation.loss_weight(self.schedule.snr[t.cpu()], self.target, self.min_snr_gamma)
        loss = error * weight.to(error)
        if self.objective == "simple" and v is None:
            return loss, error
        x0 = parameterisation.to_x0_eps(output, xt, a, self.target)[0]
        if self.objective == "simple":
            nats = self.vlb_weight * self.term(x, x0.detach(), v, t)
            return loss + self.schedule.T * nats / x[0].numel(), error
        p = self.time_probs[t.cpu()].to(error)
        return self.term(x, x0, v, t) / (p * x[0].numel()), error

    def split(self, output: Tensor) -> tuple[Tensor, Tensor | None]:
        """Prediction, and the weight v of log β in log σ² where it is learned; (B, *event_shape) each."""
        if self.output_factor == 1:
            return output, None
        prediction, v = output.chunk(2, 1)
        return prediction, v.sigmoid()

    def prediction(self, x: Tensor, t: Tensor, y: Tensor | None) -> Tensor:
        """Prediction of the target alone, (B, *event_shape)."""
        return self.split(self.net(x, t, y))[0]

    def term(self, x: Tensor, x0: Tensor, v: Tensor | None, t: Tensor) -> Tensor:
        """Term L_{t−1}, or L_0 at t = 1, of a prediction x̂_0 and v in nats, (B,)."""
        if v is not None:
            square = learned_variance(self.schedule, v, t)
        else:
            assert self.variance != "learned"
            square = schedule.rows(variances(self.schedule, self.variance)[t.cpu()], x.double())
        return term(self.schedule, x, x0, square, t, self.levels).to(x)

    def sample_timesteps(self, n: int, split: Split, generator: Generators = None) -> Tensor:
        """Times t (n,), one per example: uniform in 1 … T, or in training on the bound by its proposal."""
        u = uniform32((n,), generator)
        if split == "train" and self.objective == "vlb":
            t = torch.searchsorted(self.time_probs.cumsum(0), u.double(), right=True)
        else:
            t = 1 + (u * self.schedule.T).long()
        return t.clamp(1, self.schedule.T).to(self.anchor.device)

    def drop_labels(self, y: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Labels (B,), a share of them replaced by "none"."""
        dropped = torch.rand(len(y), generator=generator).to(y.device) < self.label_dropout
        return torch.where(dropped, self.num_classes, y)

    def step(self, batch: Any, split: Split) -> Tensor:
        x, *rest = batch if isinstance(batch, list | tuple) else (batch,)
        generator = None if split == "train" else per_example(x)
        x = self.preprocess(x)
        t = self.sample_timesteps(len(x), split, generator)
        y = rest[0] if self.num_classes else None
        y = y if y is None or split != "train" else self.drop_labels(y)
        loss, error = self.losses(x, t, normal_like(x, generator), y)
        self.log_metric(split, "mse", (error if self.objective == "vlb" else loss).detach())
        if split != "train":
            nats = self.bound(x, y, draws=self.draws[split], generator=generator).total - self.log_unit
            self.log_metric(split, "elbo", nats)
            if self.levels:
                self.log_metric(split, "bpd", nats / (self.event_dim * math.log(2)))
        return loss.mean()

    # --- The bound ----------------------------------------------------------------------------------

    @property
    def log_unit(self) -> float:
        """Log-derivative log |d model / d data|: what a density gains by the change of units; 0 of grey
        levels."""
        return 0.0 if self.levels else -self.event_dim * math.log(self.scale)

    @torch.no_grad()
    def bound(
        self,
        x: Tensor,
        y: Tensor | None = None,
        *,
        draws: int | None = None,
        generator: Generators = None,
    ) -> Bound:
        """Terms of −ELBO of x in the model's units; `draws` steps and the last, None takes all."""
        clip = self.clip if self.clip_bound else None
        variance = self.step_variance(y) if self.variance == "learned" else self.variance
        return bound(self.denoiser(y), self.schedule, x, variance, self.levels, draws, generator, clip)

    def step_variance(self, y: Tensor | None = None) -> StepVariance:
        """Learned σ_t² of (x_t, t), per dimension."""

        def variance(x: Tensor, t: Tensor) -> Tensor:
            v = self.split(self.net(x, t, y))[1]
            assert v is not None
            return learned_variance(self.schedule, v, t)

        return variance

    def elbo(self, x: Tensor, y: Tensor | None = None, *, generator: Generators = None) -> Tensor:
        """Lower bound on log p(x), data units, nats, (B,); one draw of noise for each of the T terms."""
        return self.log_unit - self.bound(self.preprocess(x), y, generator=generator).total

    # --- Sampling -----------------------------------------------------------------------------------

    def denoiser(self, y: Tensor | None = None, guidance: float = 0.0) -> Denoiser:
        """Denoiser (x, t) -> x̂_0 and ε̂, in the model's units; `guidance` is w of classes y (B,).

        Raises:
            ValueError: guidance without classes to lean towards.
        """
        if guidance and not self.num_classes:
            raise ValueError("This model knows no classes: leave guidance out.")
        if guidance and y is None:
            raise ValueError("Guidance leans towards a class: give y, or leave guidance out.")

        def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
            if y is None or not guidance:
                output = self.prediction(x, t, y)
            else:
                output = classifier_free_guidance(self.prediction, x, t, y, self.num_classes, guidance)
            return parameterisation.to_x0_eps(output, x, self.schedule.level(t), self.target)

        return predict

    def start(self, n: int, generator: Generators = None) -> Tensor:
        """Noise x_T ~ N(0, I), (n, *code_shape)."""
        return normal_like(self.anchor.expand(n, *self.code_shape), generator)

    def trajectory(
        self, x: Tensor, *, y: Tensor | None = None, generator: torch.Generator | None = None,
        steps: int = 50, eta: float = 0.0, guidance: float = 0.0, start: int | None = None,
    ) -> samplers.Trajectory:  # fmt: skip
        """DDIM from x at time `start` (T without), in the model's units."""
        start = self.schedule.T if start is None else start
        if not 1 <= steps <= start:
            raise ValueError(f"steps is {steps}: it must be from 1 to {start}.")
        times = self.schedule.times(steps, start)
        return samplers.ddim(self.denoiser(y, guidance), self.schedule, x, times, eta, self.clip, generator)

    def reverse_process(
        self, x: Tensor, *, y: Tensor | None = None, generator: torch.Generator | None = None,
        steps: int = 1000, guidance: float = 0.0,
    ) -> samplers.Trajectory:  # fmt: skip
        """Ancestral sampling from x at T, with σ² of the model's own: learned, it lies between β and β̃ of
        each step by the network's v, however many times are left out (Nichol & Dhariwal 2021, §4)."""
        own: samplers.Variance | samplers.JumpVariance
        own = self.jump_variance(y) if self.variance == "learned" else self.variance  # type: ignore[assignment]
        times = self.schedule.times(min(steps, self.schedule.T))
        predict = self.denoiser(y, guidance)
        return samplers.ancestral(predict, self.schedule, x, times, own, self.clip, generator)

    def jump_variance(self, y: Tensor | None = None) -> samplers.JumpVariance:
        """Learned σ² of a step from x_t at t to p > 0, per dimension."""

        def variance(x: Tensor, t: int, p: int) -> Tensor:
            v = self.split(self.net(x, torch.full((len(x),), t, device=x.device), y))[1]
            assert v is not None
            tilde = float(self.schedule.posterior_weights(torch.tensor(t), torch.tensor(p))[2])
            beta = 1 - float(self.schedule.alpha_bar[t] / self.schedule.alpha_bar[p])
            return (v * math.log(beta) + (1 - v) * math.log(max(tilde, 1e-20))).exp()

        return variance

    def noised(self, x: Tensor, t: int, generator: torch.Generator | None = None) -> Tensor:
        """Data x under the noise of time t, in the model's units: from there a trajectory keeps some of x
        (SDEdit: Meng et al. 2022, arXiv:2108.01073)."""
        x0 = self.preprocess(x)
        return self.schedule.noised(x0, torch.full((len(x),), t), normal_like(x0, generator))

    @former("n", "steps", "eta", "guidance", "label", "generator", "seed")
    @torch.no_grad()
    def sample(
        self, n: int, *, y: int | Tensor | None = None, generator: torch.Generator | None = None,
        steps: int | None = None, eta: float = 0.0, guidance: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """Draws of x, (n, *event_shape), by DDIM of so many steps: 100 of the T, or all where T is less.

        Args:
            y: class of all, or (n,) classes; without it they come in turn.
            eta: η; 0 is deterministic but for the start, 1 as noisy as the reverse process.
            guidance: w.
        """
        steps = min(100, self.schedule.T) if steps is None else steps
        return self.to_event(samplers.last(self._trajectory(n, y, generator, steps, eta, guidance)))

    @former("n", "steps", "eta", "guidance", "label", "seed")
    @torch.no_grad()
    def sample_trace(
        self, n: int = 1, *, y: int | Tensor | None = None, generator: torch.Generator | None = None,
        steps: int = 20, eta: float = 0.0, guidance: float = 0.0,
    ) -> Trace:  # fmt: skip
        """`sample` as a trace of the states of DDIM: values x, x0 and eps (n, *event_shape), in the model's
        units."""
        trace = samplers.trace(self._trajectory(n, y, generator, steps, eta, guidance))
        return Trace(trace.steps, self.to_event(trace.result))

    def to_event(self, x: Tensor) -> Tensor:
        """The end of a trajectory, in the model's units, as an example, (n, *event_shape)."""
        return self.postprocess(x)

    def _trajectory(
        self, n: int, y: int | Tensor | None, generator: torch.Generator | None, steps: int, eta: float,
        guidance: float,
    ) -> samplers.Trajectory:  # fmt: skip
        """DDIM from noise."""
        classes = self.classes(n, y)
        x = self.start(n, generator)
        return self.trajectory(
            x, y=None if classes is None else classes.to(x.device), generator=generator, steps=steps, eta=eta,
            guidance=guidance,
        )  # fmt: skip

    # --- Latent -------------------------------------------------------------------------------------

    @property
    def prior(self) -> Independent:
        """Prior N(0, I) of codes."""
        zeros = self.anchor.expand(self.code_shape)
        return Independent(Normal(zeros, zeros + 1, validate_args=False), len(self.code_shape), False)

    def code_times(self, steps: int) -> list[int]:
        """Times from T to 0 without those of ᾱ < 0.001: there x̂_0 magnifies an error of ε̂ 1/√ᾱ times."""
        times = self.schedule.times(min(steps, self.schedule.T))
        kept = [t for t in times if self.schedule.alpha_bar[t] >= 1e-3]
        # a single step would be left out whole: it starts at the first t that is not
        return kept if len(kept) > 1 else [int((self.schedule.alpha_bar >= 1e-3).nonzero()[-1]), 0]

    @torch.no_grad()
    def encode(self, x: Tensor, *, y: Tensor | None = None, steps: int = 100) -> Tensor:
        """Code of x in data units, nearly N(0, I), by DDIM inversion."""
        return inversion.invert(self.denoiser(y), self.schedule, self.preprocess(x), self.code_times(steps))

    @torch.no_grad()
    def decode(self, z: Tensor, *, y: Tensor | None = None, steps: int = 100) -> Tensor:
        """x in data units of a code, by DDIM with η = 0 and no clipping."""
        trajectory = samplers.ddim(self.denoiser(y), self.schedule, z, self.code_times(steps))
        return self.postprocess(samplers.last(trajectory))
