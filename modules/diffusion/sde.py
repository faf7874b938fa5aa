r"""Diffusion in continuous time: noising as a stochastic differential equation, and the two ways back.

    forward            dx = f(t) x dt + g(t) dw,                   t from 0 (DATA) to 1 (NOISE)
    kernel             q(x_t | x_0) = N(m(t) x_0, v(t) I):         m' = f m,   v' = 2 f v + g²
    backward           dx = (f x − g² s) dt + g dw̄                 the same marginals p_t, on rough paths
    probability flow   dx = (f x − ½ g² s) dt                      the same marginals p_t, on smooth ones

    VP       f = −½β,  g² = β,              m² = ᾱ = e^{−∫β},  v = 1 − ᾱ        β(t) = β_0 + t (β_1 − β_0)
    sub-VP   f = −½β,  g² = β (1 − ᾱ²),     m² = ᾱ,            v = (1 − ᾱ)²
    VE       f = 0,    g² = dσ²/dt,         m = 1,             v = σ(t)² − σ(0)²    σ(t) = σ_0 (σ_1/σ_0)^t

s = ∇ log p_t is all that a model has to know. The chain with linear β and T = 1000 is VP's Euler grid,
β_t ≈ β(t/T)/T. At t = 1 the data are not quite gone: `prior` is what a sampler starts from, p_1 differs.

Shapes: x (B, ...), t () or (B,) float64 in [0, 1].
References: Song et al. 2021, arXiv:2011.13456; Anderson 1982 (the way back). Groundwork: [BB] 5. Beyond the
texts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

import torch
from torch import Tensor

from modules.base import require
from modules.diffusion.bound import log_normal
from modules.diffusion.exact import Denoiser, Mixture
from modules.diffusion.samplers import State, Trajectory
from modules.diffusion.schedule import Schedule, rows
from modules.noise import normal_like

Score = Callable[[Tensor, float], Tensor]  # x (B, ...) and t -> ∇ log p_t(x)


class SDE(Protocol):
    """dx = f(t) x dt + g(t) dw on [0, 1], with a Gaussian kernel."""

    def drift(self, t: Tensor) -> Tensor:
        """Drift coefficient f(t)."""

    def diffusion_squared(self, t: Tensor) -> Tensor:
        """Squared diffusion coefficient g(t)²."""

    def mean(self, t: Tensor) -> Tensor:
        """Mean coefficient m(t)."""

    def variance(self, t: Tensor) -> Tensor:
        """Variance v(t)."""

    @property
    def prior_variance(self) -> float:
        """Variance of the N(0, · I) that stands for p_1."""


@dataclass(frozen=True)
class VP:
    """Variance-preserving: data of variance 1 keep it.

    Args:
        beta_min, beta_max: β(0) and β(1).
        sub: the sub-VP equation, whose variance stays below.
    """

    beta_min: float = 0.1
    beta_max: float = 20.0
    sub: bool = False
    prior_variance: float = 1.0

    def __post_init__(self) -> None:
        require(1e-9, beta_min=self.beta_min, beta_max=self.beta_max)

    def beta(self, t: Tensor) -> Tensor:
        return self.beta_min + t * (self.beta_max - self.beta_min)

    def log_alpha_bar(self, t: Tensor) -> Tensor:
        """−∫_0^t β."""
        return -t * (self.beta_min + t * (self.beta_max - self.beta_min) / 2)

    def drift(self, t: Tensor) -> Tensor:
        return -self.beta(t) / 2

    def diffusion_squared(self, t: Tensor) -> Tensor:
        return self.beta(t) * (-torch.expm1(2 * self.log_alpha_bar(t)) if self.sub else 1.0)

    def mean(self, t: Tensor) -> Tensor:
        return (self.log_alpha_bar(t) / 2).exp()

    def variance(self, t: Tensor) -> Tensor:
        rest = -torch.expm1(self.log_alpha_bar(t))
        return rest.square() if self.sub else rest


@dataclass(frozen=True)
class VE:
    """Variance-exploding: noise is added, nothing shrinks.

    Args:
        sigma_min, sigma_max: σ(0) and σ(1).
    """

    sigma_min: float = 0.01
    sigma_max: float = 50.0

    def __post_init__(self) -> None:
        require(1e-9, sigma_min=self.sigma_min)
        if not self.sigma_max > self.sigma_min:
            raise ValueError(
                f"sigma_max is {self.sigma_max}: the noise must grow, so take more than {self.sigma_min}."
            )

    @property
    def prior_variance(self) -> float:
        return self.sigma_max**2 - self.sigma_min**2

    def drift(self, t: Tensor) -> Tensor:
        return torch.zeros_like(t)

    def diffusion_squared(self, t: Tensor) -> Tensor:
        rate = 2 * math.log(self.sigma_max / self.sigma_min)
        return rate * self.sigma_min**2 * (rate * t).exp()

    def mean(self, t: Tensor) -> Tensor:
        return torch.ones_like(t)

    def variance(self, t: Tensor) -> Tensor:
        return self.sigma_min**2 * torch.expm1(2 * math.log(self.sigma_max / self.sigma_min) * t)


def named(kind: Literal["VP", "sub-VP", "VE"]) -> SDE:
    """Equation by its name, with the paper's numbers.

    Raises:
        ValueError: no such name.
    """
    if kind not in ("VP", "sub-VP", "VE"):
        raise ValueError(f"sde is {kind!r}: it must be one of VP, sub-VP, VE.")
    return VE() if kind == "VE" else VP(sub=kind == "sub-VP")


def noised(sde: SDE, x0: Tensor, t: Tensor, eps: Tensor) -> Tensor:
    """Noised data x_t = m x_0 + √v ε, of times t (B,)."""
    return rows(sde.mean(t), x0) * x0 + rows(sde.variance(t).sqrt(), x0) * eps


# --- Scores: x_t = r (√ᾱ x_0 + √(1−ᾱ) ε) with r² = m² + v and ᾱ = m²/r²: known of the chain, known here ---


def radius(sde: SDE, t: float) -> tuple[float, Tensor]:
    """Radius r, and ᾱ of the chain's state with the same signal-to-noise ratio."""
    now = torch.tensor(t, dtype=torch.float64)
    square = sde.mean(now) ** 2 + sde.variance(now)
    return math.sqrt(float(square)), sde.mean(now) ** 2 / square


