"""The conditional table of a chain of pixels, a row a pixel and a column a context, and a picture read by it.

A context is the last k bits, spelled oldest first: "011" was followed by this pixel.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from modules.autoregressive.markov import MarkovChain

ORDERS = (1, 2, 3, 8)  # that ship, with a table for every pixel and with one for all
DATA = {"digits": 8, "MNIST": 28}  # pixels a side


def shipped(order: int, shared: bool, data: str) -> str:
    """The experiment of the chain of this order."""
    return f"chain{order if order > 1 else ''}{'-shared' if shared else ''}-{data.lower()}"


def spelled(context: int, length: int) -> str:
    """The last `length` bits of a context, oldest first."""
    return f"{context:0{length}b}" if length else ""


@dataclass(frozen=True)
class Table:
    """All numbers of a chain.

    Attributes:
        met: (R, 2^k) how often each context came in training; -1 where there are no k pixels before.
        ones: (R, 2^k) after how many of them the pixel had ink.
        p: (R, 2^k) probability of ink; NaN for a context that was never met.
        memory: k.
        smoothing: added to each count.
    """

    met: Tensor
    ones: Tensor
    p: Tensor
    memory: int
    smoothing: float

    @property
    def contexts(self) -> list[str]:
        return [spelled(c, self.memory) for c in range(self.met.shape[1])]

    @cached_property
    def missing(self) -> Tensor:
        """(R,) contexts of each row that could come, but never did in training."""
        return (self.met == 0).sum(1)

    @property
    def unmet(self) -> float:
        """The share of all contexts."""
        return float(self.missing.sum() / (self.met >= 0).sum())


def table(model: MarkovChain) -> Table:
    """Table of what the chain has counted: a row for every pixel, or, of one table for all, for each of the
    first k pixels and then for all others."""
    code = torch.arange(2**model.memory)
    pixels = torch.arange(model.memory + 1 if model.homogeneous else model.n)
    exists = code < 2 ** pixels.clamp(max=model.memory)[:, None]  # (R, 2^k): early pixels have fewer before
    counts = model.counts[torch.where(exists, model.first[pixels, None] + code, 0)]  # (R, 2^k, 2)
    met, ones = counts.sum(-1), counts[..., 1]
    p = (ones + model.smoothing) / (met + 2 * model.smoothing)
    p = torch.where(exists & (met > 0), p, torch.nan)
    return Table(met.where(exists, -1).long(), ones.long(), p, model.memory, model.smoothing)


def row_names(result: Table, n: int) -> list[str]:
    """Names of the rows of the table of n pixels."""
    rows = len(result.met)
    return [str(i) for i in range(rows)] if rows == n else [*map(str, range(rows - 1)), f"{rows - 1} on"]


def contexts(model: MarkovChain, x: Tensor, kept: tuple[int, int] | None = None) -> list[int]:
    """The column that is read for each pixel of x (n,).

    Args:
        kept: row and column that the reader asks for instead.
    """
    columns = (model.rows(x[None])[0] - model.first).tolist()
    last = model.memory if model.homogeneous else model.n
    return [
        kept[1] if kept is not None and min(i, last) == kept[0] else column
        for i, column in enumerate(columns)
    ]


def looked_up(result: Table, pixel: int, context: int) -> tuple[str, str]:
    """A caption and LaTeX for one cell of the table."""
    row, length = min(pixel, len(result.met) - 1), min(pixel, result.memory)
    bits, met, ones = spelled(context, length), int(result.met[row, context]), int(result.ones[row, context])
    after = f" after {bits}" if bits else ""
    given = rf" \mid {bits}" if bits else ""
    if met <= 0:
        return f"Pixel {pixel}{after}: never met in training.", rf"p(x_{{{pixel}}}=1{given})=\frac12"
    total = met + 2 * result.smoothing
    return (
        f"Pixel {pixel}{after}: ink follows {ones:,} times of {met:,}.",
        rf"p(x_{{{pixel}}}=1{given})=\frac{{{ones}+{result.smoothing:g}}}{{{met}+{2 * result.smoothing:g}}}"
        rf"={(ones + result.smoothing) / total:.4f}",
    )


def parents(n: int, memory: int, side: int) -> tuple[Tensor, Tensor]:
    """Columns and rows (n, k) of the k pixels before each of n; NaN where there are none."""
    before = torch.arange(n)[:, None] - torch.arange(1, memory + 1)
    inside = before >= 0
    return (before % side).float().where(inside, torch.nan), (before // side).float().where(inside, torch.nan)
