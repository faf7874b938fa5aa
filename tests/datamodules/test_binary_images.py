"""Small binary images: how many patterns, and what counted models make of them."""

import math
from typing import Any

import pytest
import torch

from datamodules.binary_images import BinaryImages, patterns
from modules.autoregressive.markov import MarkovChain
from modules.autoregressive.tables import ChainRuleTable


@pytest.mark.parametrize(("side", "count"), [(2, 6), (3, 14), (4, 30)])
def test_bars_and_stripes(side: int, count: int) -> None:
    x = patterns("bars-and-stripes", side)
    assert x.shape == (count, 1, side, side) and len(x.flatten(1).unique(dim=0)) == count
    rows, columns = (x == x[..., :1]).all(-1).all(-1), (x == x[:, :, :1]).all(-1).all(-1)
    assert (rows | columns).all()


def test_xor_and_stripes() -> None:
    assert patterns("xor", 3).flatten(1).tolist() == [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    x = patterns("stripes", 3)
    assert len(x) == 32 == len(x.flatten(1).unique(dim=0))
    assert torch.equal(x[:, :, 1:, :-1], x[:, :, :-1, 1:])  # what stands above to the right
    with pytest.raises(ValueError, match="side"):
        patterns("stripes", 12)
    with pytest.raises(ValueError, match="kind"):
        patterns("moire", 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("side", "independent", "chain"), [(3, 6.2383, 5.6486), (4, 11.0904, 9.7249)])
def test_known_numbers_of_bars_and_stripes(side: int, independent: float, chain: float) -> None:
    data = BinaryImages(side=side)
    shape = data.sizes["event_shape"]

    def nll(model: Any) -> float:
        model.count((data.patterns,))
        return -model.log_prob(data.patterns).mean().item()

    assert nll(MarkovChain(shape, memory=0, smoothing=0.0)) == pytest.approx(independent, abs=1e-4)
    assert nll(MarkovChain(shape, memory=1, smoothing=0.0)) == pytest.approx(chain, abs=1e-4)
    assert nll(ChainRuleTable(shape, smoothing=0.0)) == pytest.approx(data.least_nll, abs=1e-12)
    assert data.least_nll == math.log(len(data.patterns))


@pytest.mark.parametrize(("side", "shift"), [(3, 1), (4, 2), (3, 3)])
def test_stripes_move_by_the_shift(side: int, shift: int) -> None:
    """What stands above to the right is copied, all else is free: side + shift (side - 1) fair bits."""
    data = BinaryImages(kind="stripes", side=side, shift=shift)
    x = data.patterns[:, 0]
    free = side + shift * (side - 1)
    assert len(x) == 2**free == len(x.flatten(1).unique(dim=0))
    assert torch.equal(x[:, 1:, : max(0, side - shift)], x[:, :-1, shift:])
    assert (x.mean(0) == 0.5).all()
    assert data.least_nll == pytest.approx(free * math.log(2), abs=1e-12)
    assert data.describe()["shift"] == shift
    for wrong in (0, side + 1):
        with pytest.raises(ValueError, match="shift"):
            patterns("stripes", side, wrong)


def test_an_epoch_shows_every_pattern_equally_often() -> None:
    data = BinaryImages(kind="xor", repeat=3, batch_size=4)
    data.setup("fit")
    x, y = data.train_set[torch.arange(len(data.train_set))]
    assert y.bincount().tolist() == [3, 3, 3, 3]
    assert torch.equal(x, data.patterns[y])
    assert data.sizes == {"event_shape": (3,), "image_shape": (1, 1, 3)}
