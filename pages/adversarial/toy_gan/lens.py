"""The smallest game, played ahead: θ and the logistic curve after every round, as far as a film shows them.

A round is n_D batches, one turn of D each, and then n_G turns of G, all by plain gradient descent.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

Slope = Callable[[np.ndarray], np.ndarray]

ROUNDS = 160
SHOWN = 10  # examples of each kind that are drawn
RUNAWAY = 1e3  # beyond it nothing is drawn


@dataclass(frozen=True)
class Rules:
    """Rules of the game; equal rules play alike."""

    loss: str = "non-saturating"
    start: float = 3.0
    real: float = 7.5
    d_steps: int = 5
    g_steps: int = 1
    d_rate: float = 0.1
    g_rate: float = 0.2
    batch: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Course:
    """R + 1 frames, the first before any turn.

    Attributes:
        theta: (R + 1,). phi: (R + 1, 2), intercept and slope of f.
        real, noise: (SHOWN,) examples that are drawn, and the noise of the made ones.
    """

    rules: Rules
    theta: Tensor
    phi: Tensor
    real: Tensor
    noise: Tensor

    @property
    def samples(self) -> Tensor:
        """(R + 1, SHOWN)"""
        return self.noise + self.theta[:, None]

    @property
    def gap(self) -> Tensor:
        """|θ − μ|, W₁ of both distributions: (R + 1,)."""
        return (self.theta - self.rules.real).abs()


# How each loss falls: D's with f of a real example and of a made one, G's with f of a made one.
SLOPES: dict[str, tuple[Slope, Slope, Slope]] = {
    "saturating": (lambda f: expit(f) - 1, expit, lambda f: -expit(f)),
    "non-saturating": (lambda f: expit(f) - 1, expit, lambda f: expit(f) - 1),
    "least squares": (lambda f: f - 1, lambda f: f, lambda f: f - 1),
    "Wasserstein": (lambda f: 0 * f - 1, lambda f: 0 * f + 1, lambda f: 0 * f - 1),
}


def play(rules: Rules) -> Course:
    """The whole game, as `ToyGAN` plays it, gradients written out; stops to move where it has run away."""
    generator = torch.Generator().manual_seed(rules.seed)
    shown = torch.randn(2, SHOWN, generator=torch.Generator().manual_seed(1)).double()
    of_real, of_made, of_g = SLOPES[rules.loss]
    t, (a, b) = rules.start, (0.0, 0.0)
    theta, phi = [t], [(a, b)]

    def draw() -> np.ndarray:
        return torch.randn(rules.batch, 1, generator=generator, dtype=torch.float64)[:, 0].numpy()

    def moved(weight: float, by: float) -> float:
        return max(-RUNAWAY, min(RUNAWAY, weight - by)) if math.isfinite(by) else 0.0

    for _ in range(ROUNDS):
        for _ in range(rules.d_steps):
            x, result = rules.real + draw(), t + draw()
            real, fake = of_real(a + b * x), of_made(a + b * result)
            slope = float((real * x + fake * result).mean())
            a, b = moved(a, rules.d_rate * float((real + fake).mean())), moved(b, rules.d_rate * slope)
        for _ in range(rules.g_steps):
            t = moved(t, rules.g_rate * b * float(of_g(a + b * (t + draw())).mean()))
        theta.append(t)
        phi.append((a, b))
    place = torch.tensor(theta, dtype=torch.float64)
    return Course(rules, place, torch.tensor(phi, dtype=torch.float64), rules.real + shown[0], shown[1])


def played(
    loss: str,
    start: float,
    real: float,
    d_steps: int,
    g_steps: int,
    d_rate: float,
    g_rate: float,
    batch: int,
    seed: int,
) -> Course:
    """`play` by the rules that the controls make."""
    return play(Rules(loss, start, real, d_steps, g_steps, d_rate, g_rate, batch, seed))


def window(course: Course) -> tuple[float, float]:
    """The line as far as it is drawn: where real and made examples lie, a game that runs away left out."""
    ends = torch.tensor([course.rules.start, course.rules.real])
    return float(ends.min()) - 4, float(ends.max()) + 4


def places(course: Course, count: int = 161) -> Tensor:
    """(count,) over the window."""
    return torch.linspace(*window(course), count, dtype=torch.float64)


def judged(course: Course, x: Tensor) -> tuple[Tensor, Tensor]:
    """D(x) and D*(x) of every frame at places x (N,): (R + 1, N) each.

    With the losses that have no probability, D is drawn as the logistic curve of f all the same.
    """
    d = (course.phi[:, :1] + course.phi[:, 1:] * x).sigmoid()
    best = course.rules.real - course.theta[:, None]  # the slope of two unit Gaussians' logit
    middle = (course.rules.real + course.theta[:, None]) / 2
    return d, (best * (x - middle)).sigmoid()


def fate(course: Course) -> str:
    """Fate of θ: "runs away", "settles", "circles" or "is on its way"."""
    if not bool((course.theta.abs() < RUNAWAY / 2).all()):
        return "runs away"
    end = (course.theta - course.rules.real)[-ROUNDS // 2 :]
    crossings = int((end[1:] * end[:-1] < 0).sum())
    if float(end.abs().max()) < 0.75:
        return "settles"
    return "circles" if crossings >= 2 else "is on its way"


def captions(course: Course) -> list[str]:
    """Caption of every frame."""
    rules = course.rules
    return [
        f"Round {r} of {ROUNDS}: θ = {t:.3f} is {abs(rules.real - t):.3f} from the data's mean. The slope of "
        f"D's logit is {s:.3f}, that of the best D {rules.real - t:.3f}."
        for r, (t, s) in enumerate(zip(course.theta.tolist(), course.phi[:, 1].tolist(), strict=True))
    ]


def numbers(course: Course) -> list[dict[str, str]]:
    """Numbers of the machine at each round: θ, and the slope of D's logit."""
    return [
        {"G": f"θ = {t:.2f}", "D": f"φ₁ = {slope:.2f}"}
        for t, slope in zip(course.theta.tolist(), course.phi[:, 1].tolist(), strict=True)
    ]


def equations(course: Course) -> list[str]:
    """f of every frame with its numbers."""
    return [
        rf"f(x) = {a:.2f} {'+' if b >= 0 else '-'} {abs(b):.2f}\,x, \quad f^*(x) = "
        rf"{course.rules.real - t:.2f}\,(x - {(course.rules.real + t) / 2:.2f})"
        for (a, b), t in zip(course.phi.tolist(), course.theta.tolist(), strict=True)
    ]
