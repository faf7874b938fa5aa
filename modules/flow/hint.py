r"""HINT: a coupling whose halves are couplings again, down to single numbers.

    R(h) = [R_1(h1),  g(R_2(h2); φ(h1))],     R of one number: the number

A plain coupling leaves two blocks of its triangular Jacobian diagonal; here the triangle is full: every
number is changed by all before it, as in an autoregressive layer. To generate, all networks read what came
in; to normalize, D − 1 of them wait for each other. ladj is the sum of that of all the g.

Shapes: (..., D); a tree of D − 1 networks. Number 1 is never changed: permute between layers. With D = 2
it is a plain coupling.
References: Kruse et al. 2021, arXiv:1905.10687; [UDL] notes to chapter 16.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from modules.base import require
from modules.flow.coupling import MLPConditioner, halves
from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.linear import Permutation
from modules.flow.monotone import Affine, Monotone


class RecursiveCoupling(FlowLayer):
    """Couplings within couplings.

    Args:
        features: D, at least 2.
        monotone: makes a g.
        hidden: widths of every network.
        context: E.
    """

    def __init__(
        self,
        features: int,
        monotone: Callable[[], Monotone] = Affine,
        hidden: Sequence[int] = (64,),
        context: int = 0,
    ) -> None:
        super().__init__()
        require(2, features=features)
        self.sizes = first, second = halves(features)
        self.monotone = monotone()
        self.conditioner = MLPConditioner(first, second, self.monotone.num_params, hidden, context)
        self.first, self.second = (
            RecursiveCoupling(size, monotone, hidden, context) if size > 1 else None for size in self.sizes
        )

    def extra_repr(self) -> str:
        return f"sizes={self.sizes}"

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        h1, h2 = z.split(self.sizes, -1)
        theta = self.conditioner(h1, context)
        h1, ladj1 = self.first.generate(h1, context) if self.first else (h1, 0.0)
        h2, ladj2 = self.second.generate(h2, context) if self.second else (h2, 0.0)
        h2, slope = self.monotone.generate(h2, theta)
        return torch.cat([h1, h2], -1), slope.sum(-1) + ladj1 + ladj2

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        h1, h2 = x.split(self.sizes, -1)
        h1, ladj1 = self.first.normalize(h1, context) if self.first else (h1, 0.0)
        h2, slope = self.monotone.normalize(h2, self.conditioner(h1, context))
        h2, ladj2 = self.second.normalize(h2, context) if self.second else (h2, 0.0)
        return torch.cat([h1, h2], -1), slope.sum(-1) + ladj1 + ladj2


class HINT(Flow):
    """L recursive couplings of affine maps, a frozen random permutation before every one but the first.

    Args:
        layers: L.
        hidden: widths of every network.
        seed: of the permutations.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (4,),
        layers: int = 4,
        hidden: Sequence[int] = (64,),
        seed: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, **training)
        require(1, layers=layers)
        stack: list[FlowLayer] = []
        for number in range(layers):
            if number:
                stack.append(Permutation(self.event_dim, seed=seed + number))
            stack.append(RecursiveCoupling(self.event_dim, Affine, hidden, self.context_features))
        self.stack = FlowStack(stack)
