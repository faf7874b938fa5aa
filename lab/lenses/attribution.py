"""Attribution: what each input has to do with the logit of a class, or its difference from another's.

    S(x) = f_c(x) − f_d(x), or f_c(x) alone

    gradient              ∂S/∂x_i
    gradient × input      x_i ∂S/∂x_i
    integrated gradients  (x_i − x'_i) ∫₀¹ ∂S/∂x_i (x' + α(x − x')) dα,      Σ_i = S(x) − S(x')
    occlusion             S(x) − S(x with the window around i at the baseline)
    Grad-CAM              ReLU[Σ_k w_k A_k], w_k the mean of ∂S/∂A_k over the map A_k of the last convolution

A map has a value for each position of a signal or a picture: channels are summed.

References: Simonyan et al. 2014, arXiv:1312.6034 (gradient); Shrikumar et al. 2017, arXiv:1704.02685 (times
input); Sundararajan et al. 2017, arXiv:1703.01365 (integrated gradients); Zeiler & Fergus 2014,
arXiv:1311.2901 (occlusion); Selvaraju et al. 2017, arXiv:1610.02391 (Grad-CAM); Samek et al. 2017,
arXiv:1509.06321 (deletion); Adebayo et al. 2018, arXiv:1810.03292 (random weights).
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import TypeVar

import torch
from scipy.stats import spearmanr
from torch import Tensor, nn
from torch.nn import functional as F

from lab.lenses.receptive_field import POINTWISE, layers_of
from modules.base import require

M = TypeVar("M", bound=nn.Module)
Score = Callable[[Tensor], Tensor]  # (B, C, positions...) -> (B,), each of its own example
WEIGHTED = (nn.Conv1d, nn.Conv2d, nn.Linear)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)


def score(model: Callable[[Tensor], Tensor], chosen: int, against: int | None = None) -> Score:
    """Logit of a class, or its difference from that of another, of a model's logits (B, K)."""

    def of(x: Tensor) -> Tensor:
        logits = model(x)
        return logits[:, chosen] if against is None else logits[:, chosen] - logits[:, against]

    return of


def slopes(S: Score, x: Tensor) -> Tensor:
    """∂S/∂x of each example of a batch, of the shape of x; 0 where nothing leads to an input."""
    with torch.inference_mode(False), torch.enable_grad():
        x = x.detach().clone().requires_grad_()
        total = S(x).sum()
        if not total.requires_grad:
            return torch.zeros_like(x)
        (gradient,) = torch.autograd.grad(total, x, allow_unused=True)
    return torch.zeros_like(x) if gradient is None else gradient


def gradient(S: Score, x: Tensor) -> Tensor:
    """∂S/∂x at x (C, positions...): (positions...)."""
    return slopes(S, x[None])[0].sum(0)


def gradient_times_input(S: Score, x: Tensor) -> Tensor:
    """Sum over channels of x ∂S/∂x, (positions...)."""
    return (x * slopes(S, x[None])[0]).sum(0)


@dataclass(frozen=True)
class Path:
    """The straight way from a baseline x' to x in m steps, the gradient taken in the middle of each.

    Attributes:
        alphas: (m + 1,), from 0 to 1. points: (m + 1, C, positions...), x' + α(x − x').
        gradients: (m, positions...), at the middle of each step.
        sums: (m + 1, positions...), attributions so far; the last are the integrated gradients.
        scores: (m + 1,), S at the points.
    """

    alphas: Tensor
    points: Tensor
    gradients: Tensor
    sums: Tensor
    scores: Tensor

    @property
    def reached(self) -> Tensor:
        """Σ_i of the attributions so far, (m + 1,)."""
        return self.sums.flatten(1).sum(1)

    @property
    def error(self) -> float:
        """|Σ_i − (S(x) − S(x'))|: how far completeness is missed."""
        return float((self.reached[-1] - (self.scores[-1] - self.scores[0])).abs())


def integrated(S: Score, x: Tensor, baseline: float | Tensor = 0.0, steps: int = 32) -> Path:
    """Gradients along the way from a baseline (C, positions...) or one value everywhere to x, summed up.

    Args:
        steps: m, by the midpoint rule.
    """
    require(1, steps=steps)
    start = torch.full_like(x, baseline) if isinstance(baseline, float | int) else baseline
    alphas = torch.linspace(0, 1, steps + 1, dtype=x.dtype)
    middle = (alphas[1:] + alphas[:-1]) / 2

    def at(along: Tensor) -> Tensor:
        return start + along.view(-1, *[1] * x.ndim) * (x - start)  # (m, C, positions...)

    gradients = slopes(S, at(middle))
    parts = ((x - start) * gradients).sum(1) / steps  # (m, positions...), channels summed
    sums = torch.cat([torch.zeros_like(parts[:1]), parts.cumsum(0)])
    points = at(alphas)
    with torch.no_grad():
        return Path(alphas, points, gradients.sum(1), sums, S(points))


