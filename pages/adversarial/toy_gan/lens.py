"""The smallest game, played ahead: θ and the logistic curve after every round, as far as a film shows them.

A round is n_D batches, one turn of D each, and then n_G turns of G, all by plain gradient descent.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from modules.adversarial.toy import ToyGAN

ROUNDS = 160
SHOWN = 10  # examples of each kind that are drawn
KINDS = ("saturating", "non-saturating", "least squares", "Wasserstein")
RUNAWAY = 1e3  # beyond it nothing is drawn


@dataclass(frozen=True)
class Rules:
    """What the game is played by; equal rules play alike."""

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
    def made(self) -> Tensor:
        """(R + 1, SHOWN)"""
        return self.noise + self.theta[:, None]

    @property
    def gap(self) -> Tensor:
        """|θ − μ|, W₁ of both laws: (R + 1,)."""
        return (self.theta - self.rules.real).abs()


@lru_cache(maxsize=64)
def play(rules: Rules) -> Course:
    """The whole game; stops to move where it has run away."""
    model = ToyGAN(rules.start, loss=rules.loss, d_steps=rules.d_steps, g_steps=rules.g_steps).double()
    generator = torch.Generator().manual_seed(rules.seed)
    shown = torch.randn(2, SHOWN, generator=torch.Generator().manual_seed(1)).double()
    rates = {"discriminator": rules.d_rate, "generator": rules.g_rate}
    players = {name: weights[0] for name, weights in model.players().items()}
    theta, phi = [rules.start], [players["discriminator"].detach().clone()]
    for _ in range(ROUNDS):
        for _ in range(rules.d_steps):
            x = rules.real + torch.randn(rules.batch, 1, generator=generator, dtype=torch.float64)
            for whose, loss in model.turns(x, generator):
                weight = players[whose]
                (gradient,) = torch.autograd.grad(loss, weight)
                with torch.no_grad():
                    weight.sub_(rates[whose] * gradient).nan_to_num_(0).clamp_(-RUNAWAY, RUNAWAY)
        theta.append(players["generator"].item())
        phi.append(players["discriminator"].detach().clone())
    return Course(rules, torch.tensor(theta).double(), torch.stack(phi), rules.real + shown[0], shown[1])


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
    """What became of θ: "runs away", "settles", "circles" or "is on its way"."""
    if not bool((course.theta.abs() < RUNAWAY / 2).all()):
        return "runs away"
    end = (course.theta - course.rules.real)[-ROUNDS // 2 :]
    crossings = int((end[1:] * end[:-1] < 0).sum())
    if float(end.abs().max()) < 0.75:
        return "settles"
    return "circles" if crossings >= 2 else "is on its way"


def captions(course: Course) -> list[str]:
    """What every frame says."""
    rules = course.rules
    return [
        f"Round {r} of {ROUNDS}: θ = {t:.3f}, {abs(rules.real - t):.3f} from the data's mean. The judge's "
        f"slope is {s:.3f}, the best judge's {rules.real - t:.3f}."
        for r, (t, s) in enumerate(zip(course.theta.tolist(), course.phi[:, 1].tolist(), strict=True))
    ]


def equations(course: Course) -> list[str]:
    """f of every frame with its numbers."""
    return [
        rf"f(x) = {a:.2f} {'+' if b >= 0 else '-'} {abs(b):.2f}\,x, \quad f^*(x) = "
        rf"{course.rules.real - t:.2f}\,(x - {(course.rules.real + t) / 2:.2f})"
        for (a, b), t in zip(course.phi.tolist(), course.theta.tolist(), strict=True)
    ]
