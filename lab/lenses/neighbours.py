"""Tables of pixels given their neighbours, counted on the digits."""

from functools import lru_cache

import torch
from torch import Tensor

from datamodules.digits import Digits
from modules.autoregressive.bayesnet import NeighbourNet

Offsets = tuple[tuple[int, int], ...]


SIDE = 8  # pixels of the small digits


@lru_cache(maxsize=1)
def digits() -> tuple[Tensor, Tensor]:
    """Training and test pictures of the small digits, thresholded, (N, 64)."""
    data = Digits(binarize="threshold")
    data.setup()
    sets = (data.train_set, data.test_set)
    train, test = (split[torch.arange(len(split))][0].flatten(1) for split in sets)
    return train, test


def counted(offsets: Offsets, shared: bool) -> NeighbourNet:
    """The network of these neighbours, counted on the training digits."""
    model = NeighbourNet((1, SIDE, SIDE), offsets, shared).eval()
    model.count((digits()[0],))
    return model


def nll_on_test(model: NeighbourNet) -> float:
    """Nats per picture of the test digits."""
    return -float(model.log_prob(digits()[1]).mean())
