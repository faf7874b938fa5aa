r"""Planar and radial flows: one cut, or one ball, that pushes the density apart or together.

    planar   x = z + û tanh(wᵀz + b)              ladj = log |1 + wᵀû sech²(wᵀz + b)|
    radial   x = z + β (z − z0)/(α + r),          ladj = (D − 1) log(1 + β/(α + r)) + log(1 + αβ/(α + r)²)
             r = ‖z − z0‖

Bijective if wᵀû ≥ −1, by û = u + (softplus(wᵀu) − 1 − wᵀu) w/‖w‖², and if α > 0, β ≥ −α, by
β = −α + softplus(raw). The texts leave these out, and call the inverses hard. They are not: the planar one
is the root of one increasing function of one number, the radial one that of a quadratic,
r = ½ (−(α + β − R) + √((α + β − R)² + 4αR)), R = ‖x − z0‖.

Shapes: (..., D). References: Rezende & Mohamed 2015, arXiv:1505.05770; [UDL] notes to chapter 16.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer, FlowStack, Inverse, ValueAndLogDet, increasing_root


class Planar(FlowLayer):
    """Planar layer, 2 D + 1 numbers. With `constrained=False` two points may go to the same place.

    With a context (E > 0) the numbers depend linearly on it: an amortised posterior.
    """

    def __init__(self, features: int, context: int = 0, constrained: bool = True) -> None:
        super().__init__()
        require(1, features=features)
        require(0, context=context)
        self.features, self.constrained = features, constrained
        self.theta = nn.Parameter(torch.randn(2 * features + 1) / math.sqrt(features))
        self.of_context = nn.Linear(context, 2 * features + 1, bias=False) if context else None
        with torch.no_grad():
            self.theta[:features] *= 0.1
            if self.of_context is not None:
                self.of_context.weight.zero_()

    def extra_repr(self) -> str:
        return f"{self.features}, constrained={self.constrained}"

    def parts(self, context: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """û (..., D), w (..., D), b (...)."""
        theta = self.theta
        if self.of_context is not None and context is not None:
            theta = theta + self.of_context(context)
        u, w, b = theta.split([self.features, self.features, 1], -1)
        if self.constrained:
            along = (w * u).sum(-1, keepdim=True)
            # at w = 0 any u will do: wᵀu is 0
            least = torch.finfo(w.dtype).tiny
            u = u + (F.softplus(along) - 1 - along) * w / w.square().sum(-1, keepdim=True).clamp(min=least)
        return u, w, b[..., 0]

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        u, w, b = self.parts(context)
        bend = ((w * z).sum(-1) + b).tanh()
        return z + u * bend[..., None], (1 + (w * u).sum(-1) * (1 - bend**2)).abs().log()

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        u, w, b = self.parts(context)
        along = (w * u).sum(-1)

        def project(a: Tensor) -> ValueAndLogDet:  # a = wᵀz goes to wᵀx = a + wᵀû tanh(a + b)
            bend = (a + b).tanh()
            return a + along * bend, (1 + along * (1 - bend**2)).log()

        a = increasing_root(project, (w * x).sum(-1))
        return x - u * (a + b).tanh()[..., None]


class Radial(FlowLayer):
    """Radial layer, D + 2 numbers: the centre z0, raw α and β. With a context they depend linearly on it."""

    def __init__(self, features: int, context: int = 0) -> None:
        super().__init__()
        require(1, features=features)
        require(0, context=context)
        self.centre = nn.Parameter(0.1 * torch.randn(features))
        self.raw_alpha = nn.Parameter(torch.tensor(math.log(math.e - 1)))  # α = 1
        self.raw_beta = nn.Parameter(torch.tensor(math.log(math.e - 1)))  # β = 0
        self.of_context = nn.Linear(context, features + 2, bias=False) if context else None
        if self.of_context is not None:
            nn.init.zeros_(self.of_context.weight)

    def extra_repr(self) -> str:
        return str(len(self.centre))

    @property
    def alpha(self) -> Tensor:
        return F.softplus(self.raw_alpha)

    @property
    def beta(self) -> Tensor:
        return F.softplus(self.raw_beta) - self.alpha

    def parts(self, context: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """α (...), β (...) and z0 (..., D)."""
        if self.of_context is None or context is None:
            return self.alpha, self.beta, self.centre
        moved = self.of_context(context)
        alpha = F.softplus(self.raw_alpha + moved[..., -2])
        beta = F.softplus(self.raw_beta + moved[..., -1]) - alpha
        return alpha, beta, self.centre + moved[..., :-2]

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        alpha, beta, centre = self.parts(context)
        away = z - centre
        near = 1 / (alpha + length(away))
        ladj = (away.shape[-1] - 1) * (beta * near).log1p() + (alpha * beta * near**2).log1p()
        return z + (beta * near)[..., None] * away, ladj

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        alpha, beta, centre = self.parts(context)
        away = x - centre
        big = length(away)
        half = alpha + beta - big
        root = (half**2 + 4 * alpha * big).sqrt()
        # both forms are the same number; the second does not subtract two that are nearly equal
        r = torch.where(half > 0, 2 * alpha * big / (half + root), (root - half) / 2)
        return centre + away / (1 + beta / (alpha + r))[..., None]


def length(h: Tensor) -> Tensor:
    """‖h‖ of every row, with a gradient at 0."""
    return (h.square().sum(-1) + torch.finfo(h.dtype).tiny).sqrt()


class PlanarFlow(Flow):
    """L planar layers, in the direction of their paper: fast to sample, so for fitting a density that can
    be evaluated. With `fit_data` they are turned round, so that data are scored without a root.

    Args:
        layers: L.
    """

    layer: type[Planar] | type[Radial] = Planar

    def __init__(
        self, event_shape: Sequence[int] = (2,), layers: int = 16, fit_data: bool = True, **training: Any
    ) -> None:
        super().__init__(event_shape, **training)
        require(1, layers=layers)
        stack = [self.layer(self.event_dim, self.context_features) for _ in range(layers)]
        self.stack = FlowStack([Inverse(layer) for layer in stack] if fit_data else stack)


class RadialFlow(PlanarFlow):
    """L radial layers, as in `PlanarFlow`."""

    layer = Radial