def exact_score(sde: SDE, truth: Mixture) -> Score:
    """Score ∇ log p_t of data from a mixture of Gaussians."""

    def score(x: Tensor, t: float) -> Tensor:
        r, a = radius(sde, t)
        return (truth.score(x / r, a) / r).to(x)

    return score


def exact_log_prob(sde: SDE, truth: Mixture, x: Tensor, t: float) -> Tensor:
    """Log-density log p_t of data from a mixture, (B,)."""
    r, a = radius(sde, t)
    return truth.log_prob(x / r, a) - x.shape[1] * math.log(r)


def learned_score(sde: SDE, predict: Denoiser, schedule: Schedule) -> Score:
    """Score ∇ log p_t that a denoiser of a chain implies: it is evaluated at the real time of the same SNR.

    Below the chain's first step and beyond its last it is evaluated at those.
    """

    def score(x: Tensor, t: float) -> Tensor:
        r, a = radius(sde, t)
        time = float(schedule.time_of(a))
        output = predict(x / r, x.new_full((len(x),), time))
        eps = output[1] if isinstance(output, tuple) else output
        return -eps / (r * math.sqrt(float(1 - a)))

    return score


def first_time(sde: SDE, schedule: Schedule) -> float:
    """Time at which log SNR is that of the chain's first step: nearer to the data no denoiser has learned."""
    return time_of(sde, float(schedule.alpha_bar[1]))


def time_of(sde: SDE, alpha_bar: float) -> float:
    """Time in [0, 1] whose log SNR is that of ᾱ in a chain."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(radius(sde, middle)[1]) > alpha_bar else (low, middle)
    return high


# --- The ways back ----------------------------------------------------------------------------------


def flow_field(sde: SDE, score: Score, x: Tensor, t: float) -> Tensor:
    """Field f x − ½ g² s of the probability-flow ODE, at time t."""
    now = torch.tensor(t, dtype=torch.float64)
    return float(sde.drift(now)) * x - float(sde.diffusion_squared(now)) / 2 * score(x, t)


def prior_sample(sde: SDE, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Generators from the prior, of the shape of x."""
    return math.sqrt(sde.prior_variance) * normal_like(x, generator)


def prior_log_prob(sde: SDE, x: Tensor) -> Tensor:
    """Log-density of the prior, (B,)."""
    return log_normal(x, torch.zeros_like(x), sde.prior_variance)


def reverse(
    sde: SDE,
    score: Score,
    x: Tensor,
    steps: int,
    until: float = 1e-3,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Euler-Maruyama on the backward equation from x at t = 1 to `until`; no noise in the last step."""
    require(1, steps=steps)
    times = torch.linspace(1, until, steps + 1, dtype=torch.float64)
    yield State(0, x)
    for n, (t, p) in enumerate(pairwise(times.tolist()), 1):
        now, h = torch.tensor(t, dtype=torch.float64), t - p
        f, square = float(sde.drift(now)), float(sde.diffusion_squared(now))
        x = x - h * (f * x - square * score(x, t))
        if n < steps:
            x = x + math.sqrt(h * square) * normal_like(x, generator)
        yield State(n, x)
