"""Samples that `lab bench games` measures."""

from typing import Any

import torch
from torch import Tensor

from lab.bench import games


class Named:
    """A generator whose pictures are their class."""

    num_classes = 3

    def sample(self, n: int, y: int, generator: torch.Generator) -> Tensor:
        return torch.full((n, 1, 28, 28), float(y))


class Framed:
    """One without classes, whose pictures have a border of ones."""

    def sample(self, n: int, generator: torch.Generator, **knobs: Any) -> Tensor:
        result = torch.ones(n, 1, 32, 32)
        result[..., 2:30, 2:30] = torch.rand(n, 1, 1, 1, generator=generator)
        return result


def test_each_class_is_drawn_as_often_as_it_is_asked_for() -> None:
    assert games.samples(Named(), [2, 0, 3], {})[:, 0, 0, 0].tolist() == [0, 0, 2, 2, 2]


def test_without_classes_all_are_drawn_and_the_border_is_cut() -> None:
    result = games.samples(Framed(), [700, 500], {})
    assert result.shape == (1200, 1, 28, 28) and result.flatten(1).std(1).max() == 0
    assert result[:, 0, 0, 0].unique().numel() > 1000  # another draw for each, not the same thousand again
