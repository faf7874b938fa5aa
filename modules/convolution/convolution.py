"""Convolution as the sum that it is, in one dimension and in more; and its transpose, which writes.

    h_{o,i} = β_o + Σ_c Σ_{k<K} ω_{o,c,k} x_{c, s·i + d·k − p}        x = 0 outside, 0-based
    n_out   = ⌊(n + 2p − d(K−1) − 1) / s⌋ + 1

    y_{o, s·i + d·k − p} += ω_{c,o,k} x_{c,i}                        transposed: every input writes K outputs
    n_out   = (n − 1)s − 2p + d(K−1) + op + 1

Both are cross-correlations in the texts and the libraries: the kernel isn't flipped (numpy's `convolve`
flips it; the two are equal for symmetric kernels alone). i and k are pairs for images, triples for
volumes: one loop over the taps serves all of them. The transpose is the gradient of the convolution with
respect to its input, and no inverse: with s = 1 it is an ordinary convolution with the kernel flipped.
[UDL] §10.4.2 asks for "twice as many outputs" of K = 3, s = 2: that takes op = 1, without it 2n − 1.

Shapes: x (B, C_i, n, ...), weight (C_o, C_i/G, K, ...), transposed (C_i, C_o/G, K, ...), G groups.
References: [UDL] §10.2–10.4, problems 10.1–10.4, 10.8, 10.14; [BB] 1.1.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Sizes = int | Sequence[int]  # one for all axes, or one for each


def per_axis(values: Sizes, axes: int) -> list[int]:
    """One value for each axis."""
    result = [values] * axes if isinstance(values, int) else list(values)
    if len(result) != axes:
        raise ValueError(f"{values} has {len(result)} entries for {axes} axes: give one number or {axes}.")
    return result


def at(places: Iterable[int | slice]) -> tuple[Any, ...]:
    """Index of a place or a part of the grid, which are the last axes."""
    return (..., *places)


def output_size(n: int, kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1) -> int:
    """Positions n_out of a convolution along one axis.

    Raises:
        ValueError: the kernel is wider than the padded input.
    """
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    if room < 0:
        raise ValueError(
            f"A kernel of {kernel} with dilation {dilation} spans {dilation * (kernel - 1) + 1} positions, "
            f"the padded input has {n + 2 * padding}: pad more or take a smaller kernel."
        )
    return room // stride + 1


def transposed_size(
    n: int, kernel: int, stride: int = 1, padding: int = 0, output_padding: int = 0, dilation: int = 1
) -> int:
    """Positions n_out of a transposed convolution along one axis.

    Raises:
        ValueError: the output padding repeats more than a stride or a dilation, or nothing is left.
    """
    if output_padding >= max(stride, dilation):
        raise ValueError(
            f"output_padding is {output_padding}: it must be below the stride {stride} or the dilation."
        )
    result = (n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
    if result < 1:
        raise ValueError(f"A padding of {padding} leaves nothing of the output: take a smaller one.")
    return result


def grouped(x: Tensor, weight: Tensor, groups: int, c_in: int) -> tuple[Tensor, Tensor]:
    """x (B, C, ...) -> (B, G, C/G, ...) and weight (A, ...) -> (G, A/G, ...).

    Raises:
        ValueError: the channels don't divide by the groups, or kernel and input have different channels.
    """
    if x.shape[1] != c_in:
        raise ValueError(f"The input has {x.shape[1]} channels, the kernel reads {c_in}.")
    if x.shape[1] % groups or weight.shape[0] % groups:
        raise ValueError(f"{x.shape[1]} and {weight.shape[0]} channels don't divide by {groups} groups.")
    return x.unflatten(1, (groups, -1)), weight.unflatten(0, (groups, -1))


def convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """h (B, C_o, n_out, ...) of x (B, C_i, n, ...), tap by tap."""
    kernel, axes = weight.shape[2:], weight.ndim - 2
    s, p, d = (per_axis(values, axes) for values in (stride, padding, dilation))
    sizes = [output_size(x.shape[2 + a], kernel[a], s[a], p[a], d[a]) for a in range(axes)]
    x, weight = grouped(x, weight, groups, weight.shape[1] * groups)
    x = F.pad(x, [side for a in reversed(range(axes)) for side in (p[a], p[a])])  # zeros outside
    h = x.new_zeros(len(x), groups, weight.shape[1], *sizes)
    for taps in product(*map(range, kernel)):
        starts = [d[a] * taps[a] for a in range(axes)]  # s·i + d·k in the padded input
        seen = x[at(slice(b, b + s[a] * sizes[a], s[a]) for a, b in enumerate(starts))]
        h = h + torch.einsum("goc,bgc...->bgo...", weight[at(taps)], seen)
    return with_bias(h.flatten(1, 2), bias)  # (B, G, C_o/G, ...) -> (B, C_o, ...)


def transposed_convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """y (B, C_o, n_out, ...) of x (B, C_i, n, ...): every tap adds all inputs, s apart, to the output."""
    kernel, axes = weight.shape[2:], weight.ndim - 2
    s, p, op, d = (per_axis(values, axes) for values in (stride, padding, output_padding, dilation))
    n = x.shape[2:]
    sizes = [transposed_size(n[a], kernel[a], s[a], p[a], op[a], d[a]) for a in range(axes)]
    x, weight = grouped(x, weight, groups, weight.shape[0])
    y = x.new_zeros(len(x), groups, weight.shape[2], *(size + 2 * p[a] for a, size in enumerate(sizes)))
    for taps in product(*map(range, kernel)):
        starts = [d[a] * taps[a] for a in range(axes)]
        written = at(slice(b, b + s[a] * (n[a] - 1) + 1, s[a]) for a, b in enumerate(starts))
        y[written] += torch.einsum("gco,bgc...->bgo...", weight[at(taps)], x)
    y = y[at(slice(p[a], p[a] + sizes[a]) for a in range(axes))]  # what padding would read is cropped
    return with_bias(y.flatten(1, 2), bias)


def with_bias(h: Tensor, bias: Tensor | None) -> Tensor:
    """h (B, C, ...) plus one bias a channel (C,)."""
    return h if bias is None else h + bias.reshape(-1, *[1] * (h.ndim - 2))
