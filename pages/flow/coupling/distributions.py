"""Distributions after each coupling: numbers that never change keep the base's, so halves must take turns.

Shapes: N samples of D numbers; F frames, before the layers and after each.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.flow.linear import Permutation
from pages.flow.coupling.lens import Layer
from pages.flow.coupling.words import named

SAMPLES, BINS, WINDOW = 4000, 50, 5.0


@dataclass(frozen=True)
class Outputs:
    """Histograms of N samples of N(0, I) before the layers and after each: F = L + 1 frames.

    Attributes:
        middles: (BINS,). heights: (F, D, BINS) densities. distance, p: (F, D) Kolmogorov and Smirnov's.
        same: (F, D) whether every sample is still as it was drawn.
    """

    middles: Tensor
    heights: Tensor
    distance: Tensor
    p: Tensor
    same: Tensor


def outputs(stack: list[tuple[Permutation | None, Layer]], features: int, seed: int) -> Outputs:
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(SAMPLES, features, generator=generator, dtype=torch.float64)
    base, result = h, [h]
    same = [torch.ones(features, dtype=torch.bool)]
    for order, layer in stack:
        if order is not None:
            h, base = h[:, order.order], base[:, order.order]
        h = layer.generate(h)[0]
        result.append(h)
        same.append((h == base).all(0))
    width = 2 * WINDOW / BINS
    values = torch.stack(result).transpose(1, 2)  # (F, D, N)
    cell = ((values + WINDOW) / width).floor().clamp(-1, BINS).long() + 1
    counts = torch.zeros(*values.shape[:2], BINS + 2).scatter_add_(-1, cell, torch.ones(values.shape))
    distance = smirnov(values)
    return Outputs(
        (torch.arange(BINS) + 0.5) * width - WINDOW, counts[..., 1:-1] / (SAMPLES * width), distance,
        tail(distance, SAMPLES), torch.stack(same),
    )  # fmt: skip


def smirnov(values: Tensor) -> Tensor:
    """The largest distance of the samples' distribution function from that of N(0, 1): (…, N) -> (…)."""
    n = values.shape[-1]
    due = torch.special.ndtr(values.sort(-1).values)
    steps = torch.arange(n + 1, dtype=due.dtype) / n
    return torch.maximum((due - steps[:-1]).amax(-1), (steps[1:] - due).amax(-1))


def tail(distance: Tensor, n: int) -> Tensor:
    """The probability of at least this distance for n samples of N(0, 1), by Kolmogorov's series."""
    reached = distance * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))
    k = torch.arange(1, 101, dtype=distance.dtype)
    terms = -2 * (-1) ** k * (-2 * k**2 * reached[..., None] ** 2).exp()
    return torch.where(reached < 0.2, 1.0, terms.sum(-1)).clamp(0, 1)  # the series needs a distance above 0


def captions(result: Outputs) -> list[str]:
    """Sentence on the outputs at each frame."""
    texts = []
    for number, (same, p) in enumerate(zip(result.same, result.p, strict=True)):
        off = (p < 0.05) & ~same
        if number == 0:
            texts.append("The base: every number is N(0, 1).")
        elif same.any():
            rest = f"; N(0, 1) is rejected for {named(off)}" if off.any() else ""
            texts.append(
                f"After layer {number} the base's distribution is left, bit for bit, in output "
                f"{named(same)}{rest}."
            )
        else:
            texts.append(
                f"After layer {number} all outputs have been changed; N(0, 1) is rejected for {named(off)}."
            )
    return texts
