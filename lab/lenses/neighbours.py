"""Tables of pixels given their neighbours, counted on the digits."""

from torch import Tensor

from lab.lenses import stock
from modules.autoregressive.bayesnet import NeighbourNet

Offsets = tuple[tuple[int, int], ...]


SIDE = 8  # pixels of the small digits


def digits() -> tuple[Tensor, Tensor]:
    """Training and test pictures of the small digits, thresholded, (N, 64)."""
    return stock.bits("train")[0], stock.bits("test")[0]


def counted(offsets: Offsets, shared: bool) -> NeighbourNet:
    """The network of these neighbours, counted on the training digits."""
    model = NeighbourNet((1, SIDE, SIDE), offsets, shared).eval()
    model.count((digits()[0],))
    return model


def nll_on_test(model: NeighbourNet) -> float:
    """Nats per picture of the test digits."""
    return -float(model.log_prob(digits()[1]).mean())
