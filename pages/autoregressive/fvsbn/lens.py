"""A fully visible sigmoid belief network of four bits, typed by hand: every string, its factors, its sum.

    p(x_i = 1 | x_<i) = σ(A_i0 + Σ_{j before i} A_ij x_j)        row i of A: the bias, then one weight a bit

References: [GM] 1.5.1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import cells
from datamodules.binary_images import strings
from modules.autoregressive.fvsbn import FVSBN

BITS = 4
EXAMPLE = "0.2; -0.5 1; 0.3 -1.2 0.8; -0.4 0.6 -0.7 1.5"
LARGEST = 1000.0  # of a weight that is taken


def is_triangle(widths: list[int]) -> bool:
    return widths == list(range(1, BITS + 1))


def commas(text: str) -> str:
    """Say what was decided about the commas of A, "" where nothing was to be."""
    return cells.rows(text, is_triangle)[1]


def typed_rows(text: str) -> list[list[float]]:
    """The rows of A in the order of the variables: row k has a bias and k - 1 weights.

    Raises:
        ValueError: other numbers of rows or entries, or something that is no number.
    """
    try:
        rows = [[float(v) for v in row] for row in cells.rows(text, is_triangle)[0]]
    except ValueError:
        raise ValueError("A takes numbers such as 0.5 or -1, rows apart by ;.") from None
    if [len(row) for row in rows] != list(range(1, BITS + 1)):
        raise ValueError(f"A is a lower triangle: {BITS} rows of 1, 2, 3 and 4 numbers, the bias first.")
    if not all(abs(v) <= LARGEST for row in rows for v in row):
        raise ValueError(f"Each number of A must lie between -{LARGEST:g} and {LARGEST:g}.")
    return rows


def typed_string(text: str) -> Tensor:
    """Four bits, (4,) float64.

    Raises:
        ValueError: anything else.
    """
    if len(text.strip()) != BITS or set(text.strip()) - {"0", "1"}:
        raise ValueError("Type a string of four bits, such as 0110.")
    return torch.tensor([float(c) for c in text.strip()], dtype=torch.float64)


@torch.no_grad()
def network(rows: list[list[float]], order: Tensor) -> FVSBN:
    """The model with these weights in float64; row k belongs to the k-th variable of the order, and its
    weights to the variables before it, in the order."""
    model = FVSBN(event_shape=(BITS,), order=order.tolist()).double().eval()
    model.weight.copy_(torch.tensor([w for row in rows for w in row[1:]], dtype=torch.float64))
    model.bias[order] = torch.tensor([row[0] for row in rows], dtype=torch.float64)
    return model.requires_grad_(False)


def triangle(rows: list[list[float]]) -> Tensor:
    """A as a picture, (4, 4): the bias first, NaN above the diagonal."""
    grid = torch.full((BITS, BITS), torch.nan)
    for k, row in enumerate(rows):
        grid[k, : len(row)] = torch.tensor(row)
    return grid


@dataclass(frozen=True)
class Distribution:
    """All strings of a network.

    Attributes:
        names: "0000", "0001", …; p: (16,) their probabilities.
    """

    names: list[str]
    p: Tensor

    @property
    def total(self) -> float:
        return float(self.p.sum())

    @property
    def entropy(self) -> float:
        """Nats."""
        return -float(torch.special.xlogy(self.p, self.p).sum())

    @property
    def likeliest(self) -> str:
        return self.names[int(self.p.argmax())]


def distribution(model: FVSBN) -> Distribution:
    """p of each of the 16 strings."""
    x = strings(BITS)
    return Distribution(["".join(map(str, s)) for s in x.tolist()], model.log_prob(x.double()).exp())


@dataclass(frozen=True)
class Factor:
    """One conditional: its variable, logit, p(x_i = 1 | x_<i), and the probability of what x_i is."""

    variable: int
    logit: float
    p: float
    factor: float


def factors(model: FVSBN, x: Tensor) -> list[Factor]:
    """The conditionals of x (4,) in the model's order."""
    logits = model.logits(x[None])[0]
    results = []
    for i in model.order.tolist():
        p = float(torch.sigmoid(logits[i]))
        results.append(Factor(i, float(logits[i]), p, p if x[i] else 1 - p))
    return results


def row_equation(rows: list[list[float]], order: Tensor, x: Tensor, rank: int) -> str:
    """Row `rank` (from 0) with its numbers at x, as LaTeX."""
    i, row = int(order[rank]), rows[rank]
    terms = [f"{row[0]:g}"] + [
        rf"{w:+g}\cdot {x[j]:.0f}" for w, j in zip(row[1:], order[:rank].tolist(), strict=True)
    ]
    logit = row[0] + sum(w * float(x[j]) for w, j in zip(row[1:], order[:rank].tolist(), strict=True))
    p = float(torch.sigmoid(torch.tensor(logit, dtype=torch.float64)))
    past = ", ".join(f"x_{j + 1}" for j in order[:rank].tolist())
    given = rf" \mid {past}" if past else ""
    return rf"p(x_{i + 1}{{=}}1{given}) = \sigma({' '.join(terms)}) = \sigma({logit:.4g}) = {p:.8f}"


@dataclass(frozen=True)
class Reading:
    """A string read bit by bit in the order, rank r = 0, 1, 2, 3.

    Attributes:
        ones: (4, 4) p(bit = 1) of each rank after r, NaN where it is still to come.
        agree: (4, 16) whether a string has the same bits as x up to rank r.
        mass: (4,) the probability of all that agree: the product of the first factors.
    """

    ones: Tensor
    agree: Tensor
    mass: Tensor


def reading(model: FVSBN, x: Tensor) -> Reading:
    """x (4,) read in the model's order."""
    result = factors(model, x)
    p = torch.tensor([f.p for f in result], dtype=torch.float64)
    known = torch.ones(BITS, BITS, dtype=torch.bool).tril()  # rank r: what is read, and what came before
    same = strings(BITS)[:, model.order] == x[model.order]  # (16, 4), in the order
    return Reading(
        torch.where(known, p, torch.nan),
        same.long().cumprod(1).bool().t(),
        torch.tensor([f.factor for f in result], dtype=torch.float64).cumprod(0),
    )


def captions(model: FVSBN, x: Tensor) -> list[str]:
    """Caption of what happens at each rank."""
    result, read = factors(model, x), reading(model, x)
    return [
        f"x{f.variable + 1} is {x[f.variable]:.0f}: factor {f.factor:.4f}. "
        f"The {1 << (BITS - 1 - r)} strings that agree so far hold {float(read.mass[r]):.5f} together."
        if r < BITS - 1
        else f"x{f.variable + 1} is {x[f.variable]:.0f}: factor {f.factor:.4f}. One string is left, with "
        f"{float(read.mass[r]):.5f}."
        for r, f in enumerate(result)
    ]


def smallest(model: FVSBN, x: Tensor) -> int | None:
    """The variable whose factor is the smallest; None if several are alike."""
    result = sorted(factors(model, x), key=lambda f: f.factor)
    return None if result[1].factor - result[0].factor < 1e-9 else result[0].variable
