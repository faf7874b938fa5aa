"""One masked layer of random weights, to be followed number by number. Shapes: (D,)."""

import torch
from torch import Tensor

from lab.seeding import seeded
from modules.flow.maf import IAF, MAF
from modules.flow.monotone import Affine

HIDDEN = (32,)


def layer(kind: type[MAF], features: int, seed: int) -> MAF:
    """A MAF or an IAF layer, both with the same random network for a seed, in double precision."""

    def initialise() -> MAF:
        made = kind(features, Affine(2.0), HIDDEN)
        for parameter in made.parameters():
            parameter.data.normal_(0, 0.45)
        return made

    return seeded(initialise, seed).double().eval().requires_grad_(False)


def both(features: int, seed: int) -> tuple[MAF, MAF]:
    """MAF and IAF of the same network."""
    return layer(MAF, features, seed), layer(IAF, features, seed)


def column(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
