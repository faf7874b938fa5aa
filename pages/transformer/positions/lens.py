"""Sinusoidal codes, rotations, biases by distance, and the loss of five schemes against the length.

    PE(pos)·PE(pos + k) = Σ_i cos(ω_i k),    PE(pos + k) = R(ω_i k) PE(pos) of each pair i
    S_ij = (R_i q)·(R_j k) = S_{i−j},    S_ij − m_h (i − j),    S_ij + b_{j−i}

Shapes: N positions, d features; H heads, T queries, S keys.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import torch

from lab.bench import positions as bench
from lab.errors import UserError
from lab.seeding import seeded
from modules.transformer.attention import attention_mask, attention_weights
from modules.transformer.positions import Learned, Rotary, angles, sinusoids
from modules.transformer.relative import ALiBi, RelativeBias, slopes
from pages.transformer.positions.room import HALF, LENGTHS, QUERIES, N

BITS = 6
OPTIONS = ["higher than at place 64", "lower than at place 64", "the same as at place 64"]


# --- Sinusoidal codes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Code:
    """
    Attributes:
        table: (N, d), the code of each position.
        products: PE(pos)·PE(pos + k) for k = 0 … N − 1 from every pos, (N, N).
    """

    table: np.ndarray
    products: np.ndarray


def code(d: int, base: int) -> Code:
    """Codes of positions 0 … 2N − 2, so that every one has N − 1 behind it."""
    p = sinusoids(torch.arange(2 * N - 1), d, base)
    every = p @ p.T
    products = torch.stack([every[pos, pos : pos + N] for pos in range(N)])
    return Code(p[:N].numpy(), products.numpy())


def code_captions(one: Code, start: int) -> list[str]:
    """Product of two codes at each offset, and whether it fell."""
    texts = []
    for k, value in enumerate(one.products[start, : N - start]):
        before = one.products[start][k - 1]
        how = "as long as each other" if k == 0 else "rises" if value > before + 1e-9 else "falls"
        texts.append(
            f"k = 0: ‖PE‖² = d/2 = {value:.0f}, at every position."
            if k == 0
            else f"k = {k}: the product {how} from {before:.3f} to {value:.3f}, whatever pos is."
        )
    return texts


def code_equations(one: Code, start: int) -> list[str]:
    return [
        rf"\mathrm{{PE}}({start})\cdot\mathrm{{PE}}({start + k}) = \textstyle\sum_i \cos(\omega_i \cdot {k})"
        rf" = {value:.3f}"
        for k, value in enumerate(one.products[start, : N - start])
    ]


def counter() -> np.ndarray:
    """Bits of each position, the highest first: (N, BITS)."""
    return (np.arange(N)[:, None] >> np.arange(BITS)[::-1]) & 1


def waves(d: int, base: int) -> np.ndarray:
    """Cosines of each position, the slowest pair first: (N, d/2)."""
    return sinusoids(torch.arange(N), d, base)[:, 1::2].flip(1).numpy()


def counter_captions(d: int, base: int) -> list[str]:
    periods = 2 * math.pi / angles(torch.ones(1), d, base)[0]
    words = f"the waves {float(periods[0]):.2f} to {float(periods[-1]):,.0f}"
    return [f"pos = {pos} is {pos:06b}: the bits have periods 2 to 64, {words}." for pos in range(N)]


def counter_equations(d: int, base: int) -> list[str]:
    rates = angles(torch.ones(1), d, base)[0]
    last = d // 2 - 1
    return [
        rf"\mathrm{{PE}}({pos}) = \left(\ldots,\ \cos({float(rates[0]):.3f} \cdot {pos}) ="
        rf" {math.cos(float(rates[0]) * pos):.3f},\ \ldots,\ \cos(\omega_{{{last}}} \cdot {pos}) ="
        rf" {math.cos(float(rates[-1]) * pos):.3f}\right)"
        for pos in range(N)
    ]


@dataclass(frozen=True)
class Turns:
    """One pair of features.

    Attributes:
        rate: ω_i. now: (N, 2), its (cosine, sine) at each position. then: (N, 2), at pos + k.
        turned: (N, 2), `now` turned by k ω_i: the same as `then`.
    """

    rate: float
    now: np.ndarray
    then: np.ndarray
    turned: np.ndarray


def turns(d: int, base: int, pair: int, shift: int) -> Turns:
    """Pair i at every position, at pos + k, and turned by kω."""
    pair = min(pair, d // 2 - 1)
    p = sinusoids(torch.arange(N + shift), d, base)[:, [2 * pair + 1, 2 * pair]]  # (N + k, 2): cosine, sine
    rate = float(angles(torch.ones(1), d, base)[0, pair])
    a = torch.tensor(shift * rate, dtype=torch.float64)
    R = torch.stack([torch.stack([a.cos(), -a.sin()]), torch.stack([a.sin(), a.cos()])])
    return Turns(rate, p[:N].numpy(), p[shift:].numpy(), (p[:N] @ R.T).numpy())


def turn_captions(one: Turns, shift: int) -> list[str]:
    apart = np.abs(one.turned - one.then).max()
    same = "equal to 12 digits" if apart < 1e-12 else f"{apart:.0e} apart"
    return [
        f"pos = {pos}: from {pos} to {pos + shift} the pair turns by {shift * one.rate:.3f} rad. Code and "
        f"rotation are {same} at all positions."
        for pos in range(N)
    ]


def turn_equations(one: Turns, shift: int) -> list[str]:
    return [
        rf"\mathrm{{PE}}({pos + shift}) = R(\omega_i \cdot {shift})\,\mathrm{{PE}}({pos}):\quad"
        rf" ({one.now[pos, 1]:.3f},\ {one.now[pos, 0]:.3f}) \to"
        rf" ({one.then[pos, 1]:.3f},\ {one.then[pos, 0]:.3f})"
        for pos in range(N)
    ]


# --- Rotary --------------------------------------------------------------------------------------------


def read_numbers(text: str, most: int) -> tuple[float, ...]:
    """Numbers of a text.

    Raises:
        UserError: a word is no number, there are too many or none, or one is beyond ±99.
    """
    words = [word for word in re.split(r"[\s,;]+", text.strip().replace("−", "-")) if word]
    numbers = []
    for word in words:
        try:
            numbers.append(float(word))
        except ValueError:
            raise UserError(f"“{word}” is no number: write some such as 1 2 3 4.") from None
    if not 1 <= len(numbers) <= most or not all(abs(number) <= 99 for number in numbers):
        raise UserError(f"Write one to {most} numbers between −99 and 99.")
    return tuple(numbers)


def read_vector(text: str) -> tuple[float, ...]:
    """A query or key.

    Raises:
        UserError: it is none, or its length is odd.
    """
    numbers = read_numbers(text, 16)
    if len(numbers) % 2:
        raise UserError(
            f"A vector of {len(numbers)} numbers has one without a partner: write an even number."
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
    numbers = read_numbers(text, 47)
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


# --- Loss against length -------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def whole() -> list[bench.Run]:
    """Runs of the seeds with which every scheme was trained."""
    there = {(run.scheme, run.seed) for run in bench.kept()}
    return [run for run in bench.kept() if all((scheme, run.seed) in there for scheme in bench.SCHEMES)]


@lru_cache(maxsize=1)
def runs() -> dict[str, np.ndarray]:
    """Scheme -> loss at each of `LENGTHS`, (seeds, F); NaN where the model does not read that far."""
    found: dict[str, list[list[float]]] = {}
    for run in whole():
        reach = len(run.nats) * bench.BIN
        values = [run.at(length) if length <= reach else math.nan for length in LENGTHS]
        found.setdefault(run.scheme, []).append(values)
    return {name: np.array(values) for name, values in found.items()}


def seeds() -> int:
    """Runs of each scheme, the fewest."""
    return min(map(len, runs().values()))


@lru_cache(maxsize=1)
def by_place() -> dict[str, np.ndarray]:
    """Scheme -> mean over seeds of the loss in each stretch of 16 places, (F,), NaN as above."""
    found: dict[str, list[list[float]]] = {}
    for run in whole():
        found.setdefault(run.scheme, []).append([*run.nats, *[math.nan] * (len(LENGTHS) - len(run.nats))])
    return {name: np.array(values).mean(0) for name, values in found.items()}


def refusal(length: int) -> str:
    """What learned positions say of a longer text."""
    try:
        seeded(lambda: Learned(bench.CONTEXT, 2))(torch.zeros(1, length, 2))
    except ValueError as error:
        return str(error)
    return ""


def length_captions() -> list[str]:
    """Who reads each length."""
    texts = []
    for length in LENGTHS:
        how = f"{length / bench.CONTEXT:g} times" if length > bench.CONTEXT else "within"
        no = refusal(length)
        texts.append(
            f"{length} characters, {how} the length of the training. "
            + (f"Learned positions: “{no}”" if no else "All schemes read them.")
        )
    return texts


def length_equations() -> list[str]:
    """Loss of each scheme at each length, LaTeX."""
    texts = []
    for f, length in enumerate(LENGTHS):
        parts = [
            rf"\text{{{name}}}\ {values[:, f].mean():.3f}"
            for name, values in runs().items()
            if not np.isnan(values[:, f]).any()
        ]
        texts.append(rf"\mathcal{{L}}(L={length}):\quad " + r",\ \ ".join(parts))
    return texts


def said(length: int) -> str:
    """Mean of each scheme at a length, with its standard deviation over the seeds."""
    f, words = LENGTHS.index(length), []
    for name, values in runs().items():
        spread = f" ± {values[:, f].std(ddof=1):.3f}" if len(values) > 1 else ""
        words.append(f"{name} {values[:, f].mean():.3f}{spread}")
    return ", ".join(words)


def answer(scheme: str) -> str:
    """How the loss at the last places of the longest windows differs from that at the last trained ones."""
    values = by_place()[scheme]
    change = values[-1] - values[LENGTHS.index(bench.CONTEXT)]
    return OPTIONS[0] if change > 0.05 else OPTIONS[1] if change < -0.05 else OPTIONS[2]
