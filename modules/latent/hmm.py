r"""Hidden Markov model: a chain of states that nobody sees, and what each state shows.

    z_1 ~ π,   p(z_t = k | z_{t−1} = j) = A_jk,   x_t ~ p(x | z_t)
    p(x) = Σ_z π(z_1) p(x_1|z_1) Π_t A(z_{t−1}, z_t) p(x_t|z_t)

Baum–Welch is EM: γ and ξ by forward–backward (`modules.latent.forward_backward`), then

    π = mean γ_1,   A_jk = Σ ξ_t(j, k) / Σ_k Σ ξ_t(j, k),   emissions fitted with weights γ

where the sums run over all sequences ([GM] 3.22–3.24 are for one). What is hidden is Markov, what is seen in
general is not: p(x_t | x_1..t−1) depends on the whole past. With rows of A all equal to π nothing is
remembered, and the model is a mixture.

Observations: `categorical` x (B, T) int64, −1 where missing; `gaussian`, `gaussian-full` and `bernoulli`
x (B, T, D), NaN where missing, or (B, T) if D = 1. Sequences of unequal length are padded so. Of a frame that
lacks some of its numbers the others count: p(x_t | z_t) is their marginal, and EM takes what it expects of
those that are not there.

Shapes: z (B, T) int64; log_prob (B,), nats per sequence.

References: Baum, Petrie, Soules, Weiss 1970; Rabiner 1989; [GM] §3.2.3; [BB] §5.1 ex. 5.10.
"""

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor, nn

from modules.base import Mean, Split, require, require_one_of
from modules.former import former
from modules.latent import forward_backward
from modules.latent.em import EMDensity, Stats, examples
from modules.latent.emissions import Bernoulli, Categorical, Emission
from modules.latent.forward_backward import Posterior
from modules.latent.gaussians import Gaussians
from modules.noise import pick, uniform
from modules.trace import Step, Trace

COMPARED = 2**22  # chances that a sample looks at in one go
EmissionKind = Literal["categorical", "gaussian", "gaussian-full", "bernoulli"]


def group_by_missing(frames: Tensor) -> Iterator[tuple[Tensor | slice, Tensor | None]]:
    """Frames (N, D) by which of their numbers are there: their places, and those numbers as a mask (D,), None
    where all are. Frames of which nothing is there are left out."""
    there = ~frames.isnan()
    if bool(there.all()):
        yield slice(None), None
        return
    masks, which = there.unique(dim=0, return_inverse=True)
    for number, seen in enumerate(masks):
        if bool(seen.any()):
            yield (which == number).nonzero()[:, 0], None if bool(seen.all()) else seen


