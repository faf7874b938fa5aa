"""Sprites that rooms show: which models know them, and some to begin with."""

import torch
from torch import Tensor

from datamodules.sprites import KINDS, SIDE, render
from lab.experiments import Experiment
from lab.lenses import surfaces
from modules.latent.vae import VAE


def fits(entry: Experiment) -> bool:
    """True if q(z|x) is the encoder's Gaussian, its prior N(0, I), and a code alone makes a sprite."""
    return entry.datamodule == "datamodules.sprites.Sprites" and surfaces.keeps(
        entry, VAE, "encode_parameters", "sample_posterior", "prior", "outputs", "decode", "unpack"
    )


def examples() -> list[tuple[str, Tensor]]:
    """Sprites (16, 16) to begin with, one of each kind, and what is no sprite: two of them, and a ring."""
    chosen = render(torch.tensor([[0, 2, 0, 1, 5], [1, 1, 2, 4, 2], [2, 0, 5, 3, 3], [0, 1, 3, 6, 0]]))[:, 0]
    line = torch.arange(SIDE) - (SIDE - 1) / 2
    ring = ((line[:, None].square() + line.square()).sqrt() - 5).abs() < 0.9
    return [
        *zip(KINDS, chosen, strict=False),
        ("two", (chosen[0] + chosen[3]).clamp(max=1)),
        ("ring", ring.float()),
    ]


def motions(pictures: Tensor) -> Tensor:
    """Reach of the ink of each row of pictures (R, C, H, W): (R, 3), its centre's reach in columns and
    in rows, and the most ink over the least."""
    ink = pictures.sum((2, 3)).clamp(min=1e-6)
    place = torch.arange(pictures.shape[-1], dtype=pictures.dtype)
    across, down = pictures.sum(2) @ place / ink, pictures.sum(3) @ place / ink
    reach = [part.amax(1) - part.amin(1) for part in (across, down)]
    return torch.stack([*reach, ink.amax(1) / ink.amin(1)], 1)
