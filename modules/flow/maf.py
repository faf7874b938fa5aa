r"""Autoregressive flows, masked (MAF) and inverse (IAF): every number is changed by those before it.

    MAF   x_i = g(z_i; φ(x_<i))    density: one pass    sampling: D passes
    IAF   x_i = g(z_i; φ(z_<i))    sampling, and the density of own samples: one pass; of others: D

g is affine, x_i = z_i σ_i + μ_i, or any monotone map; φ is MADE's masked network. The Jacobian is
triangular, so ladj = Σ_i log |∂g_i|. [GM] eq. 3.86 prints one equation, conditioned on the input, for both:
its pass z → z' is IAF's; the sequential one that its prose describes is MAF's, conditioned on the output.
[UDL] 16.3.4-5 names the fast student of 16.5.3 a masked flow: in these words it is an IAF.

Shapes: (..., D). The order may be reversed in every other layer.
References: Papamakarios et al. 2017, arXiv:1705.07057; Kingma et al. 2016, arXiv:1606.04934; [UDL]
16.3.4-16.3.5; [GM] 3.12.3.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.made import MaskedLinear, draw_degrees, make_masks
from modules.base import require
from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.linear import Diagonal, abridged
from modules.flow.monotone import Affine, Gated, Monotone
from modules.flow.spline import RationalQuadratic

Apply = Callable[[Tensor, Tensor], ValueAndLogDet]  # a direction of a monotone map


class MaskedConditioner(nn.Module):
    """MADE with k outputs a variable: θ_i depends on h_<i and on the context, exactly; ends in zeros.

    The masks multiply when they are used; the stored weights are never overwritten.
    """

    def __init__(
        self, features: int, num_params: int, hidden: Sequence[int], reverse: bool = False, context: int = 0
    ) -> None:
        super().__init__()
        require(1, features=features, hidden=hidden)
        self.features, self.num_params = features, num_params
        rank = torch.arange(1, features + 1, device="cpu")
        self.order = list(range(features))[:: -1 if reverse else 1]
        degrees = draw_degrees(features, hidden, "even", torch.Generator())
        masks = make_masks(rank.flip(0) if reverse else rank, degrees, direct=False)
        masks[-1] = masks[-1].repeat_interleave(num_params, 0)  # (D k, width)
        sizes = [features, *hidden, features * num_params]
        self.layers = nn.ModuleList(
            [MaskedLinear(i, o, mask) for (i, o), mask in zip(pairwise(sizes), masks, strict=True)]
        )
        self.of_context = nn.Linear(context, hidden[0], bias=False) if context else None
        with torch.no_grad():  # what a mask hides gets no gradient: it is 0 and stays 0
            for layer in self.layers:
                layer.weight *= layer.mask  # type: ignore[operator]
            self.layers[-1].weight.zero_()  # type: ignore[operator]
            self.layers[-1].bias.zero_()  # type: ignore[operator]

    def extra_repr(self) -> str:
        return f"order={abridged(self.order)}, num_params={self.num_params}"

    def weights(self) -> list[tuple[Tensor, Tensor]]:
        """Masked weight (out, in) and bias of every layer."""
        return [(layer.masked_weight, layer.bias) for layer in self.layers]  # type: ignore[misc]

    def first_bias(self, context: Tensor | None, bias: Tensor) -> Tensor:
        """Bias of the first layer, with what the context adds to it."""
        if self.of_context is None:
            return bias
        if context is None:
            raise ValueError("This flow is conditional: give it a context.")
        return bias + self.of_context(context)

    def forward(self, h: Tensor, context: Tensor | None = None) -> Tensor:
        """h (..., D) -> θ (..., D, k), all in one pass."""
        (first, bias), *others = self.weights()
        start = self.first_bias(context, bias)
        h = F.linear(h, first, start) if self.of_context is None else F.linear(h, first) + start
        for weight, bias in others:
            h = F.linear(F.relu(h), weight, bias)
        return h.unflatten(-1, (self.features, self.num_params))

    def sequential(self, h: Tensor, apply: Apply, context: Tensor | None = None) -> ValueAndLogDet:
        """Map h (..., D) one variable after the other, each by θ of those mapped before: D passes.

        In each pass only what is new is computed: a column of the first layer's weights for the variable
        just mapped, the inner layers, and the outputs of the next variable.
        """
        (first, bias), *inner, (last, out_bias) = self.weights()
        rows = last.unflatten(0, (self.features, self.num_params))  # (D, k, width)
        biases = out_bias.unflatten(0, (self.features, self.num_params))
        a = self.first_bias(context, bias).expand(*h.shape[:-1], len(bias))
        mapped: dict[int, Tensor] = {}
        total = h.new_zeros(h.shape[:-1])
        for i in self.order:
            unit = F.relu(a)
            for weight, b in inner:
                unit = F.relu(F.linear(unit, weight, b))
            value, slope = apply(h[..., i], F.linear(unit, rows[i], biases[i]))
            mapped[i], total = value, total + slope
            a = a + value[..., None] * first[:, i]
        return torch.stack([mapped[i] for i in range(self.features)], -1), total


class MaskedAutoregressive(FlowLayer):
    """x_i = g(z_i; φ(x_<i)): scores in one pass, samples in D."""

    def __init__(
        self,
        features: int,
        monotone: Monotone,
        hidden: Sequence[int] = (64, 64),
        reverse: bool = False,
        context: int = 0,
    ) -> None:
        super().__init__()
        self.monotone = monotone
        self.conditioner = MaskedConditioner(features, monotone.num_params, hidden, reverse, context)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.conditioner.sequential(z, self.monotone.generate, context)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        z, slope = self.monotone.normalize(x, self.conditioner(x, context))
        return z, slope.sum(-1)


class InverseAutoregressive(MaskedAutoregressive):
    """x_i = g(z_i; φ(z_<i)): samples in one pass, scores what others drew in D."""

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x, slope = self.monotone.generate(z, self.conditioner(z, context))
        return x, slope.sum(-1)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.conditioner.sequential(x, self.monotone.normalize, context)


# --- Models -------------------------------------------------------------------------------------


class MAF(Flow):
    """Masked autoregressive flow: L layers, the order reversed in every other one.

    Args:
        layers: L.
        hidden: widths of every masked network.
        spline: rational-quadratic maps on [−bound, bound] of `bins` bins instead of affine ones, and one
            scaling at the end.
        gated: IAF's stable form of the affine map.

    Raises:
        TypeError: a call of earlier versions, in which MAF and IAF were the layers.
    """

    layer: type[MaskedAutoregressive] = MaskedAutoregressive

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        layers: int = 5,
        hidden: Sequence[int] = (64, 64),
        spline: bool = False,
        bins: int = 8,
        bound: float = 4.0,
        gated: bool = False,
        **training: Any,
    ) -> None:
        if (
            isinstance(event_shape, int)
            or isinstance(layers, Monotone)
            or {"features", "monotone"} & {*training}
        ):
            name, layer = type(self).__name__, self.layer.__name__
            raise TypeError(
                f"{name} is the model, {name}(event_shape, layers, hidden): the layer is {layer}."
            )
        super().__init__(event_shape, **training)
        require(1, layers=layers)

        def monotone() -> Monotone:
            if spline:
                return RationalQuadratic(bins, bound)
            return Gated() if gated else Affine()

        stack: list[FlowLayer] = [
            self.layer(self.event_dim, monotone(), hidden, number % 2 == 1, self.context_features)
            for number in range(layers)
        ]
        self.stack = FlowStack(stack + ([Diagonal(self.event_dim)] if spline else []))


class IAF(MAF):
    """Inverse autoregressive flow: for posteriors, students and unnormalised targets."""

    layer = InverseAutoregressive