class HMM(EMDensity):
    """Args:
        states: K.
        emission: "categorical" of `vocab_size` symbols; "gaussian" (diagonal), "gaussian-full" or
            "bernoulli" of `num_features` numbers.
        floor: the least variance of a Gaussian, and the least chance of a bit.
        length: T of a sample.
        restarts, trial_steps, training: see `EMModel`. A start is random; the likeliest is kept.

    Metrics: `nll`, nats per sequence, and `rate`, nats per observation.

    Example:
        >>> HMM(states=2, emission="categorical", vocab_size=3).num_parameters
        7
    """

    allows_missing = True
    initial: Tensor
    transition: Tensor

    def __init__(
        self,
        states: int = 2,
        emission: EmissionKind = "categorical",
        vocab_size: int | None = None,
        num_features: int | None = None,
        floor: float = 1e-6,
        length: int = 100,
        restarts: int = 1,
        trial_steps: int = 10,
        **training: Any,
    ) -> None:
        super().__init__(restarts, trial_steps, _measures={"nll": Mean(), "rate": Mean()}, **training)
        require_one_of(EmissionKind, emission=emission)
        require(1, states=states, length=length)
        self.states, self.length, self.emission_kind = states, length, emission
        wanted = vocab_size if emission == "categorical" else num_features
        if wanted is None:
            name = "vocab_size" if emission == "categorical" else "num_features"
            raise ValueError(f"{name} is missing: a {emission} emission needs it.")
        result: nn.Module
        if emission == "categorical":
            result = Categorical(states, wanted)
        elif emission == "bernoulli":
            result = Bernoulli(states, wanted, floor)
        else:
            result = Gaussians(
                states, wanted, "full" if emission == "gaussian-full" else "diag", floor, "State"
            )
        self.emission: Any = result
        self.register_buffer("initial", torch.full((states,), 1 / states, dtype=torch.float64))
        self.register_buffer("transition", torch.full((states, states), 1 / states, dtype=torch.float64))

    @property
    def num_parameters(self) -> int:
        """Free numbers: rows of probabilities sum to 1."""
        k, emission = self.states, self.emission
        return k - 1 + k * (k - 1) + emission.num_free

    def extra_repr(self) -> str:
        return f"states={self.states}, emission={self.emission_kind!r}, length={self.length}"

    def set_parameters(self, initial: Tensor, transition: Tensor) -> None:
        """Use π (K,) and A (K, K); the emission has its own buffers."""
        self.initial.copy_(initial)
        self.transition.copy_(transition)
        self.started.fill_(True)

    # --- inference ---

    def observed(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Frames as the emission wants them, (B·T,) with 0 or (B·T, D) with NaN where missing; and which are
        there, (B, T), some of their numbers at least.

        Raises:
            ValueError: a frame has not as many numbers as the model, or a symbol that it does not know.
        """
        if self.emission_kind == "categorical":
            x = x.long()
            if x.ndim != 2 or (x.numel() and int(x.max()) >= self.emission.symbols):
                raise ValueError(
                    f"x must be (sequences, frames) of symbols below {self.emission.symbols}, −1 where "
                    "missing."
                )
            return x.clamp(min=0).flatten(), x >= 0
        x = x.to(self.initial)
        x = x[..., None] if x.ndim == 2 else x
        if x.shape[-1] != self.emission.features:
            raise ValueError(f"each frame has {x.shape[-1]} numbers, the model {self.emission.features}.")
        return x.flatten(0, 1), ~x.isnan().all(-1)

    def log_emissions(self, x: Tensor) -> Tensor:
        """log p(x_t | z_t = k) of what is there of x_t, (B, T, K); 0 where nothing is."""
        frames, there = self.observed(x)
        if self.emission_kind == "categorical":
            log_b = torch.where(there.flatten()[:, None], self.emission.log_prob(frames), 0.0)
            return log_b.reshape(*there.shape, self.states)
        log_b = self.initial.new_zeros(len(frames), self.states)
        for rows, seen in group_by_missing(frames):
            if seen is None:
                log_b[rows] = self.emission.log_prob(frames[rows])
            else:
                log_b[rows] = self.emission.marginal(seen).log_prob(frames[rows][:, seen])
        return log_b.reshape(*there.shape, self.states)

    def mask(self, x: Tensor) -> Tensor | None:
        """(B, T), the frames up to the last one that is there: what comes behind it is padding. None if
        there is no padding."""
        there = self.observed(x)[1]
        return None if bool(there[:, -1].all()) else there.flip(1).cummax(1).values.flip(1)

    def posterior(self, x: Tensor) -> Posterior:
        """Filtered and smoothed states, expected transitions, log p(x_t | past)."""
        return forward_backward.posterior(self.initial, self.transition, self.log_emissions(x), self.mask(x))

    def filtered(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """p(z_t | x_1..t), (B, T, K), and log p(x_t | x_1..t−1), (B, T)."""
        return forward_backward.forward(self.initial, self.transition, self.log_emissions(x))

    def log_prob(self, x: Tensor) -> Tensor:
        return self.filtered(x)[1].sum(1)

    def viterbi(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The likeliest path, (B, T) int64, and its log p(x, z), (B,). Behind the last frame that is there
        the path stays where it ended."""
        path, log_p, _ = forward_backward.viterbi(
            self.initial, self.transition, self.log_emissions(x), self.mask(x)
        )
        return path, log_p

    def forecast(self, x: Tensor, steps: int = 1) -> Tensor:
        """p(z_{T+h} | x), (B, K), h = `steps` after the last frame that is there."""
        filtered, mask = self.filtered(x)[0], self.mask(x)
        last = filtered[:, -1]
        if mask is not None:
            ends = (mask.sum(1) - 1).clamp(min=0)
            last = filtered[torch.arange(len(ends), device=ends.device), ends]
        return last @ torch.linalg.matrix_power(self.transition, steps)

    def log_joint(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x, z) of a path z (B, T), (B,), up to the last frame that is there."""
        shown = self.log_emissions(x).gather(2, z[..., None])[..., 0].sum(1)
        moves, mask = self.transition.log()[z[:, :-1], z[:, 1:]], self.mask(x)
        if mask is not None:
            moves = torch.where(mask[:, 1:], moves, 0.0)
        return self.initial.log()[z[:, 0]] + moves.sum(1) + shown

    def encode(self, x: Tensor) -> Tensor:
        """The likeliest path, (B, T) int64: see `viterbi`."""
        return self.viterbi(x)[0]

    # --- EM ---

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        frames, there = self.observed(x)
        emission: Emission = self.emission
        frames = frames[there.flatten()]
        if frames.is_floating_point():  # holes are filled by the mean of the others
            frames = torch.where(frames.isnan(), frames.nanmean(0).nan_to_num(), frames)
        emission.initialize(frames, generator)
        k = self.states
        rows = 0.1 + torch.rand(k, k, generator=generator, dtype=torch.float64).to(self.transition)
        self.set_parameters(torch.full((k,), 1 / k), rows / rows.sum(1, keepdim=True))

    def e_step(self, x: Tensor) -> Stats:
        result = self.posterior(x)
        frames, there = self.observed(x)
        impossible = int((result.log_prob == -torch.inf).sum())
        if impossible:
            raise ValueError(
                f"{impossible} of {len(x)} sequences have probability 0 under the present parameters: EM "
                "cannot go on from here. Begin where every transition and every symbol is possible."
            )
        begun = there.any(1, keepdim=True)  # a sequence of padding alone has no first state
        weights = torch.where(there[..., None], result.smoothed, 0.0).reshape(-1, self.states)
        return {
            "loglik": result.log_prob.sum(),
            "count": weights.new_tensor(len(x)),
            "starts": (result.smoothed[:, 0] * begun).sum(0),
            "moves": result.transitions,
            **self.moments(frames, weights),
        }

    def moments(self, frames: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """Moments of the emission over all frames that are there: `weights` (B·T, K) are 0 where none is."""
        if self.emission_kind == "categorical":
            return self.emission.moments(frames, weights)
        results = self.emission.moments(frames[:0], weights[:0])
        for rows, seen in group_by_missing(frames):
            x, r = frames[rows], weights[rows]
            if seen is None:
                part = self.emission.moments(x, r)
            else:
                part = self.emission.partial_moments(x[:, seen], r, seen)
            results = {key: total + part[key] for key, total in results.items()}
        return results

    def m_step(self, stats: Stats) -> None:
        moves = stats["moves"]
        total = moves.sum(1, keepdim=True)
        self.transition.copy_(torch.where(total > 0, moves / total.clamp(min=1e-300), self.transition))
        starts = stats["starts"].sum()
        self.initial.copy_(torch.where(starts > 0, stats["starts"] / starts.clamp(min=1e-300), self.initial))
        self.emission.m_step(dict(stats))

    @torch.no_grad()
    def step(self, batch: Any, split: Split) -> Tensor:
        x = examples(batch)
        log_steps = self.filtered(x)[1]
        self.log_metric(split, "nll", -log_steps.sum(1))
        self.log_metric(split, "rate", -log_steps[self.observed(x)[1]])
        return -log_steps.sum(1).mean()

    # --- surface: Sampler ---

    @former("n", "length", "generator")
    def sample(
        self, n: int, *, generator: torch.Generator | None = None, length: int | None = None
    ) -> Tensor:
        """n sequences, (n, T) or (n, T, D), of `length` T (that of the model without)."""
        return self.sample_states(n, generator=generator, length=length)[1]

    def sample_states(
        self, n: int, *, generator: torch.Generator | None = None, length: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """The hidden path (n, T) and what it shows."""
        length = self.length if length is None else length
        require(1, length=length)
        u = uniform(n, length, like=self.initial, generator=generator)
        path = [pick(self.initial.expand(n, -1), u[:, 0])[:, None]]
        at_once = max(1, COMPARED // max(1, n * self.transition.numel()))
        for frames in u[:, 1:].split(at_once, 1):
            after = pick(self.transition, frames[..., None])  # (n, t, K): where each state would go on to
            for to in after.unbind(1):
                path.append(to.gather(1, path[-1]))
        z = torch.cat(path, 1)
        x = self.emission.draw(z.flatten(), generator)
        return z, x.reshape(n, length, *x.shape[1:])

    @former("length", "seed")
    def sample_trace(self, *, generator: torch.Generator | None = None, length: int = 20) -> Trace:
        """One sequence, a step a frame: the state `z`, the chances it was drawn from, and `x`."""
        z, x = self.sample_states(1, generator=generator, length=length)
        steps = []
        for t in range(length):
            chances = self.initial if t == 0 else self.transition[z[0, t - 1]]
            k = int(z[0, t])
            distribution = r"\pi" if t == 0 else rf"A_{{{int(z[0, t - 1]) + 1},\cdot}}"
            steps.append(
                Step(
                    f"Step {t + 1}: state {k + 1}, chance {float(chances[k]):.3f}.",
                    {"z": z[0, : t + 1], "x": x[0, : t + 1], "chances": chances.clone()},
                    rf"z_{{{t + 1}}} \sim {distribution}",
                )
            )
        return Trace(steps, x[0])
