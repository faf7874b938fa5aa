"""Branches that are drawn or gated, and what is taken away from maps: means over all that can be drawn."""

import math
from itertools import product
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from modules.convolution import random_blocks, regularization
from modules.convolution.random_blocks import Highway, ShakeShake, StochasticDepth, survival


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def linear(seed: int) -> nn.Linear:
    layer = nn.Linear(3, 3, bias=False, dtype=torch.float64)
    layer.weight.data = draw(3, 3, seed=seed) / 2
    return layer


def test_survival_falls_with_the_block() -> None:
    """54 blocks down to ½: 40.25 are expected (CV-O52, CV-E16)."""
    p = survival(54)
    assert sum(p) == pytest.approx(40.25) and p[-1] == 0.5 and p == sorted(p, reverse=True)
    assert survival(3, 1.0) == [1, 1, 1]


def test_the_mean_over_all_masks_is_what_the_test_does() -> None:
    keep, x = survival(3), draw(2, 3)
    blocks = nn.Sequential(*(StochasticDepth(linear(k), p) for k, p in enumerate(keep)))
    mean = torch.zeros_like(x)
    for mask in product((False, True), repeat=3):
        weight = math.prod(p if on else 1 - p for p, on in zip(keep, mask, strict=True))
        with mock.patch.object(random_blocks.torch, "rand", side_effect=[1.0 - on for on in mask]):
            mean += weight * blocks.train()(x)
    by_hand = x
    for k, p in enumerate(keep):
        by_hand = by_hand @ (torch.eye(3, dtype=torch.float64) + p * linear(k).weight).T
    assert (mean - by_hand).abs().max() < 1e-12
    assert (blocks.eval()(x) - by_hand).abs().max() < 1e-12


def test_a_block_that_always_stays_is_an_ordinary_one() -> None:
    block, x = StochasticDepth(linear(0), 1.0), draw(4, 3)
    assert torch.equal(block.train()(x), x + linear(0)(x)) and torch.equal(block.eval()(x), block.train()(x))
    gone = StochasticDepth(linear(0), 0.0)
    assert torch.equal(gone.train()(x), x) and torch.equal(gone.eval()(x), x)


def test_shake_shake_goes_forwards_by_one_share_and_back_by_another() -> None:
    block, x = ShakeShake(linear(0), linear(1)), draw(2, 3)
    shares = torch.tensor([[[0.2], [0.9]], [[0.7], [0.1]]], dtype=torch.float64)  # α, β of two examples
    with mock.patch.object(random_blocks.torch, "rand", return_value=shares):
        h = x.clone().requires_grad_()
        y = block(h)
    f, g = linear(0), linear(1)
    assert (y - (x + shares[0] * f(x) + (1 - shares[0]) * g(x))).abs().max() < 1e-14
    back = torch.autograd.grad(y, h, torch.ones_like(y))[0]
    ones = torch.ones_like(x)
    expected = ones + shares[1] * (ones @ f.weight) + (1 - shares[1]) * (ones @ g.weight)
    assert (back - expected).abs().max() < 1e-14
    assert (block.eval()(x) - (x + (f(x) + g(x)) / 2)).abs().max() < 1e-14


def test_a_highway_carries_or_transforms() -> None:
    gate = nn.Linear(3, 3, dtype=torch.float64)
    nn.init.zeros_(gate.weight)
    block, x = Highway(linear(0), gate), draw(4, 3)
    for bias, expected in ((-40.0, x), (40.0, linear(0)(x)), (0.0, (x + linear(0)(x)) / 2)):
        nn.init.constant_(gate.bias, bias)
        assert (block(x) - expected).abs().max() < 1e-12


def test_dropout_of_values_and_of_maps() -> None:
    x = torch.ones(40, 50, 4, 4, dtype=torch.float64)
    plain = regularization.dropout(x, 0.2, torch.Generator().manual_seed(0))
    assert set(plain.unique().tolist()) == {0, 1.25} and plain.mean() == pytest.approx(1, abs=0.01)
    maps = regularization.spatial_dropout(x, 0.2, torch.Generator().manual_seed(0))
    assert maps.mean() == pytest.approx(1, abs=0.04)
    assert torch.equal(maps, maps[..., :1, :1].expand_as(maps))  # a map as a whole
    assert (plain.flatten(2).std(-1) > 0).any()
    with pytest.raises(ValueError, match="rate"):
        regularization.dropout(x, 1.0)


def test_cutout_takes_a_square() -> None:
    x = torch.ones(200, 2, 9, 7)
    cut = regularization.cutout(x, 4, torch.Generator().manual_seed(0))
    gone = cut == 0
    assert torch.equal(gone[:, 0], gone[:, 1])
    for picture in gone[:, 0]:
        rows, columns = picture.any(1), picture.any(0)
        assert torch.equal(picture, rows[:, None] & columns)  # a rectangle
        assert 1 <= rows.sum() <= 4 and 1 <= columns.sum() <= 4
        assert rows.long().diff().abs().sum() <= 2  # in one piece
    assert (gone[:, 0].sum((1, 2)) == 16).any()
    assert torch.equal(regularization.cutout(x, 0), x)


def test_five_crops_and_their_mirror_images_are_ten() -> None:
    """CV-E5."""
    x = torch.arange(20.0).reshape(1, 1, 4, 5)
    crops = regularization.ten_crops(x, 2, 3)
    assert crops.shape == (10, 1, 1, 2, 3)
    assert crops[:5, 0, 0, 0, 0].tolist() == [0, 2, 10, 12, 6]
    assert torch.equal(crops[5:], crops[:5].flip(-1))
    with pytest.raises(ValueError, match="larger"):
        regularization.ten_crops(x, 5, 3)
