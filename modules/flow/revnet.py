r"""Reversible residual blocks: volume is kept, and the backward pass needs no stored activations.

    h1' = h1 + f1(h2),    h2' = h2 + f2(h1')        inverse: subtract, in the reverse order

The Jacobian [[I, J1], [J2, I + J2 J1]] is a product of two shears, so its determinant is exactly 1 for any f1
and f2: [UDL] 16.3.6 says that it cannot be computed efficiently, which is true of the matrix alone.

`Recomputed` keeps only the output of a stack: going back it inverts each layer, runs it again with gradients,
and throws away what it made. Memory O(1) in depth instead of O(L), for one forward pass more.

Shapes: (..., D), the halves as in `coupling`.
References: Gomez et al. 2017, arXiv:1707.04585; Jacobsen et al. 2018, arXiv:1802.07088; [UDL] 16.3.6.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.flow.coupling import MLPConditioner, halves
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet


class ReversibleBlock(FlowLayer):
    """Two residual additions; `f1` maps the second half to the size of the first, `f2` the other way."""

    def __init__(self, features: int, f1: nn.Module, f2: nn.Module) -> None:
        super().__init__()
        self.sizes = halves(features)
        self.f1, self.f2 = f1, f2

    def extra_repr(self) -> str:
        return f"sizes={self.sizes}"

    @classmethod
    def of_vectors(cls, features: int, hidden: Sequence[int] = (64,)) -> "ReversibleBlock":
        first, second = halves(features)
        return cls(
            features, MLPConditioner(second, first, 1, hidden), MLPConditioner(first, second, 1, hidden)
        )

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        h1, h2 = z.split(self.sizes, -1)
        h1 = h1 + self.f1(h2).view_as(h1)
        h2 = h2 + self.f2(h1).view_as(h2)
        return torch.cat([h1, h2], -1), self.zero_ladj(z)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        h1, h2 = x.split(self.sizes, -1)
        h2 = h2 - self.f2(h1).view_as(h2)
        h1 = h1 - self.f1(h2).view_as(h1)
        return torch.cat([h1, h2], -1), self.zero_ladj(x)


class Recomputed(FlowStack):
    """A stack whose `generate` and `normalize` keep their output alone for the backward pass.

    The gradients are those of the plain stack, up to the rounding of the inverses. The context gets none.
    """

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self._through(z, context, True)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self._through(x, context, False)

    def _through(self, h: Tensor, context: Tensor | None, generating: bool) -> ValueAndLogDet:
        layers: list[Any] = list(self.layers) if generating else list(reversed(self.layers))
        parameters = [p for p in self.parameters() if p.requires_grad]
        value, ladj = Rerun.apply(layers, context, generating, h, *parameters)
        return value, ladj


class Rerun(torch.autograd.Function):
    """See `Recomputed`."""

    @staticmethod
    def forward(
        ctx: Any, layers: list[Any], context: Tensor | None, generating: bool, h: Tensor, *parameters: Tensor
    ) -> ValueAndLogDet:
        ctx.layers, ctx.context, ctx.generating, ctx.parameters = layers, context, generating, parameters
        total = None
        for layer in layers:
            h, ladj = (layer.generate if generating else layer.normalize)(h, context)
            total = ladj if total is None else total + ladj
        assert total is not None
        ctx.save_for_backward(h)
        return h.clone(), total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        grad, grad_ladj = grads
        (h,) = ctx.saved_tensors
        gradients: dict[int, Tensor] = {}
        for layer in reversed(ctx.layers):
            there, back = (layer.generate, layer.normalize)
            if not ctx.generating:
                there, back = back, there
            with torch.no_grad():
                h = back(h, ctx.context)[0]
            own = [p for p in layer.parameters() if p.requires_grad]
            with torch.enable_grad():
                start = h.detach().requires_grad_()
                value, ladj = there(start, ctx.context)
                loss = (value * grad).sum() + (ladj * grad_ladj).sum()
                grad, *rest = torch.autograd.grad(loss, [start, *own], allow_unused=True)
            for parameter, g in zip(own, rest, strict=True):
                if g is not None:
                    key = id(parameter)
                    gradients[key] = gradients[key] + g if key in gradients else g
        return (None, None, None, grad, *(gradients.get(id(p)) for p in ctx.parameters))
