"""Normalisation with its axes said: who shares a mean and a variance.

    x̂ = (x − m) / √(v + ε),    y = γ_c x̂ + δ_c           γ, δ one pair a channel in every scheme

    batch     m, v per channel over batch and space, (B, H, W): what other examples are changes the answer
    ghost     the same within parts of the batch
    layer     per example over (C, H, W) ([UDL]), or per token over C ([BB], [LLM], transformers)
    group     per example and group of channels;  instance: per example and channel

Layer over (C, H, W) is one group, instance is C groups, batch of one example is instance, ghost of the
whole batch is batch. [UDL] 11.8 adds ε to the standard deviation, 11.10, [BB] and the libraries to the
variance under the root ("deviation" and "variance" below). [BB] normalises per (c, h, w) over the batch
alone, which is `dims=(0,)`, and its BatchNorm has no γ and δ; [LLM] prints a LayerNorm of (.1, 200, −150, .3)
that has no mean of 0: it is (−.1005, 1.5069, −1.3075, −.0989).

The backward pass of batch normalisation, with g = ∂L/∂y and n values for each channel:

    ∂δ = Σ g     ∂γ = Σ g x̂     ∂x = γ/√(v + ε) · (g − mean g − x̂ · mean(g x̂))

At test time m and v are frozen: population statistics of one pass over the training set ([UDL]), or
running averages ([BB]; torch's running variance is the unbiased one, its normaliser the biased).

Shapes: x (B, C, ...). References: [UDL] §11.4, figures 11.14 and 11.15, problem 11.5; [BB] 1.6; Ioffe &
Szegedy 2015, arXiv:1502.03167; Wu & He 2018, arXiv:1803.08494; Hoffer et al. 2017, arXiv:1705.08741 (ghost).
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Literal

import torch
from torch import Tensor, nn

from modules.base import require

Form = Literal["variance", "deviation"]


def normalize(x: Tensor, dims: Sequence[int], eps: float = 1e-5, form: Form = "variance") -> Tensor:
    """x̂ of the same shape: mean 0 and variance 1 over `dims`."""
    m, v = x.mean(tuple(dims), keepdim=True), x.var(tuple(dims), correction=0, keepdim=True)
    if form not in ("variance", "deviation"):
        raise ValueError(f"form is {form!r}: ε is added to the variance or to the deviation.")
    return (x - m) / ((v + eps).sqrt() if form == "variance" else v.sqrt() + eps)


def scale_shift(x: Tensor, gamma: Tensor | None = None, delta: Tensor | None = None) -> Tensor:
    """γ_c x + δ_c, one of each per channel (C,)."""
    shape = (-1, *[1] * (x.ndim - 2))
    x = x if gamma is None else gamma.reshape(shape) * x
    return x if delta is None else x + delta.reshape(shape)


def batch_norm(x: Tensor, eps: float = 1e-5, form: Form = "variance") -> Tensor:
    """Per channel over batch and space."""
    return normalize(x, (0, *range(2, x.ndim)), eps, form)


def group_norm(x: Tensor, groups: int, eps: float = 1e-5) -> Tensor:
    """Per example and group of channels; 1 group is LayerNorm of an example, C are InstanceNorm."""
    if x.shape[1] % groups:
        raise ValueError(f"{x.shape[1]} channels don't divide by {groups} groups.")
    parts = x.unflatten(1, (groups, -1))  # (B, C, ...) -> (B, G, C/G, ...)
    return normalize(parts, range(2, parts.ndim), eps).flatten(1, 2)


def layer_norm(x: Tensor, over: Literal["example", "channels"] = "example", eps: float = 1e-5) -> Tensor:
    """Per example over channels and space, or per example and position over channels."""
    if over not in ("example", "channels"):
        raise ValueError(f"over is {over!r}: give example or channels.")
    return normalize(x, range(1, x.ndim) if over == "example" else (1,), eps)


def instance_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Per example and channel over space."""
    return normalize(x, range(2, x.ndim), eps)


def ghost_norm(x: Tensor, size: int, eps: float = 1e-5) -> Tensor:
    """Batch normalisation of parts of `size` examples each; the last part has the rest."""
    require(1, size=size)
    return torch.cat([batch_norm(part, eps) for part in x.split(size)])


def batch_norm_backward(
    g: Tensor, x: Tensor, gamma: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """∂L/∂x (B, C, ...), ∂L/∂γ (C,) and ∂L/∂δ (C,) of batch normalisation, given g = ∂L/∂y."""
    dims = (0, *range(2, x.ndim))
    x_hat = batch_norm(x, eps)
    deviation = (x.var(dims, correction=0, keepdim=True) + eps).sqrt()
    inner = g - g.mean(dims, keepdim=True) - x_hat * (g * x_hat).mean(dims, keepdim=True)
    return scale_shift(inner / deviation, gamma), (g * x_hat).sum(dims), g.sum(dims)


class GhostNorm(nn.BatchNorm2d):
    """Batch normalisation of parts of the batch in training; running averages over all parts for the test."""

    def __init__(self, channels: int, size: int) -> None:
        require(1, size=size)
        super().__init__(channels)
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        return torch.cat([super(GhostNorm, self).forward(part) for part in x.split(self.size)])


@torch.no_grad()
def freeze_statistics(model: nn.Module, batches: Iterable[Tensor]) -> nn.Module:
    """The model with the mean and the (biased) variance of every batch norm over all `batches`, in one pass.

    Each batch goes through as in training, normalised by itself; with the whole training set as one batch
    the frozen statistics are those of the formula.

    Raises:
        ValueError: no batch, or no batch normalisation.
    """
    model = deepcopy(model).train()
    norms = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    sums: dict[nn.Module, Tensor] = {}  # count, Σx, Σx² of each, (2, C) and a count per channel: (3, C)

    def record(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        x = inputs[0].double()
        dims = (0, *range(2, x.ndim))
        terms = torch.stack([torch.ones_like(x).sum(dims), x.sum(dims), x.square().sum(dims)])
        sums[norm] = sums.get(norm, 0) + terms

    handles = [norm.register_forward_pre_hook(record) for norm in norms]
    for batch in batches:
        model(batch)
    for handle in handles:
        handle.remove()
    if not sums:
        raise ValueError("Nothing to freeze: give a model with batch normalisation and at least one batch.")
    for norm in norms:
        count, total, squares = sums[norm]
        assert norm.running_mean is not None and norm.running_var is not None
        norm.running_mean.copy_(total / count)
        norm.running_var.copy_((squares / count - (total / count).square()).clamp(min=0))
    return model.eval()


@torch.no_grad()
def fold(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> nn.Conv2d:
    """One convolution that does what the two do at test: ω γ/√(v+ε), (β − m) γ/√(v+ε) + δ."""
    assert norm.running_mean is not None and norm.running_var is not None
    folded = deepcopy(convolution)
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()  # (C,)
    bias = torch.zeros_like(norm.running_mean) if convolution.bias is None else convolution.bias
    folded.weight.mul_(scale[:, None, None, None])
    folded.bias = nn.Parameter((bias - norm.running_mean) * scale + norm.bias)
    return folded
