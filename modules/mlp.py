"""Multilayer perceptron: linear layers with an activation after each but the last."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from torch import nn


def mlp(sizes: Sequence[int], activation: Callable[[], nn.Module] = nn.ReLU) -> nn.Sequential:
    """Linear layers of the given sizes, (..., sizes[0]) -> (..., sizes[-1])."""
    layers: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers.append(nn.Linear(inputs, outputs))
        if i < len(sizes) - 2:
            layers.append(activation())
    return nn.Sequential(*layers)
