"""Positions in the scores: queries and keys that are rotated, and biases by distance.

    S_ij = (R_i q)·(R_j k) = S_{i−j},    S_ij − m_h (i − j),    S_ij + b_{j−i}

Shapes: N positions, D features of a head; H heads, T queries, S keys.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from lab.errors import UserError
from lab.lenses import typed
from lab.seeding import seeded
from modules.transformer.attention import attention_mask, attention_weights
from modules.transformer.positions import Rotary
from modules.transformer.relative import ALiBi, RelativeBias, slopes
from pages.transformer.positions.room import HALF, QUERIES

# --- Rotary --------------------------------------------------------------------------------------------


def read_vector(text: str) -> tuple[float, ...]:
    """A query or key.

    Raises:
        UserError: it is none, or its length is odd.
    """
    numbers = typed.numbers(text, 99, 16)
    if len(numbers) % 2 or not numbers:
        raise UserError(
            f"A vector of {len(numbers)} numbers does not divide into pairs: write an even number of them."
        )
    return numbers


@dataclass(frozen=True)
class Rotated:
    """One query and one key at all positions.

    Attributes:
        scores: (T, T), (R_i q)·(R_j k). far: its like 100 positions on. plain: q·k.
        by_distance: S at i − j = −(T − 1) … T − 1.
        values: how much an output changes 10 positions on, had values been turned as well.
    """

    scores: np.ndarray
    far: np.ndarray
    plain: float
    by_distance: np.ndarray
    values: float


def rotary(q: Sequence[float], k: Sequence[float], layout: str, base: int) -> Rotated:
    """Scores of equal queries and keys at every pair of positions.

    Raises:
        UserError: q and k differ in length.
    """
    if len(q) != len(k):
        raise UserError(f"q has {len(q)} numbers and k {len(k)}: give them equally many.")
    how: Literal["adjacent", "half"] = "half" if layout == HALF else "adjacent"
    turn = Rotary(len(q), how, float(base))
    Q, K = (torch.tensor(list(v), dtype=torch.float64).expand(QUERIES, -1) for v in (q, k))  # (T, D)
    scores, far = (turn(Q, offset) @ turn(K, offset).T for offset in (0, 100))
    last = QUERIES - 1
    by_distance = torch.cat([scores[0].flip(0)[:-1], scores[:, 0]])  # i − j = −(T−1) … T−1
    weights = (scores / math.sqrt(len(q))).softmax(-1)
    outputs = [weights @ turn(K, offset) for offset in (0, 10)]
    assert len(by_distance) == 2 * last + 1
    return Rotated(
        scores.numpy(), far.numpy(), float(Q[0] @ K[0]), by_distance.numpy(),
        float((outputs[0] - outputs[1]).abs().max()),
    )  # fmt: skip


def rotary_captions(one: Rotated, distance: int) -> list[str]:
    """At each query that has a key so far behind it."""
    return [
        f"Query {i}, key {i - distance}: {one.scores[i, i - distance]:.6f}; query {i + 100}, key "
        f"{i - distance + 100}: {one.far[i, i - distance]:.6f}. Without rotation {one.plain:.3f} everywhere."
        for i in range(distance, QUERIES)
    ]


def rotary_equations(one: Rotated, distance: int) -> list[str]:
    return [
        rf"S_{{ij}} = (R_{{{i}}}\,q)\cdot(R_{{{i - distance}}}\,k) = {one.scores[i, i - distance]:.3f},"
        rf"\qquad i - j = {distance}"
        for i in range(distance, QUERIES)
    ]


# --- Biases --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Biased:
    """
    Attributes:
        bias: (H, N, N), what is added to the scores; NaN where a causal query does not look.
        weights: (H, N, N), of equal scores.
        slopes: (H,) of ALiBi; of a table there is none.
    """

    bias: np.ndarray
    weights: np.ndarray
    slopes: list[float]


def alibi(heads: int, tokens: int) -> Biased:
    """Penalties of all heads, and weights of equal scores under the causal mask."""
    q = torch.zeros(1, heads, tokens, 1, dtype=torch.float64)
    bias = ALiBi(heads)(q, q, 1.0)  # (H, N, N)
    mask = attention_mask(tokens, tokens, causal=True)
    weights = attention_weights(q, q, mask, bias=bias)[0]
    assert mask is not None
    return Biased(bias.masked_fill(~mask, math.nan).numpy(), weights.numpy(), slopes(heads).tolist())


def read_table(text: str) -> tuple[float, ...]:
    """2N − 1 biases.

    Raises:
        UserError: they are not, or their number is even.
    """
    numbers = typed.numbers(text, 99, 47)
    if len(numbers) % 2 == 0:
        raise UserError(f"{len(numbers)} numbers: N tokens have 2N − 1 offsets; write one more or one less.")
    return numbers


@torch.no_grad()
def relative(table: Sequence[float]) -> Biased:
    """The matrix that a table makes, and weights of equal scores without a mask."""
    n = (len(table) + 1) // 2
    layer = seeded(lambda: RelativeBias(1, n)).double()
    layer.table.copy_(torch.tensor(list(table), dtype=torch.float64)[:, None])
    q = torch.zeros(1, 1, n, 1, dtype=torch.float64)
    bias = layer(q, q, 1.0)  # (1, N, N)
    return Biased(bias.numpy(), attention_weights(q, q, bias=bias)[0].numpy(), [])


def alibi_captions(one: Biased) -> list[str]:
    n = one.weights.shape[1]
    return [
        f"Head {h + 1}: slope {m:.4g}. Query {n - 1} weighs key {n - 1} with {one.weights[h, -1, -1]:.4f} "
        f"and key 0 with {one.weights[h, -1, 0]:.4f}."
        for h, m in enumerate(one.slopes)
    ]


def alibi_equations(one: Biased) -> list[str]:
    H = len(one.slopes)
    return [
        rf"S_{{ij}} \leftarrow S_{{ij}} - m_h\,(i - j),\qquad m_h = 2^{{-8h/H}} = 2^{{-8 \cdot {h + 1}/{H}}}"
        rf" = {m:.6g}"
        for h, m in enumerate(one.slopes)
    ]


def relative_captions(table: Sequence[float]) -> list[str]:
    n = (len(table) + 1) // 2
    return [
        f"j − i = {o}: {value:g} is added to the scores of all {n - abs(o)} pairs of this diagonal. "
        f"{len(table)} numbers for {n * n} pairs."
        for o, value in zip(range(1 - n, n), table, strict=True)
    ]


def relative_equations(table: Sequence[float]) -> list[str]:
    n = (len(table) + 1) // 2
    return [
        rf"S_{{ij}} \leftarrow S_{{ij}} + b_{{j-i}},\qquad b_{{{o}}} = {value:g},\qquad 2N-1 = {len(table)}"
        for o, value in zip(range(1 - n, n), table, strict=True)
    ]
