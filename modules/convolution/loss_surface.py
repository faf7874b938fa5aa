r"""Slices of the loss around trained weights, along two directions in the space of parameters.

    L(θ* + α d₁ + β d₂)        d of each filter Ω_i:  normal draws times ‖Ω_i‖/‖d_i‖        ("filter")
                               d of all weights:      normal draws times ‖Ω‖/‖d‖            ("raw")

A filter is a row of a weight's first axis: what makes one channel, or one unit. Biases and the parameters of
norms stay where they are. A ReLU network does not change where a layer is multiplied by c and the next one
divided by it; raw directions stay about as long in each layer and show another picture, filter-normalised
ones grow and shrink with the filters. [UDL] §11.6 has the figure; the scale of filters is Li et al.'s.

The curvature along d is dᵀHd at θ*, by a product of the Hessian with a vector. The training path θ_0 … θ* is
nearly orthogonal to random directions: it is shown on the plane of the two main ones of θ_f − θ*.

Shapes: a direction has the shapes of the parameters, by name; a slice (A, B); a path F states of P numbers.

References: [UDL] §11.6, figure 11.13; Li et al. 2018, arXiv:1712.09913.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Literal, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, vmap

from modules.base import require, require_one_of

M = TypeVar("M", bound=nn.Module)
Kind = Literal["filter", "raw"]
Direction = Mapping[str, Tensor]


def values(model: nn.Module) -> dict[str, Tensor]:
    """The parameters by name, without their graph."""
    return {name: p.detach() for name, p in model.named_parameters()}


def direction(model: nn.Module, kind: Kind = "filter", seed: int = 0) -> dict[str, Tensor]:
    """A random direction from the weights of a model; 0 in parameters of fewer than two axes.

    Args:
        kind: of "filter" each filter of it is as long as the model's; of "raw" only the whole is.
    """
    require_one_of(Kind, kind=kind)
    generator = torch.Generator().manual_seed(seed)
    weights = values(model)
    drawn = {name: torch.randn(w.shape, generator=generator).to(w) if w.ndim > 1 else torch.zeros_like(w)
             for name, w in weights.items()}  # fmt: skip
    if kind == "raw":
        lengths = [torch.stack([v[n].norm() for n, w in weights.items() if w.ndim > 1]).norm()
                   for v in (weights, drawn)]  # fmt: skip
        return {name: d * (lengths[0] / lengths[1]) for name, d in drawn.items()}
    for name, w in weights.items():
        if w.ndim > 1:
            own, other = (v.flatten(1).norm(dim=1) for v in (w, drawn[name]))  # (C_out,)
            drawn[name] = drawn[name] * (own / other).view(-1, *[1] * (w.ndim - 1))
    return drawn


def loss_at(model: nn.Module, x: Tensor, y: Tensor, parameters: Direction) -> Tensor:
    """Cross-entropy of a model with other parameters, a mean over x (N, …), y (N,).

    Raises:
        ValueError: the model trains: its norms would take each batch into their averages.
    """
    if model.training:
        raise ValueError("model is in training mode: a slice needs one loss for each place, so call eval().")
    return F.cross_entropy(functional_call(model, dict(parameters), (x,)), y)


def loss_slice(
    model: nn.Module, x: Tensor, y: Tensor, first: Direction, second: Direction,
    alphas: Tensor, betas: Tensor, chunk: int = 64,
) -> Tensor:  # fmt: skip
    """L(θ* + α d₁ + β d₂) of all pairs, (A, B).

    Args:
        alphas: (A,). betas: (B,).
        chunk: places that are computed at once, which changes memory and time alone.
    """
    require(1, chunk=chunk)
    centre = values(model)

    def loss(alpha: Tensor, beta: Tensor) -> Tensor:
        moved = {name: p + alpha * first[name] + beta * second[name] for name, p in centre.items()}
        return loss_at(model, x, y, moved)

    places = torch.cartesian_prod(alphas, betas)  # (A·B, 2)
    with torch.no_grad():
        losses: Tensor = vmap(loss, chunk_size=chunk)(places[:, 0], places[:, 1])
    return losses.view(len(alphas), len(betas))


def curvature(model: nn.Module, x: Tensor, y: Tensor, along: Direction) -> float:
    """dᵀHd: second derivative of the loss along a direction, at the model's own parameters."""
    centre = values(model)
    slope = grad(lambda parameters: loss_at(model, x, y, parameters))
    product: Direction = jvp(slope, (centre,), (dict(along),))[1]
    return float(sum((product[name] * d).sum() for name, d in along.items()))


def bends_down(losses: Tensor) -> Tensor:
    """Where a slice (A, B) of evenly spaced places is not convex, (A − 2, B − 2) bool: second differences
    have a negative eigenvalue."""
    for size in losses.shape:
        require(3, losses=size)
    inner = losses[1:-1, 1:-1]
    a = losses[2:, 1:-1] - 2 * inner + losses[:-2, 1:-1]
    b = losses[1:-1, 2:] - 2 * inner + losses[1:-1, :-2]
    c = (losses[2:, 2:] - losses[2:, :-2] - losses[:-2, 2:] + losses[:-2, :-2]) / 4
    return (a < 0) | (b < 0) | (a * b < c * c)


@torch.no_grad()
def rescaled(model: M, layer: str, following: str, factor: float) -> M:
    """A copy, a layer's weight and bias multiplied and the next layer's weight divided by a factor.

    Of layers with only a ReLU between them, and a positive factor, it is the same function.

    Args:
        layer, following: names of modules.
    """
    if factor <= 0:
        raise ValueError(f"factor is {factor!r}: a ReLU lets positive factors through alone.")
    copy = deepcopy(model)
    for parameter in copy.get_submodule(layer).parameters():
        parameter.mul_(factor)
    weight = copy.get_submodule(following).weight
    assert isinstance(weight, Tensor)
    weight.div_(factor)
    return copy


class Plane(NamedTuple):
    """Attributes:
    first, second: directions of length 1, orthogonal.
    places: (F, 2), the path on them; the last is (0, 0).
    share: of the path's squared distances from its end, how much lies on the plane.
    """

    first: dict[str, Tensor]
    second: dict[str, Tensor]
    places: Tensor
    share: float


def path_plane(states: Sequence[Direction]) -> Plane:
    """The plane through the end of a training path that lies nearest to its states, at least three."""
    if len(states) < 3:
        raise ValueError(f"states has {len(states)}: three states make a plane.")
    rows = torch.stack([torch.cat([p.flatten() for p in state.values()]) for state in states])
    left = rows - rows[-1]  # (F, P)
    _, sizes, axes = torch.linalg.svd(left, full_matrices=False)
    shapes = {name: p.shape for name, p in states[-1].items()}
    parts = [axis.split([s.numel() for s in shapes.values()]) for axis in axes[:2]]
    first, second = ({n: v.view(s) for (n, s), v in zip(shapes.items(), p, strict=True)} for p in parts)
    share = float(sizes[:2].square().sum() / sizes.square().sum())
    return Plane(first, second, left @ axes[:2].T, share)
