r"""A critic between two clouds of the plane: what holds its slope, and how near its value comes to W₁.

    value    mean f(x) − mean f(x*), which the critic raises; at the best f of slope ≤ 1 it is W₁
    W₁       of the same points, by the best assignment
    slope    a critic of this value must be as steep as value / W₁ somewhere

Two lines at a distance d are matched straight across, W₁ = d. There a penalty λ (‖∇f‖ − 1)² is soft by a
known amount: with one ε for each example the best slope is 1 + d/(2λ), from −d f′ + λ (f′ − 1)², not 1.

Shapes: points x, x* (COUNT, 2); f and ‖∇f‖ on a grid (SIDE, SIDE), rows upwards; F looks.

References: Arjovsky et al. 2017, arXiv:1701.07875; Gulrajani et al. 2017, arXiv:1704.00028; Miyato et al.
2018, arXiv:1802.05957; [UDL] §15.2.5–15.2.6.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from datamodules import points
from lab.lenses import plane
from lab.lenses.training import watch
from lab.seeding import seeded
from modules.adversarial.gan import Discriminator
from modules.adversarial.losses import clip_weights, gradient_norms, gradient_penalty, with_spectral_norm
from modules.adversarial.transport import assignment
from pages.adversarial.critic.room import CLIP, COORDINATE, LINES, ONE, PENALTY, RING, SPECTRAL

COUNT, SIDE, REACH = 96, 31, 3.0
HIDDEN, RATE = (64, 64), 5e-3
LOOKS, QUICK = 25, 200
TURNS, MOVE = 5, 0.05  # steps of the critic for one of the points, and how far along its slope that goes
OPTIONS = ["less than half of it", "half of it to a fifth more", "more than that"]


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        steps: of the critic so far.
        f, slopes: (SIDE, SIDE), f with mean 0 and ‖∇f‖. samples: x*, (COUNT, 2).
        value, w1: as above.
    """

    steps: int
    f: Tensor
    slopes: Tensor
    samples: Tensor
    value: float
    w1: float

    @property
    def steepest(self) -> float:
        """The largest ‖∇f‖ on the grid."""
        return float(self.slopes.max())


def clouds(name: str, distance: float) -> tuple[Tensor, Tensor]:
    """Real points, on the right of the two, and made ones, (COUNT, 2) each."""
    if name == RING:
        centre = 0.3 * torch.randn(COUNT, 2, generator=torch.Generator().manual_seed(2))
        return points.sample("ring8", COUNT, seed=1)[0], centre
    half = torch.tensor([distance / 2, 0.0])
    if name == LINES:
        line = torch.stack([torch.zeros(COUNT), torch.linspace(-2, 2, COUNT)], 1)
        return line + half, line - half
    generator = torch.Generator().manual_seed(1)
    blobs = 0.4 * torch.randn(2, COUNT, 2, generator=generator)
    return blobs[0] + half, blobs[1] - half


def between(rule: str, generator: torch.Generator) -> Tensor | None:
    """ε for `gradient_penalty`, (COUNT,), or as many a coordinate, (COUNT, 2)."""
    if rule == ONE:
        return torch.ones(COUNT)
    return torch.rand(COUNT, *([2] if rule == COORDINATE else []), generator=generator)


def penalty(
    critic: Discriminator, x: Tensor, result: Tensor, rule: str, generator: torch.Generator
) -> Tensor:
    """Mean (‖∇f‖ − 1)² at points between random pairs of both clouds, by the rule for ε."""
    result = result[torch.randperm(COUNT, generator=generator)]
    epsilon = between(rule, generator)
    if epsilon is not None and epsilon.ndim == 2:  # a box between each pair, not a line: not as published
        x, result = epsilon * x + (1 - epsilon) * result, result
        epsilon = torch.ones(COUNT)
    return gradient_penalty(critic, x, result, epsilon)


def held(critic: Discriminator, hold: str) -> nn.Module:
    """The critic, its layers divided by their largest singular values where that holds it."""
    return with_spectral_norm(critic) if hold == SPECTRAL else critic


def watching(
    cloud: str, distance: float, hold: str, amount: float, rule: str, moving: bool, steps: int, seed: int
) -> Iterator[tuple[float, list[Look]]]:
    """`learning` as it goes: the share done, and all looks so far."""
    yield from watch(steps, learning(cloud, distance, hold, amount, rule, moving, steps, seed))


def learning(
    cloud: str, distance: float, hold: str, amount: float, rule: str, moving: bool, steps: int, seed: int
) -> Iterator[tuple[int, Look]]:
    """A critic as it learns: steps done, and a look; `amount` is λ, or the bound of clipped weights."""
    x, result = clouds(cloud, distance)
    critic: Any = seeded(lambda: held(Discriminator(2, HIDDEN, 1, False, False), hold), seed)
    optimizer = torch.optim.Adam(critic.parameters(), lr=RATE, betas=(0.0, 0.9), fused=True)
    generator = torch.Generator().manual_seed(seed)
    every = max(1, steps // LOOKS)
    for done in range(steps + 1):
        if done:
            loss = critic(result).mean() - critic(x).mean()
            if hold == PENALTY:
                loss = loss + amount * penalty(critic, x, result, rule, generator)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if hold == CLIP:
                clip_weights(critic, amount)
            if moving and done % TURNS == 0:
                result = moved(critic, result)
        if done % every == 0:
            yield done, look(critic, x, result, done)


def moved(critic: Discriminator, result: Tensor) -> Tensor:
    """Every made point a step up the critic's slope: a generator whose weights are its points."""
    at = result.clone().requires_grad_()
    (slope,) = torch.autograd.grad(critic(at).sum(), at)
    return result + MOVE * slope


def look(critic: Discriminator, x: Tensor, result: Tensor, done: int) -> Look:
    """The critic over the plane, its value, and W₁; a spectral norm's power iteration stands still."""
    critic.eval()
    grid = plane.corners(REACH, SIDE, torch.float32).flatten(0, 1)
    slopes = gradient_norms(critic, grid).detach().reshape(SIDE, SIDE)
    with torch.no_grad():
        f = critic(grid).reshape(SIDE, SIDE)
        value = float(critic(x).mean() - critic(result).mean())
    critic.train()
    return Look(done, f - f.mean(), slopes, result, value, float(assignment(x, result)[1]))


def expected(distance: float, strength: float) -> float:
    """Value of the best critic of two lines under a penalty: d (1 + d/(2λ))."""
    return distance * (1 + distance / (2 * strength))


def captions(looks: list[Look]) -> list[str]:
    """Caption of every look."""
    return [
        f"After {one.steps:,} steps: value {one.value:.3g}, W₁ {one.w1:.3g}; ‖∇f‖ up to {one.steepest:.3g}."
        for one in looks
    ]


def equations(looks: list[Look]) -> list[str]:
    """Value and W₁, LaTeX."""
    return [
        rf"\mathbb{{E}}f(x)-\mathbb{{E}}f(x^*)={one.value:.4f},\qquad W_1={one.w1:.4f},\qquad "
        rf"\max\|\nabla f\|={one.steepest:.4f}"
        for one in looks
    ]


def beside(one: Look) -> str:
    """The one of OPTIONS that the value is of W₁."""
    share = one.value / one.w1
    return OPTIONS[0] if share < 0.5 else OPTIONS[1] if share <= 1.2 else OPTIONS[2]
