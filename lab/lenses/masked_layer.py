"""One masked layer of random weights, to be followed number by number. Shapes: (D,)."""

import torch
from torch import Tensor

from lab.seeding import seeded
from modules.flow.maf import InverseAutoregressive, MaskedAutoregressive
from modules.flow.monotone import Affine

HIDDEN = (32,)


def layer(kind: type[MaskedAutoregressive], features: int, seed: int) -> MaskedAutoregressive:
    """A MAF or an IAF layer, both with the same random network for a seed, in double precision."""

    def initialise() -> MaskedAutoregressive:
        result = kind(features, Affine(2.0), HIDDEN)
        for parameter in result.parameters():
            parameter.data.normal_(0, 0.45)
        return result

    return seeded(initialise, seed).double().eval().requires_grad_(False)


def both(features: int, seed: int) -> tuple[MaskedAutoregressive, MaskedAutoregressive]:
    """MAF and IAF of the same network."""
    return layer(MaskedAutoregressive, features, seed), layer(InverseAutoregressive, features, seed)


def column(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