def around(shape: tuple[int, ...], size: int) -> Tensor:
    """Windows of `size` positions a side around each of N positions, cut at the rim: (N, positions...) bool.

    Raises:
        ValueError: an even window has no middle.
    """
    require(1, size=size)
    if size % 2 == 0:
        raise ValueError(f"A window of {size} has no position in its middle: use an odd size.")
    places = torch.stack(torch.meshgrid(*map(torch.arange, shape), indexing="ij"), -1).flatten(0, -2)
    far = (places[:, None] - places).abs().amax(-1)  # (N, axes) -> (N, N)
    return (far <= size // 2).view(-1, *shape)


@torch.no_grad()
def occlusion(S: Score, x: Tensor, size: int = 5, value: float = 0.0) -> Tensor:
    """What S falls by when the window around a position is set to `value`: (positions...), in one batch."""
    hidden = around(tuple(x.shape[1:]), size)[:, None]  # (N, 1, positions...)
    without = x.masked_fill(hidden, value)  # (N, C, positions...)
    return (S(x[None]) - S(without)).view(x.shape[1:])


def grad_cam(model: nn.Module, x: Tensor, chosen: int, against: int | None = None) -> Tensor:
    """Grad-CAM on the maps of a chain's last convolution, stretched to the positions of x (C, positions...).

    Raises:
        ValueError: the model is no chain of layers, or has no convolution.
    """
    layers = layers_of(model)
    convolutions = [i for i, layer in enumerate(layers) if isinstance(layer, nn.Conv1d | nn.Conv2d)]
    if not convolutions:
        raise ValueError("Grad-CAM needs maps: a chain of layers with a convolution.")
    cut = convolutions[-1] + 1
    while cut < len(layers) and isinstance(layers[cut], POINTWISE):  # its norm and its ReLU
        cut += 1
    with torch.no_grad():
        maps = nn.Sequential(*layers[:cut])(x[None])  # (1, K, positions...)
    weights = slopes(score(nn.Sequential(*layers[cut:]), chosen, against), maps).flatten(2).mean(2)  # (1, K)
    seen = (weights.view(*weights.shape, *[1] * (x.ndim - 1)) * maps).sum(1, keepdim=True).relu()
    mode = "linear" if x.ndim == 2 else "bilinear"
    return F.interpolate(seen, size=x.shape[1:], mode=mode, align_corners=False)[0, 0]


# --- Is such a map right? ---------------------------------------------------------------------------


@torch.no_grad()
def deleted(S: Score, x: Tensor, order: Tensor, counts: Tensor, value: float = 0.0) -> tuple[Tensor, Tensor]:
    """Inputs of which the first positions of an order are set to `value`, (M, C, positions...), and S (M,).

    Args:
        order: (N,), every position once. counts: (M,), how many are gone.
    """
    rank = torch.empty_like(order).scatter_(0, order, torch.arange(len(order))).view(x.shape[1:])
    gone = rank < counts.view(-1, *[1] * (x.ndim))  # (M, 1, positions...)
    inputs = x.masked_fill(gone, value)
    return inputs, S(inputs)


def falling(values: Tensor) -> Tensor:
    """Positions (N,) of a map (positions...), the largest first; equal ones in their order."""
    return values.flatten().argsort(descending=True, stable=True)


def randomized(model: M, count: int, seed: int) -> M:
    """A copy whose last `count` layers of weights are drawn anew (He), norms behind them as at birth.

    Layer by layer from the same seed: of one more layer, those above it stay as they were drawn.
    """
    require(0, count=count)
    copy = deepcopy(model)
    layers = layers_of(copy)
    generator = torch.Generator().manual_seed(seed)
    for layer in reversed(layers):
        if count and isinstance(layer, WEIGHTED):
            sd = (2 / layer.weight[0].numel()) ** 0.5
            drawn = torch.randn(layer.weight.shape, generator=generator, dtype=layer.weight.dtype)
            layer.weight.data.copy_(sd * drawn)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
            count -= 1
        elif count and isinstance(layer, NORMS):
            layer.reset_parameters()
    return copy


def rank_correlation(a: Tensor, b: Tensor) -> float:
    """Spearman's correlation of two maps, ties at their mean rank; 0 where one of them is constant."""
    if min(int(values.unique().numel()) for values in (a, b)) < 2:
        return 0.0
    return float(spearmanr(a.flatten().numpy(), b.flatten().numpy()).statistic)
