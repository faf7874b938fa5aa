"""Styles cut off at their mean: how sure a reader is of what they make, and how far it spreads.

Shapes: as of the lens.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.adversarial.stylegan import StyleGAN
from pages.adversarial.stylegan import lens
from pages.adversarial.stylegan.room import CUTS

READS = 28  # pixels a side of what the reader reads
SHEET, JUDGED = 40, 100


@torch.no_grad()
def read(reader: Any, pictures: Tensor) -> Tensor:
    """Probabilities (N, 10) that the reader gives to pictures (N, S, S), enlarged to its own size."""
    large = F.interpolate(pictures[:, None], (READS, READS), mode="bilinear", antialias=True)
    return cast(Tensor, reader.predict(large).softmax(1))


def named(reader: Any, pictures: Tensor) -> Tensor:
    """The class that the reader gives to each picture, (N,)."""
    return read(reader, pictures).argmax(1)


def sure(reader: Any, pictures: Tensor) -> float:
    """Confidence of the reader in pictures (N, S, S), on average."""
    return float(read(reader, pictures).max(1).values.mean())


@torch.no_grad()
def drawn(model: StyleGAN, seed: int, cuts: Sequence[float]) -> Iterator[Tensor]:
    """Pictures (JUDGED, S, S) of the same styles cut off at each ψ, with noise."""
    noise = model.noise(JUDGED, torch.Generator().manual_seed(seed))
    z, of_layers = noise[:, : model.latent_dim], noise[:, model.latent_dim :]
    styles, mean = model.styles(z), model.mean_style()
    for psi in cuts:
        yield model.pictures(mean.lerp(styles, psi), of_layers)[:, 0]


def cut(model: StyleGAN, seed: int, psi: float) -> Tensor:
    """Those at one ψ."""
    (pictures,) = drawn(model, seed, [psi])
    return pictures


def cuts(model: StyleGAN, reader: Any, seed: int) -> tuple[list[Tensor], list[float], list[float]]:
    """At each of CUTS: pictures (SHEET, S, S), how sure the reader is, and how far they spread (sd of a
    pixel)."""
    result, certain, spreads = [], [], []
    for pictures in drawn(model, seed, CUTS):
        result.append(pictures[:SHEET])
        certain.append(sure(reader, pictures))
        spreads.append(float(lens.spread(pictures).mean()))
    return result, certain, spreads


def cut_captions(reader: str, certain: Sequence[float], spreads: Sequence[float]) -> list[str]:
    """A sentence for each ψ; the reader by its name."""
    return [
        f"ψ = {psi:g}: {reader} gives its class a probability of {sure:.2f} on average; the standard "
        f"deviation of a pixel between samples is {sd:.3f}, at ψ = 1 {spreads[-1]:.3f}."
        for psi, sure, sd in zip(CUTS, certain, spreads, strict=True)
    ]


def cut_equations(spreads: Sequence[float]) -> list[str]:
    """Equation of what is cut off, LaTeX."""
    return [
        rf"w'=\bar w+{psi:g}\,(w-\bar w),\qquad \overline{{\mathrm{{sd}}}}={sd:.4f}"
        for psi, sd in zip(CUTS, spreads, strict=True)
    ]
