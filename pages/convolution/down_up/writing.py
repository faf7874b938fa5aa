"""A transposed convolution along one axis: every input writes K outputs, s apart from those of the next.

References: [UDL] §10.4.2, figure 10.13; Odena et al. 2016.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from modules.convolution.convolution import transposed_convolve, transposed_size
from modules.convolution.matrices import convolution_matrix
from pages.convolution.down_up.words import listed, number


@dataclass(frozen=True)
class Written:
    """
    Attributes:
        x: (n,). taps: (K,). places: (n, K), the output that each product goes to; outside of 0 … N − 1 it is
            cropped. products: (n, K).
        sums: (n, N), the outputs after each input. counts: (N,), how often each output is written.
        matrix: (n, N), A of the strided convolution.
    """

    x: Tensor
    taps: Tensor
    places: Tensor
    products: Tensor
    sums: Tensor
    counts: Tensor
    matrix: Tensor
    stride: int
    padding: int
    more: int


def written(signal: Tensor, taps: Tensor, size: int, padding: int, more: int) -> Written:
    """A transposed convolution, input by input.

    Raises:
        UserError: the settings give no output.
    """
    n, K = len(signal), len(taps)
    try:
        N = transposed_size(n, K, size, padding, more)
    except ValueError as error:
        raise UserError(str(error)) from None

    def along(values: Tensor, weights: Tensor) -> Tensor:
        return transposed_convolve(values[:, None], weights[None, None], None, size, padding, more)[:, 0]

    so_far = torch.ones(n, n, dtype=torch.float64).tril() * signal  # row i has the inputs up to i
    one = torch.ones(1, n, dtype=torch.float64)
    return Written(
        signal, taps, size * torch.arange(n)[:, None] + torch.arange(K) - padding, signal[:, None] * taps,
        along(so_far, taps), along(one, torch.ones_like(taps))[0],
        convolution_matrix(taps[None, None], [N], size, padding), size, padding, more,
    )  # fmt: skip


def captions(one: Written) -> list[str]:
    """A sentence an input."""
    results, N = [], one.sums.shape[1]
    for i, places in enumerate(one.places.tolist()):
        inside = [o for o in places if 0 <= o < N]
        cropped = len(places) - len(inside)
        to = (
            f"outputs {inside[0]} to {inside[-1]}"
            if len(inside) > 1
            else f"output {inside[0]}"
            if inside
            else "none"
        )
        tail = f"; {cropped} of {len(places)} products are cropped" if cropped else ""
        results.append(f"Input {i} is multiplied by the kernel and added to {to}{tail}.")
    return results


def equations(one: Written) -> list[str]:
    """What an input writes, and where the first of it goes."""
    return [
        rf"x_{{{i}}}\,\omega = {number(one.x[i])}\cdot({listed(one.taps, ', ')}) = "
        rf"({listed(one.products[i], ', ')}),\qquad "
        rf"\text{{from output}}\ {one.stride}\cdot {i} - {one.padding} = {int(one.places[i, 0])}\ \text{{on}}"
        for i in range(len(one.x))
    ]


def size_equation(one: Written) -> str:
    n, K, N = len(one.x), len(one.taps), one.sums.shape[1]
    return (
        rf"n_{{out}} = (n-1)s - 2p + K + \mathrm{{op}} = "
        rf"{n - 1}\cdot {one.stride} - 2\cdot {one.padding} + {K} + {one.more} = {N}"
    )


def inner(counts: Tensor, taps: int) -> list[int]:
    """How often outputs away from the border are written, each number once."""
    middle = counts[taps - 1 : len(counts) - taps + 1] if len(counts) > 2 * taps - 2 else counts
    return sorted({round(v) for v in middle.tolist()})
