"""Counted models of the small digits, and what a picture of a Markov chain remembers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import cells
from lab.lenses.neighbours import Offsets, counted, nll_on_test
from lab.lenses.typed import is_square
from modules.autoregressive.bayesnet import TEMPLATES, NeighbourNet
from modules.autoregressive.markov import (
    check_transition,
    distribution_after,
    history_distribution,
    stationary,
)
from modules.autoregressive.tables import ConditionalTables

REACH = 3  # rows up and columns to each side that can be painted
MOST = 12  # neighbours: each doubles the numbers of a table
LADDER = ("none", "left", "left-up", "neighbours4", "neighbours12")  # that a template is compared with


# --- Pictures ------------------------------------------------------------------------------------


def typed_offsets(text: str) -> Offsets:
    """ "0 -1; -1 0": rows down and columns right of each neighbour.

    Raises:
        ValueError: no two whole numbers, no earlier pixel, too far, or too many.
    """
    results: list[tuple[int, int]] = []
    for part in filter(str.strip, text.split(";")):
        try:
            row, column = (int(number) for number in part.replace(",", " ").split())
        except ValueError:
            raise ValueError(
                f"{part.strip()!r} is no neighbour: give two whole numbers, rows down and columns right."
            ) from None
        if not (-REACH <= row <= 0 and abs(column) <= REACH) or (row == 0 and column >= 0):
            raise ValueError(
                f"neighbour {row} {column}: go up to {REACH} rows up and {REACH} columns aside, or left."
            )
        if (row, column) not in results:
            results.append((row, column))
    if len(results) > MOST:
        raise ValueError(f"{len(results)} neighbours need 2^{len(results)} numbers: take at most {MOST}.")
    return tuple(results)


def spelled(offsets: Sequence[Sequence[int]]) -> str:
    return "; ".join(f"{row} {column}" for row, column in offsets)


def painted(offsets: Offsets) -> Tensor:
    """(REACH + 1, 2 REACH + 1): 1 a neighbour, -1 the pixel itself, 0 earlier, NaN later pixels."""
    grid = torch.zeros(REACH + 1, 2 * REACH + 1)
    grid[REACH, REACH:] = torch.nan
    grid[REACH, REACH] = -1
    for row, column in offsets:
        grid[REACH + row, REACH + column] = 1
    return grid


def toggled(offsets: Offsets, row: int, column: int) -> Offsets:
    """`offsets` after a click on the cell of `painted` in this row and column: the neighbour comes or goes.

    A later pixel, the pixel itself and a neighbour beyond `MOST` change nothing.
    """
    clicked = (row - REACH, column - REACH)
    if clicked in offsets:
        return tuple(o for o in offsets if o != clicked)
    allowed = 0 <= row <= REACH and 0 <= column <= 2 * REACH and clicked < (0, 0)
    return (*offsets, clicked) if allowed and len(offsets) < MOST else offsets


def ladder(offsets: Offsets, shared: bool) -> dict[str, float]:
    """Test NLL of growing templates, and of this one: name -> nats."""
    results = {name: nll_on_test(counted(tuple(TEMPLATES[name]), shared)) for name in LADDER}
    return results | {"yours": nll_on_test(counted(offsets, shared))}


def surprisal(model: ConditionalTables, x: Tensor) -> Tensor:
    """-log p of each pixel of x (n,) given those that it knows, nats, (n,)."""
    return -model.log_conditionals(x[None])[0].flatten()


@dataclass(frozen=True)
class Lookup:
    """One conditional: the parents' values, the two counts under them, p(x_i = 1) and -log p(x_i)."""

    context: dict[int, int]
    zeros: int
    ones: int
    p: float
    bit: int


def lookup(model: NeighbourNet, x: Tensor, pixel: int) -> Lookup:
    """Entry that is read for one pixel of x (64,)."""
    row = int(model.rows(x[None])[0, pixel])
    zeros, ones = (int(c) for c in model.counts[row])
    inside = [p for p in model.parents[pixel] if p >= 0]
    return Lookup(
        {p: int(x[p]) for p in inside}, zeros, ones, float(model.conditionals(x[None])[0].flatten()[pixel]),
        int(x[pixel]),
    )  # fmt: skip


