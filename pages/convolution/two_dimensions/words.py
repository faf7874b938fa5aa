"""What the page says of patches, of pixels, of the number of weights."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lab.lenses.units import signed
from pages.convolution.two_dimensions.cheaper import Kind

MOST = 9  # products that are written out


def number(value: float | Tensor) -> str:
    text = f"{float(value):.2f}"
    return "0.00" if text == "-0.00" else text


def plus(values: Sequence[float]) -> str:
    """Numbers added up, the first without a plus; of many the first four and the last."""
    words = [f"{'-' if number(v)[0] == '-' else '+'} {number(v).lstrip('-')}" for v in values]
    if len(words) > MOST:
        words = [*words[:4], r"+ \dots", words[-1]]
    text = " ".join(words)
    return text[2:] if text.startswith("+ ") else text.replace("- ", "-", 1)


def captions(row: int, rows: Tensor, columns: Tensor, outside: list[int], count: int) -> list[str]:
    """Of each output of a row: what it reads."""
    down = f"rows {int(rows[0])} to {int(rows[-1])}" if len(rows) > 1 else f"row {int(rows[0])}"
    texts = []
    for j, (places, gone) in enumerate(zip(columns.tolist(), outside, strict=True)):
        across = f"columns {places[0]} to {places[-1]}" if len(places) > 1 else f"column {places[0]}"
        zeros = f"; {gone} of {count} are zeros of the padding" if gone else ""
        texts.append(f"Row {row}, column {j} of the output reads {down}, {across} of the input{zeros}.")
    return texts


def equations(
    row: int, products: Tensor, sums: Tensor, before: Tensor, output: Tensor, bias: float, relu: bool
) -> list[str]:
    """Of each output of a row: the sum of its products (F, C, a, b), or what each channel adds (C, F)."""
    texts = []
    for j, own in enumerate(products):
        place = f"{{{row},{j}}}"
        if len(own) == 1:
            count = r"\sum_{m,n} \omega_{mn} x_{mn}"
            terms = plus([v for v in own.flatten().tolist() if number(v) != "0.00"] or [0.0])
        else:
            count, terms = r"s_R + s_G + s_B", plus(sums[:, j].tolist())
        inner = f"{terms} {signed(round(bias, 2))}" if bias else terms
        total = number(before[j])
        whole = rf"{count} + \beta" if bias else count
        if relu:
            texts.append(rf"h_{place} = \max(0,\, {whole}) = \max(0,\, {total}) = {number(output[j])}")
        else:
            texts.append(rf"h_{place} = {whole} = {inner} = {total}")
    return texts


def pixels(row: int, x: Tensor, y: Tensor) -> list[str]:
    """Of each pixel of a row: its channels before and after, (F, 3) and (F, C)."""
    return [
        f"Row {row}, column {j}: red, green, blue {', '.join(map(number, before))} become "
        f"{', '.join(map(number, after))}."
        for j, (before, after) in enumerate(zip(x.tolist(), y.tolist(), strict=True))
    ]


def mixing(matrix: Tensor, x: Tensor, before: Tensor, y: Tensor, bias: float, relu: bool) -> list[str]:
    """Of each pixel of a row: its first new channel, product by product, and the others."""
    texts = []
    for j, pixel in enumerate(x):
        names = matrix[0].tolist()
        terms = " + ".join(rf"({w:.3g}) \cdot {number(v)}" for w, v in zip(names, pixel, strict=True))
        inner = f"{terms} {signed(round(bias, 2))}" if bias else terms
        first = rf"\max(0,\, {inner})" if relu else inner
        others = "".join(rf", \quad y_{k} = {number(v)}" for k, v in enumerate(y[j, 1:], 1))
        texts.append(f"y_0 = {first} = {number(y[j, 0])}{others}")
    return texts


def weights_equation(kinds: Sequence[Kind], C: int, G: int, K: int) -> str:
    """How many weights each kind has."""
    formulas = {
        "full": "C^2K^2", "1×1": "C^2", "grouped": "C^2K^2/G", "depthwise": "CK^2", "rank one": "C(C+2K)",
        "depthwise, 1×1": "CK^2+C^2",
    }  # fmt: skip
    return r",\quad ".join(f"{formulas[kind.name]} = {kind.parameters}" for kind in kinds)


def channel_words(sums: Tensor) -> str:
    """Say how far the channels' sums (C, H, W) reach."""
    reach = sums.abs().flatten(1).amax(1)
    names = ("red", "green", "blue")
    return ", ".join(f"{name} up to {number(v)}" for name, v in zip(names, reach, strict=True))


def rank_words(rank: int, sides: torch.Size) -> str:
    """Say what the rank of a kernel saves."""
    a, b = sides
    if rank == 1 and min(a, b) > 1:
        return f"Its rank is one: a column of {a} and then a row of {b}, {a + b} products for {a * b}. "
    return f"Its rank is {rank}. " if rank else ""
