"""A denoiser of eight Gaussians while it trains: its last weights beside their running average.

Both are judged by what nothing of the training decides: how far ε̂ is from the exact ε* at the same noisy
points, and where the same starting noise is led. The data have variance 1 a coordinate.
"""

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from lab.lenses.training import training_steps, watch
from lab.seeding import seeded
from modules.diffusion import exact, samplers, schedule
from modules.diffusion.ddpm import DDPM
from modules.diffusion.flow_matching import energy_distance
from modules.noise import normal_like

RADIUS, SD = 3.0, 0.25
UNIT = math.sqrt(RADIUS**2 / 2 + SD**2)  # what makes a coordinate's variance 1
MIXTURE = exact.eight(RADIUS / UNIT, SD / UNIT)
WIDTH, BLOCKS = 64, 2
QUICK, LOOKS = 300, 20  # steps that take a state; looks at a training
CLOUD, SAMPLER_STEPS, ASKED, REACH = 500, 10, 1000, 1.9
NAMES = ("last", "averaged")
SAME = 0.02  # of the error: too near to call
OPTIONS = ("the last weights", "the averaged ones", "neither: within 2 %")


@dataclass(frozen=True)
class Recipe:
    """Recipe of the training: `falls` lowers the rate to 0 along a cosine; `warm` lets a grow up to
    `decay`."""

    decay: float = 0.998
    warm: bool = True
    rate: float = 5e-3
    falls: bool = False
    batch: int = 32
    steps: int = QUICK
    seed: int = 0

    def share(self, step: int) -> float:
        """a at this step, from 1."""
        return min(self.decay, (1 + step) / (10 + step)) if self.warm else self.decay

    def left(self, step: int) -> float:
        """Share of the first weights that is still in the average: Π a."""
        return math.prod(self.share(s) for s in range(1, step + 1))

    def rate_at(self, step: int) -> float:
        """The learning rate of this step, from 1."""
        done = (step - 1) / self.steps
        return self.rate * (0.5 * (1 + math.cos(math.pi * done)) if self.falls else 1.0)


@dataclass(frozen=True)
class Look:
    """Both sets of weights at one step, in the order of NAMES.

    Attributes:
        clouds: (2, CLOUD, 2), samples from the same noise. errors: mean (ε̂ − ε*)² a number.
        distances: energy distance of the clouds to points of the data. moved: root of the mean square way of
        a sample since the look before; 0 at the first.
    """

    step: int
    clouds: Tensor
    errors: tuple[float, float]
    distances: tuple[float, float]
    moved: tuple[float, float]


@lru_cache(maxsize=1)
def exam() -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Noisy points (ASKED, 2), their times and exact ε*; the noise of all clouds; points of the data."""
    chain, generator = schedule.linear(), torch.Generator().manual_seed(11)
    x, _ = MIXTURE.draw(2 * ASKED, generator)
    t = torch.randint(1, chain.T + 1, (ASKED,), generator=generator)
    noisy = chain.noised(x[:ASKED], t, normal_like(x[:ASKED], generator))
    begin = torch.randn(CLOUD, 2, generator=generator)
    return noisy.float(), t, MIXTURE.eps(noisy, chain.alpha_bar[t]).float(), begin, x[ASKED:].float()


@torch.no_grad()
def judged(model: DDPM, net: nn.Module) -> tuple[Tensor, float, float]:
    """Samples (CLOUD, 2) of a network, its error, and the distance of its samples."""
    noisy, t, best, begin, data = exam()
    trajectory = samplers.ddim(net, model.schedule, begin, model.schedule.times(SAMPLER_STEPS))
    result = samplers.last(trajectory)
    return result, float((net(noisy, t) - best).square().mean()), float(energy_distance(result, data))


@torch.no_grad()
def average(mean: nn.Module, now: nn.Module, share: float) -> None:
    """θ̄ ← a θ̄ + (1 − a) θ, in place."""
    torch._foreach_lerp_(list(mean.parameters()), list(now.parameters()), 1 - share)


def training(recipe: Recipe) -> Iterator[tuple[float, list[Look]]]:
    """The share done, and all looks so far: after every twentieth of the steps."""
    model = seeded(lambda: DDPM(width=WIDTH, blocks=BLOCKS), recipe.seed)
    net, mean = model.net, deepcopy(model.net).requires_grad_(False)
    optimizer = torch.optim.Adam(net.parameters(), lr=recipe.rate, fused=True)
    generator = torch.Generator().manual_seed(recipe.seed)
    data = MIXTURE.draw(20_000, torch.Generator().manual_seed(1))[0].float()

    def loss() -> Tensor:
        x = data[torch.randint(len(data), (recipe.batch,), generator=generator)]
        t = torch.randint(1, model.schedule.T + 1, (recipe.batch,), generator=generator)
        return model.losses(x, t, normal_like(x, generator))[0].mean()

    def looks() -> Iterator[tuple[int, Look]]:
        before = None
        for step, _ in training_steps(loss, optimizer, recipe.steps):
            optimizer.param_groups[0]["lr"] = recipe.rate_at(step + 1)
            if step:
                average(mean, net, recipe.share(step))
            if step and step % (recipe.steps // LOOKS) == 0:
                before = look(model, mean, step, before)
                yield step, before

    yield from watch(recipe.steps, looks())


def playing(
    decay: float, warm: bool, rate: float, falls: bool, batch: int, steps: int, seed: int
) -> Iterator[tuple[float, list[Look]]]:
    """`training` by the recipe that the controls make."""
    yield from training(Recipe(decay, warm, rate, falls, batch, steps, seed))


def look(model: DDPM, mean: nn.Module, step: int, before: Look | None) -> Look:
    """Both sets of weights now."""
    (a, *one), (b, *other) = judged(model, model.net), judged(model, mean)
    clouds = torch.stack([a, b])
    way = torch.zeros(2) if before is None else (clouds - before.clouds).square().sum(-1).mean(-1).sqrt()
    (error, distance), (error_of_mean, distance_of_mean) = one, other
    return Look(
        step, clouds, (error, error_of_mean), (distance, distance_of_mean), (float(way[0]), float(way[1]))
    )


def settled(looks: Sequence[Look]) -> tuple[float, float]:
    """Distance that a sample goes from look to look, the mean over the second half."""
    later = [one.moved for one in looks[len(looks) // 2 :]]
    return tuple(sum(each) / len(later) for each in zip(*later, strict=True))  # type: ignore[return-value]


def nearer(last: Look) -> str:
    """The one of OPTIONS that has the smaller error."""
    one, other = last.errors
    return OPTIONS[2] if abs(one - other) <= SAME * max(one, other) else OPTIONS[other < one]


def captions(looks: Sequence[Look]) -> list[str]:
    """Caption of both at each look."""
    return [
        f"After {one.step:,} steps ε̂ is off by {one.errors[0]:.4f} with the last weights and by "
        f"{one.errors[1]:.4f} with the averaged ones."
        for one in looks
    ]


def equations(looks: Sequence[Look], recipe: Recipe) -> list[str]:
    """The average with its numbers, LaTeX."""
    results = []
    for one in looks:
        a = recipe.share(one.step)
        results.append(
            rf"\bar\theta\leftarrow {a:.4f}\,\bar\theta+{1 - a:.4f}\,\theta,\qquad "
            rf"\textstyle\prod a={recipe.left(one.step):.3f}\text{{ of the first weights is left}}"
        )
    return results