def lookups(model: NeighbourNet, x: Tensor) -> tuple[list[str], list[str]]:
    """A caption and LaTeX for every pixel of x (64,)."""
    captions, equations = [], []
    for pixel in range(model.n):
        look = lookup(model, x, pixel)
        met = look.zeros + look.ones
        captions.append(
            f"Pixel {pixel}: of {met:,} training pixels with these parents {look.ones:,} were 1; "
            f"it is {look.bit}."
        )
        context = ", ".join(f"x_{{{p}}}={v}" for p, v in look.context.items())
        given = rf"\mid {context}" if 0 < len(look.context) <= 4 else ""
        equations.append(rf"p(x_{{{pixel}}}=1{given})=\frac{{{look.ones}+\frac12}}{{{met}+1}}={look.p:.4f}")
    return captions, equations


def bits(picture: Tensor) -> Tensor:
    """(8, 8) in [0, 1] -> (64,) of 0 and 1."""
    return (picture.flatten() > 7.5 / 16).float()


# --- Chains --------------------------------------------------------------------------------------


def typed_matrix(text: str) -> Tensor:
    """Rows apart by ;, numbers by blanks; fractions such as 1/5 are read. Rows must sum to 1.

    Raises:
        ValueError: no numbers, no square, or no transition matrix.
    """
    try:
        rows = [[fraction(number) for number in row] for row in cells.rows(text, is_square)[0]]
    except (ValueError, ZeroDivisionError):
        raise ValueError("The matrix takes numbers such as 0.5 or 1/2, rows apart by ;.") from None
    if not rows or any(len(row) != len(rows) for row in rows) or not 2 <= len(rows) <= 8:
        raise ValueError("The matrix must be square, of 2 to 8 rows of equal length.")
    matrix = torch.tensor(rows, dtype=torch.float64)
    check_transition(matrix)
    return matrix


def fraction(text: str) -> float:
    above, _, below = text.partition("/")
    return float(above) / float(below) if below else float(above)


def spelled_matrix(rows: Sequence[Sequence[float]]) -> str:
    return "; ".join(" ".join(f"{v:.6g}" for v in row) for row in rows)


def typed_symbols(text: str, states: int) -> list[int]:
    """ "1 1 1 2 2" -> [0, 0, 0, 1, 1]: the symbol, 1 or 2, that each state shows.

    Raises:
        ValueError: not one symbol 1 or 2 a state.
    """
    symbols = text.split()
    if len(symbols) != states or set(symbols) - {"1", "2"}:
        raise ValueError(f"Give each of the {states} states the symbol 1 or 2, such as 1 1 2.")
    return [int(s) - 1 for s in symbols]


def typed_history(text: str) -> list[int]:
    """ "2 1 1" -> [1, 0, 0], oldest first.

    Raises:
        ValueError: other symbols than 1 and 2, or more than 8.
    """
    symbols = text.split()
    if set(symbols) - {"1", "2"} or len(symbols) > 8:
        raise ValueError("The history takes the symbols 1 and 2, at most eight, oldest first.")
    return [int(s) - 1 for s in symbols]


def memory(transition: Tensor, symbols: Sequence[int], history: Sequence[int]) -> dict[str, float]:
    """p(next symbol is 1 | the last m symbols), m = 0, 1, …: those symbols -> p, NaN if impossible."""
    results = {}
    for length in range(len(history) + 1):
        suffix = list(history[len(history) - length :])
        name = "".join(str(s + 1) for s in suffix) or "nothing"
        results[name] = float(history_distribution(transition, symbols, suffix)[0])
    return results


def possible(result: Mapping[str, float]) -> dict[str, float]:
    """Those histories of `memory` that can occur."""
    return {name: p for name, p in result.items() if not math.isnan(p)}


def spread(known: Mapping[str, float]) -> float:
    """Spread of p over the histories of one symbol or more."""
    remembered = list(known.values())[1:]
    return max(remembered) - min(remembered) if remembered else 0.0


def courses(transition: Tensor, start: int, most: int) -> tuple[Tensor, list[str], list[str]]:
    """Distributions of the state after 0, …, `most` steps from `start`, (most + 1, K), with captions and
    LaTeX."""
    rows = torch.stack([distributions(transition, start, steps)[0] for steps in range(most + 1)])
    captions = [f"After {m} steps from state {start + 1}." for m in range(most + 1)]
    equations = [
        rf"\nu A^{{{m}}} = ({', '.join(f'{v:.3f}' for v in row)})" for m, row in enumerate(rows.tolist())
    ]
    return rows, captions, equations


def distributions(transition: Tensor, start: int, steps: int) -> tuple[Tensor, Tensor]:
    """Distribution of the state after `steps` from state `start`, and the stationary one, both (K,)."""
    initial = torch.zeros(len(transition), dtype=transition.dtype).index_fill(0, torch.tensor(start), 1.0)
    return distribution_after(initial, transition, steps), stationary(transition)
