r"""Langevin dynamics: walk uphill on log p and shake; only the score is needed, never the normaliser.

    x ← x + η s(x) + √(2η) z                              stationary distribution → p as η → 0
    annealed:  at σ_1 > … > σ_L, each with η_i = step · σ_i², on the score of p ∗ N(0, σ_i²)

Of N(0, 1) the uncorrected chain has variance 1/(1 − η/2), and none for η ≥ 2; accepting each proposal with
the Metropolis-Hastings probability (MALA) takes the bias away. Between two far modes the score holds nothing
of their weights, so a chain keeps the ones that it began with; under much noise the modes meet, and annealing
finds them.

Shapes: x (B, ...).
References: Song & Ermon 2019, arXiv:1907.05600 (annealing); Roberts & Tweedie 1996 (MALA); Song et al. 2021,
arXiv:2011.13456 (predictor-corrector). Beyond the texts.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modules.base import require
from modules.diffusion.exact import Denoiser
from modules.diffusion.samplers import State, Trajectory, ancestral, last, pairs, predict_x0_eps
from modules.diffusion.schedule import Schedule, rows
from modules.noise import normal_like


def langevin(
    score: Callable[[Tensor], Tensor],
    x: Tensor,
    step: float,
    steps: int,
    log_prob: Callable[[Tensor], Tensor] | None = None,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Langevin dynamics x ← x + η s(x) + √(2η) z, `steps` times; with `log_prob` each proposal is accepted or
    refused (MALA).

    Without the correction the stationary distribution is another: of N(0, 1) it has variance 1/(1 − η/2).
    """
    yield State(0, x)
    for n in range(1, steps + 1):
        slope = score(x)
        new = x + step * slope + math.sqrt(2 * step) * normal_like(x, generator)
        if log_prob is not None:
            forth = (new - x - step * slope).flatten(1).square().sum(1)
            back = (x - new - step * score(new)).flatten(1).square().sum(1)
            ratio = log_prob(new) - log_prob(x) + (forth - back) / (4 * step)
            u = torch.rand(len(x), generator=generator, dtype=torch.float64).to(x)
            new = torch.where(rows((u.log() < ratio).to(x), x) > 0, new, x)
        x = new
        yield State(n, x)


def annealed_langevin(
    score: Callable[[Tensor, float], Tensor],
    x: Tensor,
    sigmas: Sequence[float],
    step: float,
    steps: int,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Annealed Langevin at noise levels σ_1 > … > σ_L, `steps` each, with a step of `step` · σ_i² (step < 2).

    `score(x, σ)` is that of data with N(0, σ²) added.
    """
    require(0, 2, step=step)
    yield State(0, x)
    for level, sigma in enumerate(sigmas, 1):
        x = last(langevin(lambda y, s=sigma: score(y, s), x, step * sigma**2, steps, generator=generator))  # type: ignore[misc]
        yield State(level, x, sigma=sigma)


def predictor_corrector(
    predict: Denoiser,
    schedule: Schedule,
    x: Tensor,
    times: Sequence[int],
    corrections: int = 1,
    step: float = 0.1,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Ancestral steps, each followed by Langevin steps of size `step` · (1 − ᾱ) at the level reached."""
    yield State(times[0], x, alpha_bar=float(schedule.alpha_bar[times[0]]))
    for t, p in pairs(times):
        *_, state = ancestral(predict, schedule, x, [t, p], generator=generator)
        x = state.x
        if p > 0:
            noise = 1 - float(schedule.alpha_bar[p])

            def score(y: Tensor, p: int = p, noise: float = noise) -> Tensor:
                return -predict_x0_eps(predict, schedule, y, p)[1] / math.sqrt(noise)

            x = last(langevin(score, x, step * noise, corrections, generator=generator))
        yield State(p, x, state.x0, state.eps, state.sigma, state.alpha_bar)
