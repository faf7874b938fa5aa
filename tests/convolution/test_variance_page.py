"""The page Variance through depth: random blocks against theory, the order of operations, 1000 layers."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from modules.convolution.residual import dense_block
from pages.convolution.variance import start, through_depth, words
from pages.convolution.variance.room import (
    AT_ONCE,
    BACKWARD,
    BATCH,
    FIXUP,
    FORWARD,
    HALF,
    IDENTITY,
    LINEAR,
    LINEAR_FIRST,
    NEGATIVE,
    NONE,
    NORMAL,
    ORDERS,
    POSITIVE,
    RELU,
    RELU_FIRST,
    SCHEMES,
    SHARE,
    SKIP_INIT,
    TANH,
)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_draws_are_near_theory(scheme: str, order: str) -> None:
    """Eight draws of 256 units: their mean is within a fifth of the limit of infinite width."""
    one = through_depth.through_depth(scheme, order, 0.3, 5, 256, 3)
    for measured, expected in zip((one.second, one.batch), one.expected, strict=True):
        torch.testing.assert_close(measured.mean(0), expected, rtol=0.2, atol=0)
    assert one.adds == (scheme == BATCH) and one.growth[0].shape == (2, 8, 5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_scenes_say_of_growth(seed: int) -> None:
    plain = through_depth.through_depth(NONE, RELU_FIRST, 0.0, 10, 256, seed)
    assert plain.expected[0, -1] == 1024 and plain.expected[1, -1] == pytest.approx(299.5, abs=0.1)
    assert bool((plain.batch[:, 1:] < plain.second[:, 1:]).all())
    norm = through_depth.through_depth(BATCH, RELU_FIRST, 0.0, 10, 256, seed)
    added = norm.growth[0].mean((1, 2))
    assert added.tolist() == pytest.approx([1, 0.682], abs=0.03)
    half = through_depth.through_depth(HALF, RELU_FIRST, 0.0, 10, 256, seed)
    assert float(half.batch[:, -1].max()) < 0.5
    factors = through_depth.through_depth(NONE, LINEAR_FIRST, 0.0, 10, 256, seed).growth[1][0]
    assert factors[[0, 1, 2, 9]].tolist() == pytest.approx([2, 2.45, 2.69, 2.90], abs=0.01)


def test_alpha_is_that_of_the_chosen_scheme_alone() -> None:
    still = through_depth.through_depth(SKIP_INIT, RELU_FIRST, 0.0, 3, 16, 0)
    assert torch.equal(still.second, still.second[:, :1].expand(-1, 4))
    grown = through_depth.through_depth(SKIP_INIT, RELU_FIRST, 0.5, 3, 16, 0)
    assert grown.theory[-1].second == pytest.approx(1.25**3)
    for scheme in (NONE, SHARE, FIXUP):
        a, b = (through_depth.through_depth(scheme, RELU_FIRST, alpha, 3, 16, 0) for alpha in (0.0, 0.5))
        assert torch.equal(a.second, b.second) and a.theory == b.theory


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_order_of_operations(seed: int) -> None:
    """CV-O34: linear → ReLU only adds; ReLU → linear is dead where all inputs are negative."""
    rises = through_depth.cloud(LINEAR_FIRST, NORMAL, AT_ONCE, seed)
    assert bool((rises.h.diff(dim=0) >= 0).all()) and rises.below[-1] < 0.2 < rises.below[0]
    dead = through_depth.cloud(RELU_FIRST, NEGATIVE, AT_ONCE, seed)
    assert torch.equal(dead.h, dead.h[:1].expand_as(dead.h)) and bool((dead.below == 1).all())
    for sign, first in ((NEGATIVE, LINEAR), (POSITIVE, AT_ONCE), (NORMAL, AT_ONCE)):
        both = through_depth.cloud(RELU_FIRST, sign, first, seed).h.diff(dim=0)
        assert float(both.min()) < 0 < float(both.max())
    block, linear = through_depth.stack(SHARE, LINEAR_FIRST, 0.0, 4, 8)
    h = torch.randn(3, 8, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(block(h), h + 0.5 * F.linear(h, linear.weight).relu())
    assert isinstance(dense_block(8).branch[0], nn.ReLU)


@pytest.mark.parametrize("activation", [IDENTITY, RELU, TANH])
def test_starts_are_convolutions_along_a_circle(activation: str) -> None:
    """Three layers again, by torch's circular convolution, with the same draws."""
    one = start.started(activation, 3, FORWARD, 1.3, 5)
    generator, C = torch.Generator().manual_seed(5), start.CHANNELS
    x = torch.randn(4, C, start.POSITIONS, generator=generator, dtype=torch.float64)
    apply = {IDENTITY: lambda v: v, RELU: torch.relu, TANH: torch.tanh}[activation]
    n = 3 * C
    scales = {start.GAUSSIAN: (0, 1.3 / n), start.XAVIER: (0, 1 / n), start.HE: (0, 2 / n),
              start.SKIPS: (1, 2 / n), start.SHARED: (1, 2 / n / 3), start.NOTHING: (1, 0)}  # fmt: skip
    h = dict.fromkeys(scales, x)
    for _ in range(3):
        normal = torch.randn(4, C, 3 * C, generator=generator, dtype=torch.float64)
        weight = normal.unflatten(2, (3, C)).transpose(2, 3)  # (F, C_o, C_i, 3)
        for _ in range(4):
            torch.empty(C, C, dtype=torch.float64).normal_(generator=generator)  # the orthogonal ones'
        for name, (keeps, variance) in scales.items():
            padded = F.pad(apply(h[name]), (1, 1), mode="circular")
            f = torch.stack([F.conv1d(p[None], w)[0] for p, w in zip(padded, weight, strict=True)])
            h[name] = keeps * h[name] + variance**0.5 * f
    for m, name in enumerate(start.STARTS[:-1]):
        sizes = h[name].square().mean((1, 2)).sqrt() / x.square().mean((1, 2)).sqrt()
        torch.testing.assert_close(one.sizes[m, :, -1], sizes)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_thousand_layers(seed: int) -> None:
    one = start.started(IDENTITY, 1000, FORWARD, 1.2, seed)
    flat, drifts = one.sizes[-1], one.sizes[start.STARTS.index(start.XAVIER), :, -1]
    torch.testing.assert_close(flat, torch.ones_like(flat))
    assert bool((drifts < 0.1).all()) and bool(one.sizes.isfinite().all())
    back = start.started(RELU, 100, BACKWARD, 1.2, seed).sizes
    still = back[start.STARTS.index(start.NOTHING)]
    torch.testing.assert_close(still, torch.ones_like(still))
    assert bool((back[start.STARTS.index(start.SKIPS), :, 0] > 1e6).all())
    assert "delta-orthogonal" in words.start_captions(one, False)[0]
