"""Guidance where everything is Gaussian: the law that guided sampling reaches, and the one it is said to.

p(x) = N(0, 1 + s²),  p(x | y = m) = N(m, s²)        tilted: p(x|y)^{1+w} p(x)^{−w}, a Gaussian too
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.diffusion import exact, guidance, samplers
from modules.diffusion.schedule import linear

MADE = linear()
REACH, POINTS = 4.0, 401
WEIGHTS = [round(-1 + 0.25 * i, 2) for i in range(21)]  # −1 … 4


@dataclass(frozen=True)
class Laws:
    """Means and sds by weight, (21,) each: what is sampled, and the tilted density."""

    mean: Tensor
    sd: Tensor
    tilted_mean: Tensor
    tilted_sd: Tensor


def laws(m: float, s: float, steps: int) -> Laws:
    """The flow of the guided denoiser from N(0, 1) is affine, so two starts a weight tell its law."""
    one, every = exact.Mixture(torch.tensor([[m]]), s**2), exact.Mixture(torch.tensor([[0.0]]), 1 + s**2)
    w = torch.tensor(WEIGHTS, dtype=torch.float64).repeat_interleave(2)

    def net(x: Tensor, t: Tensor, y: Tensor) -> Tensor:
        a = MADE.alpha_bar[t]
        return torch.where(y[:, None] == 0, one.eps(x, a), every.eps(x, a))

    def predict(x: Tensor, t: Tensor) -> Tensor:
        return guidance.classifier_free(net, x, t, torch.zeros(len(x), dtype=torch.long), 1, w)

    start = torch.tensor([[0.0], [1.0]], dtype=torch.float64).repeat(len(WEIGHTS), 1)
    ends = samplers.last(samplers.heun(predict, MADE, start, MADE.times(steps))).reshape(-1, 2)
    w = w[::2]
    precision = (1 + w) / s**2 - w / (1 + s**2)
    tilted = (1 + w) * m / s**2 / precision
    return Laws(ends[:, 0], (ends[:, 1] - ends[:, 0]).abs(), tilted, precision.rsqrt())


def grid() -> Tensor:
    return torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)


def bells(mean: Tensor, sd: Tensor) -> Tensor:
    """Densities (21, POINTS) of Gaussians by weight."""
    z = (grid() - mean[:, None]) / sd[:, None]
    return torch.exp(-0.5 * z**2) / (sd[:, None] * math.sqrt(2 * math.pi))


def captions(found: Laws) -> list[str]:
    """Both laws, weight by weight."""
    return [
        f"w = {w:g}: sampled with mean {float(m):.3f} and sd {float(s):.3f}; the tilted density has "
        f"{float(a):.3f} and {float(b):.3f}."
        for w, m, s, a, b in zip(
            WEIGHTS, found.mean, found.sd, found.tilted_mean, found.tilted_sd, strict=True
        )
    ]


def equations() -> list[str]:
    """ε̃ with its numbers."""
    return [
        rf"\tilde\epsilon = {1 + w:g}\,\hat\epsilon(x_t, y) {-w:+g}\,\hat\epsilon(x_t, \varnothing)"
        for w in WEIGHTS
    ]
