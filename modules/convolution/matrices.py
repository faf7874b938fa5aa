"""Convolution as a structured matrix: banded, with tied entries.

    h = A x,    A = Σ_taps W_{k,l} ⊗ E_k ⊗ E_l,    (E_k)_{i, s·i + d·k − p} = 1, else 0

W_{k,l} (C_o, C_i) are the weights of one tap. In one dimension A is Toeplitz for s = 1 and block-Toeplitz
for several channels; in two it is doubly banded; a stride keeps every s-th row, A_s = S A_1; groups keep
the blocks on the diagonal. Rows are outputs and columns inputs, vectors are columns: A is (C_o n_out,
C_i n). ([UDL] problems 10.6 and 10.7 print the shapes the other way round, and 10.15 says that a kernel of
2 with stride 2 is a kernel of 1 and then sampling: it is S times the same kernel with stride 1.)

The transposed convolution with the same settings is Aᵀ.

References: [UDL] figures 10.4 and 10.13, problems 10.5–10.7, 10.13, 10.15; [BB] 1.1.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import product

import torch
from torch import Tensor

from modules.convolution.convolution import Sizes, at, output_size, per_axis


def tap_matrix(n: int, tap: int, kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1) -> Tensor:
    """E_k (n_out, n): which input the tap k reads for each output; a row of zeros where it reads padding."""
    outputs = torch.arange(output_size(n, kernel, stride, padding, dilation))
    read = stride * outputs + dilation * tap - padding  # (n_out,)
    return (read[:, None] == torch.arange(n)).double()


def sampling_matrix(n: int, stride: int) -> Tensor:
    """S (⌈n/s⌉, n): keeps every s-th position, from the first on."""
    return tap_matrix(n, 0, 1, stride)


def dense_weight(weight: Tensor, groups: int) -> Tensor:
    """Weights (C_o, C_i/G, ...) as those of one group (C_o, C_i, ...): zero between different groups."""
    parts = weight.unflatten(0, (groups, -1))  # (C_o, ...) -> (G, C_o/G, C_i/G, ...)
    full = parts.new_zeros(groups, parts.shape[1], groups, *parts.shape[2:])
    full[torch.arange(groups), :, torch.arange(groups)] = parts
    return full.flatten(2, 3).flatten(0, 1)  # (G, C_o/G, G, C_i/G, ...) -> (C_o, C_i, ...)


def convolution_matrix(
    weight: Tensor,
    sizes: Sequence[int],
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """A (C_o n_out, C_i n) of the convolution of an input with these sizes of its axes.

    Channels come first: column c·n + j is position j of channel c, as `flatten` puts them.
    """
    kernel, axes = weight.shape[2:], weight.ndim - 2
    s, p, d = (per_axis(values, axes) for values in (stride, padding, dilation))
    weight = dense_weight(weight, groups)
    terms = []
    for taps in product(*map(range, kernel)):
        reads = [tap_matrix(sizes[a], k, kernel[a], s[a], p[a], d[a]).to(weight) for a, k in enumerate(taps)]
        terms.append(reduce(torch.kron, reads, weight[at(taps)].contiguous()))
    return torch.stack(terms).sum(0)
