"""A drawing on its way into noise, by single steps of the chain or at once, and the distribution of one of
its pixels.

    x_t = √α_t x_{t−1} + √β_t ε_t  one step after the other;      x_t = √ᾱ_t x_0 + √(1 − ᾱ_t) ε  at once

Both have the distribution N(√ᾱ_t x_0, 1 − ᾱ_t).
Shapes: a drawing (S, S) in [−1, 1]; F frames; DRAWS chains of a pixel.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lab.lenses.attention import number
from lab.lenses.diffusion import stops
from modules.diffusion import schedule
from modules.diffusion.schedule import Schedule

DRAWS = 4000
EDGES = torch.linspace(-4, 4, 41, dtype=torch.float64)  # of the histogram
INFINITE = r"\infty"
OPTIONS = ["below 0.1", "0.1 to 0.9", "above 0.9"]
Way = Literal["at once", "step by step"]


@dataclass(frozen=True)
class Story:
    """
    Attributes:
        times: t of each frame.
        pictures: (F, S, S).
        mean, deviation: (F,) of one pixel's DRAWS.
        histogram: (F, B) its density in the bins of EDGES. distribution: (F, B) N(√ᾱ x_0, 1 − ᾱ) in the same
            bins.
    """

    times: list[int]
    pictures: Tensor
    mean: Tensor
    deviation: Tensor
    histogram: Tensor
    distribution: Tensor


def times(chain: Schedule) -> list[int]:
    """The t of every frame."""
    return stops(chain.T + 1)


def noised(chain: Schedule, x0: Tensor, way: Way, seed: int) -> Tensor:
    """x0 (...) at every frame: (F, ...), float64."""
    generator, shown = torch.Generator().manual_seed(seed), times(chain)
    x0 = x0.double()
    if way == "at once":
        eps = torch.randn(x0.shape, dtype=torch.float64, generator=generator)
        t = torch.tensor(shown)
        every = x0.expand(len(t), *x0.shape)
        return chain.noised(every, t, eps.expand_as(every))
    x, result = x0, [x0]
    for now in range(1, chain.T + 1):
        eps = torch.randn(x0.shape, dtype=torch.float64, generator=generator)
        x = (1 - chain.beta[now]).sqrt() * x + chain.beta[now].sqrt() * eps
        if now in shown:
            result.append(x)
    return torch.stack(result)


def story(
    kind: schedule.Kind, T: int, drawing: Tensor | None, digit: Tensor | None, pixel: float, way: Way,
    seed: int,
) -> Story:  # fmt: skip
    """A drawing or a digit (S, S), whose ink in [0, 1] becomes [−1, 1], and DRAWS chains that begin at
    `pixel`."""
    chain, picture = schedule.named(kind, T), drawing if digit is None else digit
    if picture is None:
        raise ValueError("Noise needs a drawing or a digit to be added to.")
    pictures = noised(chain, 2 * picture - 1, way, seed)
    draws = noised(chain, torch.full((DRAWS,), pixel), way, seed + 1)  # (F, DRAWS)
    bins = torch.bucketize(draws.clamp(-3.999, 3.999), EDGES) - 1
    counts = torch.zeros(len(draws), len(EDGES) - 1, dtype=torch.float64)
    counts.scatter_add_(1, bins.clamp(0), torch.ones_like(draws))
    width = float(EDGES[1] - EDGES[0])
    a = chain.alpha_bar[torch.tensor(times(chain))][:, None]
    below = torch.special.ndtr((EDGES - a.sqrt() * pixel) / (1 - a).clamp(min=1e-12).sqrt())
    return Story(
        times(chain), pictures, draws.mean(1), draws.std(1), counts / DRAWS / width, below.diff(dim=1) / width
    )


def captions(result: Story, chain: Schedule) -> list[str]:
    """Caption of what is left, and of what the draws of the pixel say."""
    return [
        f"t = {t} of {chain.T}: {float(chain.alpha_bar[t].sqrt()):.1%} of the picture. Of the pixel's "
        f"{DRAWS} draws the mean is {float(m):.3f}, the deviation {float(s):.3f}."
        for t, m, s in zip(result.times, result.mean, result.deviation, strict=True)
    ]


def equations(chain: Schedule, pixel: float) -> list[str]:
    """The pixel's distribution with its numbers, LaTeX."""
    results = []
    for t in times(chain):
        a = float(chain.alpha_bar[t])
        ratio = INFINITE if t == 0 else number(a / (1 - a))
        results.append(
            rf"q(x_{{{t}}}\mid x_0)=\mathcal N\left({a**0.5:.4f}\cdot({pixel:.2f}),\ {1 - a:.4f}\right),"
            rf"\qquad \mathrm{{SNR}}={ratio}"
        )
    return results


def option(left: float) -> str:
    """The one of OPTIONS that √ᾱ is."""
    return OPTIONS[(left >= 0.1) + (left > 0.9)]
