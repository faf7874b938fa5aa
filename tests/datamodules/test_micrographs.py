"""Rendered pictures of cells: what their classes say, that they are drawn by their seed, what is refused."""

import pytest
import torch

from datamodules.micrographs import CLASSES, Micrographs, apart, drawn, outlines, smooth


def test_every_split_is_its_own_draw_and_the_same_again() -> None:
    data = Micrographs(num_train=3, num_val=2, num_test=2)
    data.setup()
    x, y = data.train_set[torch.arange(3)]
    assert x.shape == (3, 1, 64, 64) and y.shape == (3, 64, 64) and y.dtype == torch.int64
    assert x.min() >= 0 and x.max() <= 1 and set(y.unique().tolist()) == set(range(len(CLASSES)))
    assert not torch.equal(x[:2], data.test_set[torch.arange(2)][0])
    drawn.cache_clear()
    again = Micrographs(num_train=3, num_val=2, num_test=2, seed=5)
    again.setup()
    assert torch.equal(again.train_set[torch.arange(3)][0], x)  # the seed orders epochs alone


def test_cells_are_brighter_than_the_ground_and_borders_are_between_two() -> None:
    x, y = drawn(40, 7, 64, 20, 0.0)
    assert x[:, 0][y == 1].mean() > x[:, 0][y == 0].mean() + 0.1
    share = y.flatten().bincount(minlength=3) / y.numel()
    assert 0.1 < share[1] < 0.4 and 0.005 < share[2] < 0.06
    alone = drawn(20, 7, 64, 1, 0.0)[1]
    assert not (alone == 2).any() and (alone == 1).any()  # a single cell has no border to another


def test_distances_are_those_of_the_rim() -> None:
    """Negative inside; the area inside is that of an ellipse, and a step across the rim is one of a pixel."""
    away = outlines(96, 40, torch.Generator().manual_seed(3))
    whole = [d for d in away if not (d < 0)[[0, -1]].any() and not (d < 0)[:, [0, -1]].any()]
    assert len(whole) > 3
    for d in whole:
        area = (d < 0).sum().item()
        assert 16 * 3.1 < area < 100 * 3.2  # axes of 4 to 10 pixels
        near = (d.abs() < 1)[:, 1:-1]
        slope = torch.hypot((d[:, 2:] - d[:, :-2]) / 2, torch.gradient(d, dim=0)[0][:, 1:-1])[near]
        assert slope.min() > 0.6 and slope.max() < 1.7


def test_a_cell_over_another_is_left_out() -> None:
    place = torch.tensor([[0.0, 0], [0, 5], [0, 9], [30, 30]])
    assert apart(place, torch.full((4,), 4.0)).tolist() == [True, False, True, True]


def test_blurring_keeps_the_light() -> None:
    x = torch.zeros(1, 9, 9)
    x[0, 4, 4] = 16
    blurred = smooth(x)[0]
    assert blurred.sum() == 16 and blurred[4, 4] == 4 and blurred[3, 4] == 2 and blurred[3, 3] == 1
    assert torch.allclose(smooth(torch.full((1, 5, 5), 0.3)), torch.tensor(0.3))


@pytest.mark.parametrize(
    "wrong, words",
    [({"side": 4}, "side is 4"), ({"cells": 0}, "cells is 0"), ({"noise": -1.0}, "noise is -1")],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Micrographs(**wrong)  # type: ignore[arg-type]
