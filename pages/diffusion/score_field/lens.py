"""Particles led by a score: Langevin at one level of noise, or down a ladder of levels."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import plane
from modules.diffusion import exact, samplers
from modules.diffusion.langevin import annealed_langevin, langevin
from modules.diffusion.score_matching import ScoreModel
from pages.diffusion.score_field.room import TWO

REACH, CELLS, ARROWS = 5.0, 41, 13
PARTICLES, FRAMES = 300, 31
FIRST, LAST, LEVELS = 4.0, 0.1, 10
NEAR = 3.0

Score = Callable[[Tensor, float], Tensor]  # x (B, 2), σ -> ∇ log (p ∗ N(0, σ²))


def two(share: float) -> exact.Mixture:
    """Two far hills; `share` is the left one's weight."""
    return exact.Mixture(torch.tensor([[-2.5, 0.0], [2.5, 0.0]]), 0.35**2, [share, 1 - share])


def truth(name: str, share: float) -> exact.Mixture:
    return two(share) if name == TWO else exact.eight()


def blurred(mixture: exact.Mixture, sigma: float) -> tuple[float, float]:
    """r and ᾱ for which p ∗ N(0, σ²) is the distribution of r x_t."""
    return math.sqrt(1 + sigma**2), 1 / (1 + sigma**2)


def exact_score(mixture: exact.Mixture) -> Score:
    def score(x: Tensor, sigma: float) -> Tensor:
        r, a = blurred(mixture, sigma)
        return (mixture.score(x / r, a) / r).to(x)

    return score


def score_of(name: str, share: float, model: ScoreModel | None) -> Score:
    """Score of a source: the exact one, or a trained model's."""
    if model is None:
        return exact_score(truth(name, share))
    return lambda x, sigma: model.score(x.float(), sigma).detach().to(x)


def sigmas() -> list[float]:
    """σ_1 > … > σ_L, geometric."""
    return torch.logspace(math.log10(FIRST), math.log10(LAST), LEVELS, dtype=torch.float64).tolist()


def start(seed: int) -> Tensor:
    """The cloud, N(0, σ_1²), (PARTICLES, 2)."""
    generator = torch.Generator().manual_seed(seed)
    return FIRST * torch.randn(PARTICLES, 2, dtype=torch.float64, generator=generator)


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        cloud: (FRAMES, PARTICLES, 2).
        levels: σ of each frame.
        shares: (FRAMES, K) of the particles nearest to each mode.
        near: (FRAMES,) share within NEAR deviations of a mode.
    """

    cloud: Tensor
    levels: list[float]
    shares: Tensor
    near: Tensor


@torch.no_grad()
def run(score: Score, mixture: exact.Mixture, annealed: bool, steps: int, step: float, seed: int) -> Run:
    """Langevin from the cloud: LEVELS · `steps` steps, all at σ_L, of size `step` · 0.1; or `steps` at each
    level, of size `step` · σ²."""
    x, generator = start(seed), torch.Generator().manual_seed(seed + 1)
    each = (FRAMES - 1) // LEVELS
    cloud, levels = [x], [FIRST if annealed else LAST]
    for sigma in sigmas():
        level = sigma if annealed else LAST
        for part in range(each):
            count = steps * (part + 1) // each - steps * part // each
            if annealed:
                trajectory = annealed_langevin(score, x, [level], step, count, generator=generator)
            else:
                trajectory = langevin(lambda y: score(y, LAST), x, 0.1 * step, count, generator=generator)
            x = samplers.last(trajectory)
            cloud.append(x)
            levels.append(level)
    result = torch.stack(cloud)
    off = torch.cdist(result, mixture.means.expand(len(result), -1, -1))
    share = torch.nn.functional.one_hot(off.argmin(-1), len(mixture.means)).double().mean(1)
    within = off.amin(-1) < NEAR * math.sqrt(float(mixture.variances[0, 0]) + LAST**2)
    return Run(result, levels, share, within.double().mean(1))


def off_shares(result: Run, mixture: exact.Mixture) -> Tensor:
    """½ Σ_k |share − w_k| of each frame, (FRAMES,)."""
    return 0.5 * (result.shares - mixture.log_weights.exp()).abs().sum(1)


def density(mixture: exact.Mixture, levels: list[float]) -> Tensor:
    """p ∗ N(0, σ²) at every frame over its own top, (F, CELLS, CELLS), row = x_2 upwards."""
    x = plane.corners(REACH, CELLS).flatten(0, 1)
    maps = {}
    for sigma in set(levels):
        r, a = blurred(mixture, sigma)
        values = mixture.log_prob(x / r, a).exp()
        maps[sigma] = (values / values.max()).reshape(CELLS, CELLS).float()
    return torch.stack([maps[s] for s in levels])


@torch.no_grad()
def arrows(score: Score, levels: list[float]) -> tuple[Tensor, Tensor]:
    """Feet (N, 2), and tips (F, N, 2): along σ s, at most a cell long."""
    axis = torch.linspace(-REACH, REACH, ARROWS + 2, dtype=torch.float64)[1:-1]
    feet = torch.cartesian_prod(axis, axis)
    tips = {}
    for sigma in set(levels):
        pull = sigma * score(feet, sigma)
        size = pull.norm(dim=1, keepdim=True).clamp(min=1e-12)
        tips[sigma] = feet + 0.6 * float(axis[1] - axis[0]) * (0.3 + 0.7 * size.tanh()) * pull / size
    return feet, torch.stack([tips[s] for s in levels])


def score_error(score: Score, mixture: exact.Mixture, sigma: float) -> float:
    """σ² E‖s − ∇ log p‖² / 2 at points of p ∗ N(0, σ²)."""
    generator = torch.Generator().manual_seed(7)
    x, _ = mixture.draw(1000, generator)
    x = x + sigma * torch.randn(x.shape, dtype=torch.float64, generator=generator)
    gap = score(x, sigma) - exact_score(mixture)(x, sigma)
    return sigma**2 * float(gap.square().mean())


@dataclass(frozen=True)
class Led:
    """
    Attributes:
        run: of the particles. density, feet, tips: what `density` and `arrows` give at its frames.
        error: of the score at the least noise.
    """

    run: Run
    density: Tensor
    feet: Tensor
    tips: Tensor
    error: float


def led(
    source: str, share: float, annealed: bool, steps: int, size: float, seed: int, model: ScoreModel | None
) -> Led:
    """Particles led by the score of a source, and what is drawn with them."""
    mixture = truth(source, share)
    score = score_of(source, share, model)
    result = run(score, mixture, annealed, steps, size, seed)
    return Led(
        result,
        density(mixture, result.levels),
        *arrows(score, result.levels),
        score_error(score, mixture, LAST),
    )


def captions(result: Run, mixture: exact.Mixture) -> list[str]:
    """Caption of where the particles are."""
    return [
        f"Noise σ = {s:.2f}: {100 * float(n):.0f} % lie near a mode; shares of the modes are off by "
        f"{float(o):.2f}."
        for s, n, o in zip(result.levels, result.near, off_shares(result, mixture), strict=True)
    ]
