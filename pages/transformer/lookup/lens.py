"""Weights and what they mix, over sharpness, angle or length of a query.

    y = Σ_i a_i v_i,   a = softmax(λ q·k_i), or a_i = q·k_i

Shapes: F frames, n keys and values.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.spatial import ConvexHull, QhullError
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from modules.transformer.lookup import linear_weights, lookup, soft_weights
from pages.transformer.lookup.room import ANGLES, FACTORS, LINEAR, SHARP, SHARPNESS, SOFT

QUERY = (0.85, 0.5)  # where it stands at first
REACH, LONG, MOST = 1.6, 1.2, 8  # of the plane; of a turning query; keys
OPTIONS = ["it becomes the value of the nearest key", "it becomes the mean of all values", "it stays"]


@dataclass(frozen=True)
class Mix:
    """
    Attributes:
        keys, values: (n, 2). queries: (F, 2). weights: (F, n). y: (F, 2). sharp: (F,), λ.
    """

    keys: np.ndarray
    values: np.ndarray
    queries: np.ndarray
    weights: np.ndarray
    y: np.ndarray
    sharp: np.ndarray
    kind: str


@dataclass(frozen=True)
class Table:
    """A lookup with the unit vectors as keys, at each factor of the query.

    Attributes:
        q, v: (n,). linear, soft: (F, n), weights. y_linear, y_soft: (F,).
    """

    q: np.ndarray
    v: np.ndarray
    linear: np.ndarray
    soft: np.ndarray
    y_linear: np.ndarray
    y_soft: np.ndarray


def points(text: str) -> Tensor:
    """Two to eight points that are typed, (n, 2).

    Raises:
        UserError: something is no point, or there are fewer than two.
    """
    found, says = typed.points(text, 1.5, MOST, lines=False)
    if says or len(found) < 2:
        raise UserError(f"{says} Write two to eight points up to ±1.5, such as 1 0; 0 1.".strip())
    return torch.tensor(found, dtype=torch.float64)


def numbers(text: str) -> Tensor:
    """Two to eight numbers that are typed, (n,).

    Raises:
        UserError: a word is none, or there are too few or too many.
    """
    found, says = typed.named(text, MOST, -20, 20)
    if says or len(found) < 2:
        raise UserError(f"{says} Write two to eight numbers up to ±20, such as 0 0 1 0 0.".strip())
    return torch.tensor(found, dtype=torch.float64)


def circle(n: int, turn: float = 0.0, radius: float = 1.0) -> Tensor:
    """n points on a circle, (n, 2)."""
    angles = turn + 2 * math.pi * torch.arange(n, dtype=torch.float64) / n
    return radius * torch.stack([angles.cos(), angles.sin()], dim=1)


def mixed(
    view: str, kind: str, sharp: float, n: int, own: bool, keys: Tensor, values: Tensor,
    q: tuple[float, float] | None,
) -> Mix:  # fmt: skip
    """A film over λ with the query at rest, or over its angle."""
    if not own:
        keys, values = circle(n), circle(n, turn=math.pi / 2, radius=1.2)
    if len(keys) != len(values):
        raise UserError(f"There are {len(keys)} keys and {len(values)} values: write as many of each.")
    if view == SHARPNESS:
        queries = torch.tensor([q or QUERY] * len(SHARP), dtype=torch.float64)
        lambdas, kind = torch.tensor(SHARP, dtype=torch.float64), SOFT
    else:
        angle = torch.tensor(ANGLES, dtype=torch.float64).deg2rad()
        queries = LONG * torch.stack([angle.cos(), angle.sin()], dim=1)
        lambdas = torch.full((len(ANGLES),), sharp, dtype=torch.float64)
    if kind == LINEAR:
        weights = linear_weights(queries, keys)
    else:
        pairs = zip(queries, lambdas.tolist(), strict=True)
        weights = torch.cat([soft_weights(one[None], keys, of) for one, of in pairs])
    y = lookup(weights, values)
    return Mix(
        keys.numpy(), values.numpy(), queries.numpy(), weights.numpy(), y.numpy(), lambdas.numpy(), kind
    )  # fmt: skip


def table(row: Tensor, column: Tensor) -> Table:
    """Both lookups of a query and its multiples."""
    if len(row) != len(column):
        raise UserError(
            f"The query has {len(row)} entries and there are {len(column)} values: as many, please."
        )
    keys, values = torch.eye(len(row), dtype=torch.float64), column[:, None]
    queries = torch.tensor(FACTORS, dtype=torch.float64)[:, None] * row
    linear, soft = linear_weights(queries, keys), soft_weights(queries, keys)
    found = (row, column, linear, soft, lookup(linear, values)[:, 0], lookup(soft, values)[:, 0])
    return Table(*(t.numpy() for t in found))


def hull(values: np.ndarray) -> np.ndarray:
    """Corners of the smallest convex polygon around the values, closed, (c + 1, 2)."""
    try:
        corners = values[ConvexHull(values).vertices]
    except QhullError:  # on one line, or fewer than three
        axis = values - values[0]
        along = axis @ axis[np.argmax(np.abs(axis).sum(1))]
        corners = values[[int(np.argmin(along)), int(np.argmax(along))]]
    return np.concatenate([corners, corners[:1]])


def entropy(weights: np.ndarray) -> float:
    """In nats."""
    some = weights[weights > 0]
    return abs(float((some * np.log(some)).sum()))


def vector(v: np.ndarray) -> str:
    return f"({v[0]:.2f}, {v[1]:.2f})"


def captions(one: Mix) -> list[str]:
    """Which keys have most weight at each frame."""
    texts = []
    for a in one.weights:
        order = np.argsort(-a, kind="stable")
        first, second = int(order[0]), int(order[1])
        if one.kind == LINEAR:
            total = round(float(a.sum()), 2) + 0.0  # no −0
            texts.append(f"Key {first + 1} matches most, with weight {a[first]:.2f}; all sum to {total:.2f}.")
        else:
            texts.append(
                f"Key {first + 1} has weight {a[first]:.3f}, key {second + 1} {a[second]:.3f}; entropy "
                f"{entropy(a):.3f} of at most {math.log(len(a)):.3f} nats."
            )
    return texts


def equations(one: Mix) -> list[str]:
    """The largest weight and the mixture at each frame, LaTeX."""
    texts = []
    for q, a, y, of in zip(one.queries, one.weights, one.y, one.sharp, strict=True):
        i = int(np.argmax(a))
        match = float(q @ one.keys[i])
        if one.kind == LINEAR:
            texts.append(
                rf"y = \sum_i (q \cdot k_i)\, v_i = {vector(y)}, \quad q \cdot k_{i + 1} = {match:.2f}"
            )
        else:
            total = float(np.exp(of * (one.keys @ q)).sum()) if of * match < 300 else math.inf
            ratio = rf"\frac{{e^{{{of:g} \cdot {match:.2f}}}}}{{{total:.2f}}} = " if total < 1e5 else ""
            texts.append(
                rf"a_{i + 1} = {ratio}{a[i]:.3f}, \quad y = \sum_i a_i v_i = {vector(y)}, \quad"
                r" a_i \propto e^{\lambda\, q \cdot k_i}"
            )
    return texts


def table_captions(one: Table) -> list[str]:
    texts = []
    for f, factor in enumerate(FACTORS):
        i = int(np.argmax(one.soft[f]))
        texts.append(
            f"{factor:g} q: the linear lookup gives {one.y_linear[f]:.4g}, the soft one {one.y_soft[f]:.3f}; "
            f"its largest weight is {one.soft[f, i]:.4f}, its entropy {entropy(one.soft[f]):.3f} nats."
        )
    return texts


def table_equations(one: Table) -> list[str]:
    """The linear lookup as a sum of the values that are met, LaTeX."""
    texts = []
    for f in range(len(FACTORS)):
        met = [(w, v) for w, v in zip(one.linear[f], one.v, strict=True) if w]
        terms = " + ".join(rf"{part(w)} \cdot {part(v)}" for w, v in met) or "0"
        texts.append(
            rf"\sum_i (q \cdot k_i)\, v_i = {terms} = {one.y_linear[f]:.4g}, \quad"
            rf" \sum_i a_i v_i = {one.y_soft[f]:.3f}"
        )
    return texts


def part(value: float) -> str:
    return f"{value:.4g}" if value >= 0 else f"({value:.4g})"
