"""Backpropagation through time, term by term: an Elman RNN of two units, with a loss at every step.

    h_t = tanh(W_h h_{t−1} + W_x x_t + b),    ℓ_t = cross-entropy of softmax(W_y h_t)
    ∂L/∂W_h = Σ_t Σ_{k ≤ t}  ∂ℓ_t/∂h_t  J_t J_{t−1} ⋯ J_{k+1}  ∂⁺h_k/∂W_h

∂⁺ holds h_{k−1} fixed. Two mistakes can be chosen: the product in the other order, and the total derivative
∂h_k/∂W_h, through all earlier steps, in the place of ∂⁺.

Shapes: x (T, 2); terms (T, T, 2, 2), rows t, columns k; a partial ∂h_k[i]/∂W_h[j, l] (T, 2, 2, 2).

References: Werbos 1990, Backpropagation through time; [GM] 1.6.2; [LLM] 1.16, 1.17.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from datamodules import cells
from lab.errors import UserError
from lab.lenses import typed
from lab.seeding import seeded
from modules.recurrent.bptt import jacobian_products, jacobians
from modules.recurrent.rnn import RNNCell
from pages.recurrent.bptt.room import MOST, REVERSED, TOTAL

REACH = 10.0  # of a number that is typed
W_X, BIAS = [[1.0, 0.0], [0.5, -1.0]], [0.1, -0.2]
W_Y = torch.tensor([[1.0, -1.0], [0.0, 2.0], [0.5, 0.5]], dtype=torch.float64)
TARGETS = (0, 2, 1, 0, 0, 2)


@dataclass(frozen=True)
class Summed:
    """
    Attributes:
        places: (t, k) of the N terms that are summed, from 0: t rises, k falls from t.
        outer: (T, 2), ∂ℓ_t/∂h_t. products: (T, T, 2, 2), of Jacobians. partials: (T, 2, 2, 2), of h_k.
        terms: (T, T, 2, 2). so_far: (N, 2, 2), their sums.
        autograd: (2, 2), ∂L/∂W_h.
    """

    places: list[tuple[int, int]]
    outer: Tensor
    products: Tensor
    partials: Tensor
    terms: Tensor
    so_far: Tensor
    autograd: Tensor

    @property
    def error(self) -> float:
        """Largest difference of an entry of the whole sum from autograd's."""
        return float((self.so_far[-1] - self.autograd).abs().max())


def network(w: Tensor) -> RNNCell:
    """The RNN with these recurrent weights (2, 2), in float64."""
    cell = seeded(lambda: RNNCell(2, 2)).double()
    cell.weight_h.data, cell.bias.data = w.clone(), torch.tensor(BIAS, dtype=torch.float64)
    cell.weight_x.data = torch.tensor(W_X, dtype=torch.float64)
    return cell


def loss(h: Tensor) -> Tensor:
    """L = Σ ℓ_t of the states (T, 2)."""
    return F.cross_entropy(h @ W_Y.T, torch.tensor(TARGETS[: len(h)]), reduction="sum")


def summed(w: Tensor, x: Tensor, sums: str, truncation: int) -> Summed:
    """The terms with t − k < K, right or with one of the two mistakes, and their sum."""
    cell = network(w)
    h = cell.unroll(x[None])[0][0]
    (outer,) = torch.autograd.grad(loss(h), h, retain_graph=True)
    (autograd,) = torch.autograd.grad(loss(h), cell.weight_h)
    h, steps = h.detach(), jacobians(cell, x)
    before = torch.cat([torch.zeros(1, 2, dtype=x.dtype), h[:-1]])
    partials = torch.einsum("ti,ij,tl->tijl", cell.slope(h), torch.eye(2, dtype=x.dtype), before)
    if sums == TOTAL:
        for k in range(1, len(x)):
            partials[k] += torch.einsum("im,mjl->ijl", steps[k], partials[k - 1])
    products = jacobian_products(steps)
    if sums == REVERSED:
        products = jacobian_products(steps.mT).mT  # of transposes, transposed: the oldest leftmost
    terms = torch.einsum("ti,tkim,kmjl->tkjl", outer, products, partials)
    places = [(t, k) for t in range(len(x)) for k in reversed(range(t + 1)) if t - k < truncation]
    so_far = torch.stack([terms[place] for place in places]).cumsum(0)
    return Summed(places, outer, products, partials, terms, so_far, autograd)


