"""The page Depth: shattered gradients, sums over paths, deleted blocks and errors by depth."""

from math import comb

import pytest
import torch
from torch import Tensor, nn

from datamodules.mnist1d import MNIST1D
from lab.errors import UserError
from lab.lenses import stock
from pages.convolution.depth import figures, lens, training, unravelled
from pages.convolution.depth.room import BATCH, CENTRED, HALF, KINDS, LOOKS, PLAIN, RAW, SKIP

A = (0.5, -0.2, 0.1, 0.3)


def mean(depth: int, norm: str, skip: str = PLAIN, gain: int = 2, bias: int = 1, seed: int = 0) -> Tensor:
    """Mean autocorrelation at lags 1, 4, 16."""
    one = lens.shattered((depth,), 200, gain, bias, norm, skip, seed)
    return one.mean[0, [1, 4, 16]]


def by_hand(net: nn.Sequential, x: Tensor, norm: str, skip: str) -> tuple[Tensor, Tensor]:
    """y and ∂y/∂x of all points, the derivative carried forwards."""
    first, *blocks, last = (m for m in net.modules() if isinstance(m, nn.Linear))
    h, d = x[:, None] @ first.weight.T + first.bias, first.weight.T.expand(len(x), -1)
    for layer in (*blocks, last):
        f, df = h, d
        if norm != RAW:
            f = f - f.mean(0)
        if norm == BATCH:
            scale = (f.square().mean(0) + 1e-5).sqrt()
            f, df = f / scale, df / scale
        f, df = f.clamp(min=0) @ layer.weight.T + layer.bias, (df * (f > 0)) @ layer.weight.T
        if skip != PLAIN and layer is not last:
            by = 0.5**0.5 if skip == HALF else 1.0
            f, df = by * (h + f), by * (d + df)
        h, d = f, df
    return h[:, 0], d[:, 0]


@pytest.mark.parametrize(("norm", "skip"), [(CENTRED, PLAIN), (BATCH, SKIP), (RAW, HALF)])
def test_curves_are_those_of_a_derivative_that_goes_forwards(norm: str, skip: str) -> None:
    x = torch.linspace(-2, 2, 40, dtype=torch.float64)
    net = lens.network(5, 30, 2, 1, norm, skip, seed=3)
    for found, wanted in zip(lens.curve(net, x), by_hand(net, x, norm, skip), strict=True):
        torch.testing.assert_close(found, wanted.detach())
    weights = torch.cat([m.weight.flatten() for m in net.modules() if isinstance(m, nn.Linear)])
    assert abs(30 * float(weights.detach().square().mean()) - 2) < 0.2


def test_autocorrelation_of_a_few_numbers() -> None:
    g = torch.tensor([1.0, 2.0, 4.0, 1.0], dtype=torch.float64)  # less the mean 2: −1, 0, 2, −1
    wanted = torch.tensor([6.0, -2.0, -2.0, 1.0], dtype=torch.float64) / 6
    torch.testing.assert_close(lens.autocorrelation(g, 3), wanted)
    assert bool(lens.autocorrelation(torch.ones(5, dtype=torch.float64), 2).isnan().all())


def test_what_shatters_and_what_does_not() -> None:
    """Lags 1, 4, 16, against an independent simulation of 12 draws: both have the noise of so few."""
    for found, wanted in (
        (mean(1, CENTRED), (0.99, 0.95, 0.81)),
        (mean(24, CENTRED), (0.04, 0.02, 0.01)),
        (mean(24, RAW, gain=1), (0.96, 0.83, 0.45)),
        (mean(24, BATCH, SKIP, bias=0), (0.75, 0.36, 0.04)),
        (mean(24, BATCH, bias=0), (-0.02, -0.04, 0.01)),
        (mean(24, RAW, HALF, bias=2), (0.95, 0.83, 0.49)),
    ):
        for value, other, within in zip(found.tolist(), wanted, (0.13, 0.13, 0.2), strict=True):
            assert abs(value - other) < within


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_the_first_scenes_say_holds_on_other_seeds(seed: int) -> None:
    assert abs(float(mean(24, CENTRED, seed=seed)[0])) < 0.2
    assert float(mean(24, RAW, gain=1, seed=seed)[0]) > 0.9
    assert float(mean(24, BATCH, SKIP, bias=0, seed=seed)[0]) > 0.5


