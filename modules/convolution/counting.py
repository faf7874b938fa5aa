"""Shapes, parameters and operations of a network, layer by layer, without computing anything.

A convolution multiplies and adds C_o C_i K² / G times at each position of its output, a transposed one at
each of its input, a dense layer once for each weight. On the meta device a network of any size costs nothing:

    with torch.device("meta"):
        model = VGG()
    rows = count(model, (3, 224, 224))

References: [UDL] §10.5.1, problem 10.18.
"""

from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


class Row(NamedTuple):
    """One layer.

    Attributes:
        name: its place in the network.
        kind: name of its class.
        shape: of its output, without the batch.
        parameters: how many it has.
        operations: multiply-adds for one example.
        reads: shape of its input, without the batch.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    parameters: int
    operations: int
    reads: tuple[int, ...]


def operations_of(layer: nn.Module, x: Tensor, y: Tensor) -> int:
    """Multiply-adds of a layer for one example, of what it weighs alone."""
    if isinstance(layer, CONVOLUTIONS):
        return layer.weight.numel() * prod(y.shape[2:])
    if isinstance(layer, TRANSPOSED):
        return layer.weight.numel() * prod(x.shape[2:])
    if isinstance(layer, nn.Linear):
        return layer.weight.numel() * prod(y.shape[1:-1])
    return 0


@torch.no_grad()
def count(network: nn.Module, shape: tuple[int, ...]) -> list[Row]:
    """A row for every layer of a network on the meta device, in the order in which they run.

    Raises:
        ValueError: the network has weights elsewhere.
    """
    if any(p.device.type != "meta" for p in network.parameters()):
        raise ValueError('The network has weights: build it under torch.device("meta").')
    rows: list[Row] = []
    handles = []
    for name, layer in network.named_modules():
        if next(layer.children(), None) is None:

            def record(layer: nn.Module, inputs: tuple[Tensor, ...], y: Tensor, name: str = name) -> None:
                own = sum(p.numel() for p in layer.parameters())
                kind, work = type(layer).__name__, operations_of(layer, inputs[0], y)
                rows.append(Row(name, kind, tuple(y.shape[1:]), own, work, tuple(inputs[0].shape[1:])))

            handles.append(layer.register_forward_hook(record))
    training = network.training
    network.eval()(torch.empty(1, *shape, device="meta"))
    network.train(training)
    for handle in handles:
        handle.remove()
    return rows


def named(rows: list[Row], *kinds: str) -> list[Row]:
    """The rows of these kinds of layers."""
    return [row for row in rows if row.kind in kinds]
