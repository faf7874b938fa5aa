r"""Coupling flows: one part of the numbers is copied and decides what happens to the other part.

    h1' = h1,    h2' = g(h2; φ(h1))

φ is any network and never inverted. The Jacobian is block lower-triangular ([UDL] 16.3.3 calls it diagonal;
its determinant, that of g, is the same). Parts must take turns: what is always copied keeps the
base's distribution.

    NICE      g: h2 + t                   ladj 0, one scaling of every coordinate at the end
    RealNVP   g: h2 e^s + t               ladj Σ s
    spline    g: rational quadratic       ladj Σ log slopes
    Flow++    g⁻¹: mixture of logistics   ladj Σ log slopes

Halves of ⌊D/2⌋ and ⌈D/2⌉ where D is odd ([GM] 3.83-85 has R^{d/2}, which needs an even d).
Shapes: vectors (..., D), images (B, C, H, W), whose halves are of the channels, or a checkerboard.

References: Dinh et al. 2015, arXiv:1410.8516; Dinh et al. 2017, arXiv:1605.08803; Durkan et al. 2019,
arXiv:1906.04032; Ho et al. 2019, arXiv:1902.00275 (Flow++); [UDL] 16.3.3; [GM] 3.12.3.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import require
from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.linear import LU, ContextAffine, Diagonal, Permutation
from modules.flow.mixture import LogisticMixture
from modules.flow.monotone import Additive, Affine, InverseMonotone, Monotone
from modules.flow.spline import RationalQuadratic
from modules.mlp import mlp


class MLPConditioner(nn.Sequential):
    """Conditioner of vectors: (..., D_in) and a context (..., E) -> (..., D_out, k); ends in zeros."""

    def __init__(
        self, inputs: int, outputs: int, num_params: int, hidden: Sequence[int], context: int = 0
    ) -> None:
        require(1, hidden=hidden)
        super().__init__(*mlp([inputs + context, *hidden, outputs * num_params]))
        self.shape, self.context = (outputs, num_params), context
        for parameter in self[-1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, h: Tensor, context: Tensor | None = None) -> Tensor:
        if self.context:
            if context is None:
                raise ValueError("This flow is conditional: give it a context.")
            h = torch.cat([h, context.expand(*h.shape[:-1], -1)], -1)
        return super().forward(h).unflatten(-1, self.shape)


class Coupling(FlowLayer):
    """Halves of vectors, or of the channels of images.

    Args:
        features: D, or C of images.
        monotone: g.
        conditioner: (h1, context) -> θ of h2, (..., D2, k) for vectors, (B, C2, H, W, k) for images.
        flip: copy the second half and change the first.
        event_dims: 1 for vectors, 3 for images.
    """

    def __init__(
        self,
        features: int,
        monotone: Monotone,
        conditioner: nn.Module,
        flip: bool = False,
        event_dims: int = 1,
    ) -> None:
        super().__init__()
        self.sizes = halves(features)
        self.monotone, self.conditioner, self.flip, self.event_dims = monotone, conditioner, flip, event_dims

    def extra_repr(self) -> str:
        kept, changed = self.sizes[::-1] if self.flip else self.sizes
        return f"kept={kept}, changed={changed}, flip={self.flip}"

    @classmethod
    def of_vectors(
        cls, features: int, monotone: Monotone, hidden: Sequence[int], flip: bool = False, context: int = 0
    ) -> "Coupling":
        """With an `MLPConditioner`."""
        first, second = halves(features)
        kept, changed = (second, first) if flip else (first, second)
        net = MLPConditioner(kept, changed, monotone.num_params, hidden, context)
        return cls(features, monotone, net, flip)

    def split(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """The part that is copied, and the part that is changed."""
        first, second = h.split(self.sizes, -self.event_dims)
        return (second, first) if self.flip else (first, second)

    def merge(self, kept: Tensor, changed: Tensor) -> Tensor:
        """Inverse of `split`."""
        return torch.cat([changed, kept] if self.flip else [kept, changed], -self.event_dims)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        kept, changed = self.split(z)
        changed, slope = self.monotone.generate(changed, self.conditioner(kept, context))
        return self.merge(kept, changed), slope.flatten(-self.event_dims).sum(-1)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        kept, changed = self.split(x)
        changed, slope = self.monotone.normalize(changed, self.conditioner(kept, context))
        return self.merge(kept, changed), slope.flatten(-self.event_dims).sum(-1)


class MaskedCoupling(FlowLayer):
    """Coupling of any pattern: where the mask is 1 numbers are copied. The conditioner sees zeros elsewhere.

    Args:
        mask: of the shape of one example; `checkerboard` makes one.
        conditioner: (h, context) -> θ of every entry, (B, *shape, k).
    """

    mask: Tensor

    def __init__(self, mask: Tensor, monotone: Monotone, conditioner: nn.Module) -> None:
        super().__init__()
        self.register_buffer("mask", mask.bool(), persistent=False)
        self.monotone, self.conditioner, self.event_dims = monotone, conditioner, mask.ndim

    def extra_repr(self) -> str:
        return f"mask={tuple(self.mask.shape)}, kept={int(self.mask.sum())}"

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        theta = self.conditioner(z * self.mask, context)
        return self.where_changed(z, *self.monotone.generate(z, theta))

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        theta = self.conditioner(x * self.mask, context)
        return self.where_changed(x, *self.monotone.normalize(x, theta))

    def where_changed(self, before: Tensor, after: Tensor, slope: Tensor) -> ValueAndLogDet:
        slope = torch.where(self.mask, 0.0, slope)
        return torch.where(self.mask, before, after), slope.flatten(-self.event_dims).sum(-1)


def halves(features: int) -> tuple[int, int]:
    """⌊D/2⌋ and ⌈D/2⌉."""
    require(1, features=features)
    return features // 2, features - features // 2


def checkerboard(shape: Sequence[int], flip: bool = False) -> Tensor:
    """(C, H, W) of 0 and 1, neighbours never alike; the same in every channel."""
    channels, height, width = shape
    board = (torch.arange(height)[:, None] + torch.arange(width)) % 2
    return (board == int(flip)).expand(channels, height, width)


# --- Models -------------------------------------------------------------------------------------


class CouplingFlow(Flow):
    """L coupling layers of vectors that take turns.

    Args:
        layers: L.
        hidden: widths of every conditioner.
        permute: a frozen random permutation between layers, where D > 2; else the halves alternate alone.
        seed: of the permutations.

    Attributes:
        init_std: standard deviation of the conditioners' last weights before training; at 0 every layer is
            the identity then.
    """

    init_std = 0.0

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        layers: int = 8,
        hidden: Sequence[int] = (64, 64),
        permute: bool = False,
        seed: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, **training)
        require(1, layers=layers)
        stack: list[FlowLayer] = []
        for number in range(layers):
            if permute and number:
                stack.append(Permutation(self.event_dim, seed=seed + number))
            stack.append(self.coupling(flip=number % 2 == 1, hidden=hidden))
        self.stack = FlowStack(stack + self.final_layers())

    def monotone(self) -> Monotone:
        """A new map g."""
        raise NotImplementedError

    def coupling(self, flip: bool, hidden: Sequence[int]) -> Coupling:
        layer = Coupling.of_vectors(self.event_dim, self.monotone(), hidden, flip, self.context_features)
        self.reset_parameters(layer)
        return layer

    def reset_parameters(self, layer: Coupling) -> None:
        """Draw the last weights of a layer's conditioner, where they are not to be 0."""
        if self.init_std:
            nn.init.normal_(layer.conditioner[-1].weight, std=self.init_std)  # type: ignore[index]

    def final_layers(self) -> list[FlowLayer]:
        """Layers next to the data."""
        return []


