"""One step back when x_0 is known: prior, likelihood and posterior of x_{t−1} as Gaussians."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.diffusion.schedule import Schedule

REACH, POINTS = 3.0, 401


@dataclass(frozen=True)
class Bell:
    """N(mean, variance); variance 0 is a point."""

    mean: float
    variance: float

    def density(self, x: Tensor) -> Tensor:
        """p(x); NaN of a point."""
        if self.variance == 0:
            return torch.full_like(x, torch.nan)
        return torch.exp(-0.5 * (x - self.mean) ** 2 / self.variance) / math.sqrt(2 * math.pi * self.variance)


@dataclass(frozen=True)
class Step:
    """Knowledge of x_{t−1}: from x_0, from x_t, from both; and the two weights of the mean."""

    prior: Bell
    likelihood: Bell
    posterior: Bell
    c0: float
    ct: float


def four(top: float, T: int) -> Schedule:
    """β rising evenly to `top` in T steps."""
    return Schedule.of_betas(torch.linspace(top / T, top, T, dtype=torch.float64))


def step(schedule: Schedule, x0: float, xt: float, t: int) -> Step:
    """Given x_0 and x_t. As a function of x_{t−1} the likelihood N(x_t; √α x_{t−1}, β) is a bell of mean
    x_t/√α and variance β/α."""
    alpha, beta = 1 - float(schedule.beta[t]), float(schedule.beta[t])
    before = float(schedule.alpha_bar[t - 1])
    c0, ct, variance = (float(w) for w in schedule.posterior_weights(torch.tensor(t), torch.tensor(t - 1)))
    return Step(
        Bell(math.sqrt(before) * x0, 1 - before),
        Bell(xt / math.sqrt(alpha), beta / alpha),
        Bell(c0 * x0 + ct * xt, variance),
        c0,
        ct,
    )


def steps(top: float, T: int, x0: float, xt: float) -> list[Step]:
    """`step` for t = 1 … T."""
    schedule = four(top, T)
    return [step(schedule, x0, xt, t) for t in range(1, T + 1)]


def grid() -> Tensor:
    """Values of x_{t−1}."""
    return torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)


def densities(result: list[Step]) -> Tensor:
    """Prior, likelihood and posterior at every frame, (3, frames, POINTS)."""
    x = grid()
    return torch.stack(
        [
            torch.stack([getattr(s, name).density(x) for s in result])
            for name in ("prior", "likelihood", "posterior")
        ]
    )


def captions(result: list[Step]) -> list[str]:
    """Caption of where the posterior lies, t by t."""
    return [
        f"t = {t}: from both, mean {s.posterior.mean:.4f}, sd {math.sqrt(s.posterior.variance):.4f}."
        if s.posterior.variance
        else f"t = {t}: given x₀ the step before is x₀ itself; the variance is 0."
        for t, s in enumerate(result, 1)
    ]


def equations(result: list[Step]) -> list[str]:
    """Precisions add."""
    texts = [r"\tilde\beta_1 = 0"]
    for t, s in enumerate(result[1:], 2):
        known, results, both = (1 / b.variance for b in (s.prior, s.likelihood, s.posterior))
        texts.append(
            rf"\frac{{1}}{{\tilde\beta_{{{t}}}}} = \frac{{\alpha}}{{\beta}} + "
            rf"\frac{{1}}{{1-\bar\alpha_{{{t - 1}}}}} = {results:.3f} + {known:.3f} = {both:.3f}"
        )
    return texts