def test_without_biases_the_gradient_has_two_values() -> None:
    g = lens.shattered((24,), 50, 2, 0, RAW, PLAIN, 0).g[0]
    for half in (g[:, :128], g[:, 128:]):
        torch.testing.assert_close(half, half[:, :1].expand_as(half))


def test_paths_of_linear_blocks() -> None:
    one = unravelled.linear_paths(A, ())
    by_length = torch.tensor([1, 0.7, 0.05, -0.031, -0.003], dtype=torch.float64)
    torch.testing.assert_close(one.by_length[-1], by_length)
    assert one.lengths.bincount().tolist() == [comb(4, n) for n in range(5)]
    assert one.whole == pytest.approx(1.716) and one.left == one.whole
    assert one.through.sum(0).tolist() == [8] * 4
    less = unravelled.linear_paths(A, (1,))
    assert int(less.kept.sum()) == 8 and less.left == pytest.approx(1.144)
    assert float(less.terms[less.kept].sum()) == pytest.approx(1.144) and less.whole == one.whole
    none = unravelled.linear_paths((0.5, -1.0, 0.1), ())
    assert float(none.terms.sum()) == pytest.approx(0, abs=1e-12)
    tree = figures.ways(less)  # the frame after three paths: three lines are full
    assert all(
        int((~torch.tensor(ys).isnan()).sum()) == 3 * f for f, ys in enumerate(tree["data"][2]["y"].values)
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_trained_paths_add_up_and_blocks_can_be_deleted(seed: int) -> None:
    pair = unravelled.fitted(4, 300, seed)
    one = unravelled.trained_paths(pair, (2,))
    x, y = stock.examples(MNIST1D, "test")
    point, first, last = x[0].flatten().double(), pair.residual[0], pair.residual[-1]
    for kept, wanted in (((1, 2, 3, 4), one.whole), ((1, 3, 4), one.left)):
        net = nn.Sequential(first, *(pair.residual[k] for k in kept), last)
        up, down = (net((1 + s) * point[None])[0, int(y[0])] for s in (1e-6, -1e-6))
        assert float(up - down) / 2e-6 == pytest.approx(wanted, rel=1e-4)
    assert float(unravelled.trained_paths(pair, ()).terms.sum()) == pytest.approx(one.whole)
    assert float(one.terms[one.kept].sum()) == pytest.approx(one.left)
    names, errors = unravelled.deletions(pair, (1, 2))
    assert names == ["none", "1", "2", "3", "4", "1+2"]
    h = pair.plain[4](pair.plain[3](pair.plain[0](x.flatten(1).double())))
    assert float(errors[1, 5]) == float((pair.plain[5](h).argmax(1) != y).float().mean())
    residual, plain = errors[:, 1:5]
    assert bool((plain > 0.75).all()) and bool((residual < plain).all()) and float(errors[:, 0].max()) < 0.6


@pytest.mark.parametrize("seed", [0, 1])
def test_deeper_plain_networks_train_worse(seed: int) -> None:
    *_, (share, plain) = training.trained((4, 48), KINDS[0], seed)
    *_, (_, skip) = training.trained((4, 48), KINDS[3], seed)
    assert share == 1 and plain.train.shape == (2, len(LOOKS))
    assert plain.train[1, -1] > plain.train[0, -1] + 0.05 and plain.test[1, -1] > plain.test[0, -1]
    assert skip.train[1, -1] < skip.train[0, -1] + 0.02 and skip.train[1, -1] < plain.train[1, -1] - 0.1
    norms = next(training.looked(48, KINDS[1], seed))[2]
    assert abs(float(norms[0] / norms[-1]) ** (1 / 47) - 1.21) < 0.04


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (lens.depths, "1 2.5", "whole numbers from 1 to 64"),
        (lens.depths, "", "whole numbers from 1 to 64"),
        (lens.depths, "1 two", "“two” is no number"),
        (unravelled.gains, "", "one to 5 factors"),
        (unravelled.numbers, "0", "numbers of blocks"),
        (lambda text: unravelled.linear_paths(A, unravelled.numbers(text)), "5", "no block 5"),
    ],
)
def test_bad_input_gets_a_sentence(read, text, sentence) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match=sentence):
        read(text)


def test_a_click_deletes_a_block_and_puts_it_back() -> None:
    assert unravelled.toggled((), 2) == "2" and unravelled.toggled((1, 2), 2) == "1"