class NICE(CouplingFlow):
    """Additive couplings, each of which keeps volumes, and one scaling at the end.

    Starts with small random shifts: where the data are symmetric, as a ring is, the mean of either coordinate
    given the other is 0, and from no shift at all training would never leave the linear model.
    """

    init_std = 0.1

    def monotone(self) -> Monotone:
        return Additive()

    def final_layers(self) -> list[FlowLayer]:
        return [Diagonal(self.event_dim)]


class RealNVP(CouplingFlow):
    """Affine couplings.

    Args:
        init_std: standard deviation of the conditioners' last weights before training. From 0, the identity,
            symmetric data, as eight Gaussians on a circle, are learned more slowly: see `lab bench flow`.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        layers: int = 8,
        hidden: Sequence[int] = (64, 64),
        permute: bool = False,
        seed: int = 0,
        init_std: float = 0.0,
        **training: Any,
    ) -> None:
        require(0, init_std=init_std)
        self.init_std = init_std
        super().__init__(event_shape, layers, hidden, permute, seed, **training)

    def monotone(self) -> Monotone:
        return Affine()


class NSF(CouplingFlow):
    """Neural spline flow: rational-quadratic couplings on [−B, B], and a scaling that brings data into it.

    Args:
        bins, bound: K and B.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        layers: int = 4,
        hidden: Sequence[int] = (64, 64),
        bins: int = 8,
        bound: float = 4.0,
        permute: bool = False,
        seed: int = 0,
        **training: Any,
    ) -> None:
        self._bins, self._bound = bins, bound
        super().__init__(event_shape, layers, hidden, permute, seed, **training)

    def monotone(self) -> Monotone:
        return RationalQuadratic(self._bins, self._bound)

    def final_layers(self) -> list[FlowLayer]:
        return [Diagonal(self.event_dim)]


class FlowPlusPlus(CouplingFlow):
    """Flow++: couplings by a mixture of logistics' distribution function, its logit, a scale and a shift.

    The closed form leads from data to noise, which training asks for; to sample it is solved. Flow++ adds
    attention to its conditioner; here it is the same network as everywhere else.

    Args:
        components: K.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        layers: int = 4,
        hidden: Sequence[int] = (64, 64),
        components: int = 4,
        permute: bool = False,
        seed: int = 0,
        **training: Any,
    ) -> None:
        require(1, components=components)
        self._components = components
        super().__init__(event_shape, layers, hidden, permute, seed, **training)

    def monotone(self) -> Monotone:
        return InverseMonotone(LogisticMixture(self._components))


class LinearFlow(Flow):
    """L linear layers in LU form: Gaussian, however many. A context scales and shifts before each."""

    def __init__(self, event_shape: Sequence[int] = (2,), layers: int = 3, **training: Any) -> None:
        super().__init__(event_shape, **training)
        require(1, layers=layers)
        stack: list[FlowLayer] = []
        for number in range(layers):
            if self.context_features:
                stack.append(ContextAffine(self.event_dim, self.context_features))
            stack.append(LU(self.event_dim, seed=number))
        self.stack = FlowStack(stack)