# --- What is said of a term --------------------------------------------------------------------------


def captions(found: Summed) -> list[str]:
    """Which term is added, and how far the sum is from autograd's gradient."""
    return [
        f"Term {n} of {len(found.places)}: t = {t + 1}, k = {k + 1}, with {counted(t - k)}. The sum so far "
        f"differs from autograd by up to {float((total - found.autograd).abs().max()):.2g}."
        for n, ((t, k), total) in enumerate(zip(found.places, found.so_far, strict=True), 1)
    ]


def counted(jacobians: int) -> str:
    return f"{jacobians or 'no'} Jacobian{'' if jacobians == 1 else 's'}"


def equations(found: Summed, sums: str) -> list[str]:
    """Each term with the factors before its partial, LaTeX."""
    return [equation(found, sums, t, k) for t, k in found.places]


def equation(found: Summed, sums: str, t: int, k: int) -> str:
    steps = range(k + 1, t + 1) if sums == REVERSED else range(t, k, -1)
    names = "".join(f"J_{j + 1}" for j in steps)
    product = matrix(found.products[t, k]) if t > k else ""
    return (
        rf"\frac{{\partial\ell_{t + 1}}}{{\partial h_{t + 1}}}{names}{partial(sums, k)}"
        rf"={matrix(found.outer[t][None])}{product}{partial(sums, k)}={matrix(found.terms[t, k])}"
    )


def partial(sums: str, k: int) -> str:
    mark = r"\partial" if sums == TOTAL else r"\partial^+"
    return rf"\frac{{{mark} h_{k + 1}}}{{\partial W_h}}"


def partial_equation(found: Summed, sums: str, t: int, k: int) -> str:
    """What a term does to its partial, a matrix for each unit of the state, LaTeX."""
    back = found.outer[t] @ found.products[t, k]
    parts = "+".join(
        rf"({number:z.3f}){matrix(each)}" for number, each in zip(back, found.partials[k], strict=True)
    )
    return rf"{matrix(back[None])}{partial(sums, k)}={parts}={matrix(found.terms[t, k])}"


def matrix(values: Tensor) -> str:
    rows = r"\\".join("&".join(f"{v:z.3f}" for v in row) for row in values.tolist())
    return rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}"


# --- What the reader types ---------------------------------------------------------------------------


def weights(text: str) -> Tensor:
    """W_h (2, 2), float64.

    Raises:
        UserError: it is no square matrix of numbers, or not of two rows.
    """
    rows = typed.square(text, REACH, 2)
    if len(rows) != 2:
        raise UserError("W_h has two rows of two numbers: write it like 0.5 -0.3; 0.2 0.4.")
    return torch.tensor(rows, dtype=torch.float64)


def are_pairs(widths: Sequence[int]) -> bool:
    return all(width == 2 for width in widths)


def pair_commas(text: str) -> str:
    """Say what was decided about the commas of the inputs."""
    return cells.rows(text, are_pairs)[1]


def inputs(text: str) -> Tensor:
    """Inputs (T, 2), float64.

    Raises:
        UserError: a step is no pair of numbers, or there are fewer than 2 steps or more than MOST.
    """
    rows = [typed.fitting(line, REACH) for line in cells.rows(text, are_pairs)[0]]
    for values, strange in rows:
        if strange:
            raise UserError(f"{strange[0]!r} is no number from −{REACH:g} to {REACH:g}: correct it.")
        if len(values) != 2:
            raise UserError("Each step has two numbers, steps between semicolons: write them like 1 0; 0 1.")
    if not 2 <= len(rows) <= MOST:
        raise UserError(f"Give 2 to {MOST} steps, between semicolons: there are {len(rows)}.")
    return torch.tensor([values for values, _ in rows], dtype=torch.float64)
