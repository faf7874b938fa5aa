r"""Noise schedules: how fast a fixed Gaussian chain turns data into noise, and that chain's own posterior.

    q(x_t | x_{t−1}) = N(√α_t x_{t−1}, β_t I),   α_t = 1 − β_t,   ᾱ_t = Π_{s≤t} α_s,   ᾱ_0 = 1
    q(x_t | x_0)     = N(√ᾱ_t x_0, (1 − ᾱ_t) I),                  SNR_t = ᾱ_t / (1 − ᾱ_t)
    q(x_p | x_t, x_0) = N(c_0 x_0 + c_t x_t, β̃ I)  for any p < t, with α = ᾱ_t / ᾱ_p:
        c_0 = √ᾱ_p (1 − α) / (1 − ᾱ_t),   c_t = √α (1 − ᾱ_p) / (1 − ᾱ_t),   β̃ = (1 − α)(1 − ᾱ_p) / (1 − ᾱ_t)

p = t − 1 is one step of the chain, smaller p a jump over several. β̃_1 = 0: given x_0, the step to time 0 is
certain.

Shapes: x (B, ...), t (B,) int64 from 0 (data) to T; schedules (T + 1,) float64, index = time.
References: Sohl-Dickstein et al. 2015, arXiv:1503.03585; Ho, Jain, Abbeel 2020, arXiv:2006.11239; Nichol &
Dhariwal 2021, arXiv:2102.09672 (cosine); Lin et al. 2023, arXiv:2305.08891 (zero at the end). The texts name
diffusion and stop there; the Gaussian algebra is [BB] 5.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from modules.base import require, require_one_of

Kind = Literal["linear", "cosine", "cosine-zero", "linear-zero"]


def rows(values: Tensor, x: Tensor) -> Tensor:
    """Numbers (B,) or () as a factor of x (B, ...), in its precision and on its device."""
    return values.to(x).reshape(-1, *[1] * (x.ndim - 1)) if values.ndim else values.to(x)


@dataclass(frozen=True)
class Schedule:
    """Noise schedule of a chain of T steps.

    Attributes:
        alpha_bar: (T + 1,) float64, ᾱ_0 = 1 first; falls strictly.

    Raises:
        ValueError: it does not start at 1 or does not fall.
    """

    alpha_bar: Tensor = field(repr=False)

    def __post_init__(self) -> None:
        a = self.alpha_bar
        if a.ndim != 1 or len(a) < 2 or a[0] != 1 or not bool((a.diff() < 0).all()) or a[-1] < 0:
            raise ValueError("alpha_bar must start at 1, fall at every step and not go below 0.")

    def __repr__(self) -> str:
        return f"Schedule(T={self.T}, alpha_bar_T={float(self.alpha_bar[-1]):.3g})"

    @classmethod
    def of_betas(cls, beta: Tensor) -> "Schedule":
        """Schedule of β_1 … β_T, each in (0, 1]."""
        if not bool(((beta > 0) & (beta <= 1)).all()):
            raise ValueError("Every β must lie in (0, 1].")
        return cls(torch.cat([beta.new_ones(1).double(), (1 - beta.double()).cumprod(0)]))

    @property
    def T(self) -> int:
        return len(self.alpha_bar) - 1

    @cached_property
    def beta(self) -> Tensor:
        """(T + 1,), β_0 = 0: a step that was not taken."""
        kept = self.alpha_bar[1:] / self.alpha_bar[:-1]
        return torch.cat([kept.new_zeros(1), 1 - kept])

    @cached_property
    def snr(self) -> Tensor:
        """(T + 1,), infinite at 0."""
        return self.alpha_bar / (1 - self.alpha_bar)

    @cached_property
    def posterior_variance(self) -> Tensor:
        """β̃_t of single steps, (T + 1,); 0 at t = 0 and t = 1."""
        t = torch.arange(1, self.T + 1)
        return torch.cat([self.beta.new_zeros(1), self.posterior_weights(t, t - 1)[2]])

    def at(self, t: Tensor, x: Tensor) -> Tensor:
        """ᾱ_t as a factor of x (B, ...)."""
        return rows(self.alpha_bar[t.cpu()], x)

    def level(self, t: Tensor) -> Tensor:
        """ᾱ_t, (B,) float64; of real times from 1 to T it lies between its neighbours', log SNR straight."""
        if not t.is_floating_point():
            return self.alpha_bar[t.cpu()]
        now = t.detach().double().cpu().clamp(1, self.T)
        left = now.long().clamp(max=self.T - 1)
        low, high = (self.snr[i].clamp(min=1e-30).log() for i in (left, (left + 1).clamp(max=self.T)))
        return (low + (now - left) * (high - low)).sigmoid()

    def time_of(self, alpha_bar: Tensor) -> Tensor:
        """Real time from 1 to T whose `level` this is, or the nearer end; of the shape of ᾱ."""
        falls = self.snr[1:].clamp(min=1e-30).log()
        wanted = (alpha_bar.double() / (1 - alpha_bar.double())).log()
        right = torch.searchsorted(-falls, -wanted).clamp(1, self.T - 1)
        share = (falls[right - 1] - wanted) / (falls[right - 1] - falls[right])
        return right + share.clamp(0, 1)

    def noised(self, x0: Tensor, t: Tensor, eps: Tensor) -> Tensor:
        """Noised data x_t = √ᾱ_t x_0 + √(1 − ᾱ_t) ε."""
        # 1 − ᾱ in double precision: in single it has three digits at t = 1
        return self.root(t, x0) * x0 + self.sigma(t, x0) * eps

    def root(self, t: Tensor, x: Tensor) -> Tensor:
        """√ᾱ_t as a factor of x."""
        return rows(self.alpha_bar[t.cpu()].sqrt(), x)

    def sigma(self, t: Tensor, x: Tensor) -> Tensor:
        """√(1 − ᾱ_t) as a factor of x."""
        return rows((1 - self.alpha_bar[t.cpu()]).sqrt(), x)

    def posterior_weights(self, t: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """c_0, c_t and β̃ of q(x_p | x_t, x_0) in float64, of the shape of t."""
        now, before = self.alpha_bar[t.cpu()], self.alpha_bar[p.cpu()]
        alpha = now / before
        rest = 1 - now
        return (
            before.sqrt() * (1 - alpha) / rest,
            alpha.sqrt() * (1 - before) / rest,
            (1 - alpha) * (1 - before) / rest,
        )

    def posterior(self, x0: Tensor, xt: Tensor, t: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Mean (B, ...) and variance (a factor of x) of q(x_p | x_t, x_0)."""
        c0, ct, variance = self.posterior_weights(t, p)
        return rows(c0, xt) * x0 + rows(ct, xt) * xt, rows(variance, xt)

    def times(
        self, steps: int, start: int | None = None, spacing: Literal["time", "snr"] = "time"
    ) -> list[int]:
        """Times of a sampler from `start` (T without) to 0 in `steps` steps, the last one from t = 1.

        Evenly in time: round(linspace(1, start, steps)), then 0. Evenly in log SNR, as solvers of high order
        ask for: the times nearest to that; where several fall on one t there are fewer steps.
        """
        start = self.T if start is None else start
        require(1, self.T + 1, start=start)
        require(1, start + 1, steps=steps)
        if spacing not in ("time", "snr"):
            raise ValueError(f"spacing is {spacing!r}: it must be time or snr.")
        if steps == 1:
            return [start, 0]
        if spacing == "snr":
            ends = self.snr[[start, 1]].clamp(min=1e-30).log()
            wanted = torch.linspace(float(ends[0]), float(ends[1]), steps, dtype=torch.float64).sigmoid()
            among = self.time_of(wanted).round().long().clamp(1, start).unique()
            return [*reversed(among.tolist()), 0]
        grid = torch.linspace(1, start, steps, dtype=torch.float64).round().long()
        return [*reversed(grid.tolist()), 0]


def linear(T: int = 1000, beta_start: float = 1e-4, beta_end: float = 0.02) -> Schedule:
    """Linear β from `beta_start` to `beta_end` at T = 1000; for other T both are scaled by 1000/T and capped
    at 0.999."""
    require(1, T=T)
    beta = torch.linspace(beta_start, beta_end, T, dtype=torch.float64) * (1000 / T)
    return Schedule.of_betas(beta.clamp(max=0.999))


def cosine(T: int = 1000, s: float = 0.008) -> Schedule:
    """Cosine ᾱ_t = f(t)/f(0), f = cos²(π/2 · (t/T + s)/(1 + s)), with β capped at 0.999.

    ᾱ is made again of the capped β: else the chain that is simulated is not the one that is inverted.
    """
    require(1, T=T)
    t = torch.arange(T + 1, dtype=torch.float64) / T
    f = (math.pi / 2 * (t + s) / (1 + s)).cos().square()
    return Schedule.of_betas((1 - f[1:] / f[:-1]).clamp(max=0.999))


def zero_terminal(schedule: Schedule) -> Schedule:
    """Schedule with √ᾱ shifted and scaled so that ᾱ_T = 0 and ᾱ_1 stays: at T nothing of the data is left.

    There ε determines nothing of x_0: predict v or x_0.
    """
    root = schedule.alpha_bar[1:].sqrt()
    root = (root - root[-1]) * root[0] / (root[0] - root[-1])
    return Schedule(torch.cat([schedule.alpha_bar[:1], root.square()]))


def named(kind: Kind, T: int = 1000) -> Schedule:
    """Schedule by its name; "-zero" is rescaled to end in pure noise.

    Raises:
        ValueError: no such name.
    """
    require_one_of(Kind, schedule=kind)
    schedule = linear(T) if kind.startswith("linear") else cosine(T)
    return zero_terminal(schedule) if kind.endswith("-zero") else schedule
