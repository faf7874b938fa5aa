"""Root mean square of activations and gradients through many convolutions that have just been initialised.

    h_k = ω_k * φ(h_{k−1})    or    h_k = h_{k−1} + λ ω_k * φ(h_{k−1})

Convolutions of 3 taps along a circle, so that no border takes part. All Gaussian starts are the same numbers
times their own deviation; SkipInit has λ = 0 and Fixup ω = 0 in the last layer of a block at the start.

Shapes: F draws, M starts, C channels, P positions, L layers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.convolution.initialization import delta_orthogonal, standard_deviation
from pages.convolution.variance.room import BACKWARD, RELU, TANH, TRIALS

CHANNELS, TAPS, POSITIONS = 16, 3, 8
GAUSSIAN, XAVIER, HE, SKIPS, SHARED, NOTHING, ORTHOGONAL = STARTS = (
    "Gaussian", "Xavier", "He", "skips, He", "skips, √(1/K)", "SkipInit, Fixup", "delta-orthogonal",
)  # fmt: skip


@dataclass(frozen=True)
class Started:
    """
    Attributes:
        sizes: (M, F, L + 1), root mean square after each layer: of the activations, over that of the input;
            or of the gradients of a random weighted sum of the outputs, over that at the last layer.
    """

    sizes: Tensor


def factors(gain: float, layers: int) -> tuple[Tensor, Tensor]:
    """Factors of what comes in and of the convolution with N(0, 1) weights, Gaussian starts, (M − 1,)."""
    weight = torch.empty(CHANNELS, CHANNELS, TAPS)
    own, xavier, he = (
        standard_deviation(weight, "forward", gain),
        standard_deviation(weight, "both", 1.0),
        standard_deviation(weight, "forward", 2.0),
    )
    keeps = torch.tensor([0.0, 0, 0, 1, 1, 1]).double()
    return keeps, torch.tensor([own, xavier, he, he, he * layers**-0.5, 0.0]).double()


def applied(activation: str, h: Tensor) -> Tensor:
    return h.relu() if activation == RELU else h.tanh() if activation == TANH else h


def windows(h: Tensor) -> Tensor:
    """The three taps of each position on the circle: (..., C, P) -> (..., 3 C, P)."""
    return torch.cat([h.roll(1, -1), h, h.roll(-1, -1)], -2)


def root_mean_square(values: list[Tensor]) -> Tensor:
    """Of L + 1 tensors (M, F, C, P), (M, F, L + 1); squares of large numbers do not overflow."""
    whole = torch.stack([v.detach().flatten(2) for v in values], 2)  # (M, F, L + 1, C·P)
    most = whole.abs().amax(-1)
    parts = whole / most.clamp(min=torch.finfo(whole.dtype).tiny)[..., None]
    return most * parts.square().mean(-1).sqrt()


def started(activation: str, layers: int, shown: str, gain: float, seed: int) -> Started:
    """All starts, the same inputs for all."""
    generator, F = torch.Generator().manual_seed(seed), len(TRIALS)
    M, C = len(STARTS), CHANNELS
    x = torch.randn(F, C, POSITIONS, generator=generator, dtype=torch.float64)
    keeps, scales = (v[:, None, None, None] for v in factors(gain, layers))
    turn = 2**0.5 if activation == RELU else 1.0  # ReLU takes half of the squares away
    h = x.expand(M, F, C, POSITIONS).clone().requires_grad_(shown == BACKWARD)
    every = [h]
    for _ in range(layers):
        normal = torch.randn(F, C, TAPS * C, generator=generator, dtype=torch.float64)
        centre = torch.stack(
            [
                delta_orthogonal(torch.empty(C, C, 1, dtype=torch.float64), turn, generator)[..., 0]
                for _ in range(F)
            ]
        )
        f = applied(activation, h)
        gaussian = keeps * h[:-1] + scales * (normal @ windows(f[:-1]))
        h = torch.cat([gaussian, (centre @ f[-1])[None]])
        every.append(h)
    if shown != BACKWARD:
        sizes = root_mean_square(every)
        return Started(sizes / sizes[..., :1])
    above = torch.randn(F, C, POSITIONS, generator=generator, dtype=torch.float64).expand_as(h)
    sizes = root_mean_square(list(torch.autograd.grad(h, every, above)))
    return Started(sizes / sizes[..., -1:])
