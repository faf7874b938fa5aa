"""Linear attention in its two forms, its error against the softmax, its cost by length, and RBF features.

    y_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t = Σ_{j ≤ t} α_tj v_j,    α_tj = φ(q_t)·φ(k_j) / Σ_{i ≤ t} φ(q_t)·φ(k_i)

Shapes: n tokens, D features of a head, M values of φ; F frames.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from lab.bench import efficient_attention as bench
from lab.errors import UserError
from lab.seeding import seeded
from modules.transformer.attention import attention_weights
from modules.transformer.linear_attention import (
    LinearAttention,
    LinearState,
    elu_features,
    kernel_weights,
    linear_attention,
    random_features,
)
from modules.transformer.random_features import Kind, draws, rbf_features, rbf_kernel
from pages.transformer.linear_attention.room import COUNTS, ELU, LENGTHS

D, M, TRIES, PAIRS = 4, 8, 8, 24  # of the walk; problems that an error is averaged over; tokens of a scatter
KINDS: dict[str, Kind] = {
    "Positive": "positive",
    "Hyperbolic": "hyperbolic",
    "Trigonometric": "trigonometric",
}
OPTIONS = ["it quadruples", "it doubles", "it stays"]


@dataclass(frozen=True)
class Walk:
    """Linear attention token by token.

    Attributes:
        weights: (n, n), α, 0 ahead. softmax: (n, n), of softmax attention.
        S: (n, M, D). z: (n, M), after each token. phi: (n, M), of each query.
        v: (n, D). y: (n, D).
    """

    weights: Tensor
    softmax: Tensor
    S: Tensor
    z: Tensor
    phi: Tensor
    v: Tensor
    y: Tensor


def walked(q: Tensor, k: Tensor, v: Tensor, features: str, seed: int) -> Walk:
    """The recurrence over q, k, v (n, D), and the matrix form beside it."""
    if features == ELU:
        (fq, cq), (fk, c) = elu_features(q), elu_features(k)
    else:
        omega = draws(M, q.shape[1], torch.Generator().manual_seed(10_000 + seed), dtype=q.dtype)
        (fq, cq), (fk, c) = (random_features(t, omega, KINDS[features]) for t in (q, k))  # type: ignore[arg-type]
    causal = torch.ones(len(q), len(q), dtype=torch.bool).tril()
    weights = kernel_weights(fq[None, None], fk[None, None], c[None, None], causal)[0, 0]
    state: LinearState | None = None
    S, z, y = [], [], []
    for t in range(len(q)):
        q_t, k_t, v_t, c_t = (part[None, None, t : t + 1] for part in (fq, fk, v, c))
        out, state = linear_attention(q_t, k_t, v_t, c_t, state, causal=True)
        scale = state.c.exp()  # S and z are kept times e^{−c}
        S.append(state.S[0, 0] * scale)
        z.append(state.z[0, 0] * scale[0])
        y.append(out[0, 0, 0])
    phi = fq * cq.exp()[:, None]
    softmax = attention_weights(q, k, causal)
    return Walk(weights, softmax, torch.stack(S), torch.stack(z), phi, v, torch.stack(y))


def walk(features: str, n: int, seed: int) -> Walk:
    """Over random q, k, v."""
    q, k, v = torch.randn(3, n, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return walked(q, k, v, features, seed)


def read_numbers(text: str) -> tuple[float, ...]:
    """Up to 16 numbers of a text.

    Raises:
        UserError: a word is no number, there is none, or one is beyond ±50.
    """
    words = [word for word in re.split(r"[\s,;]+", text.strip().replace("−", "-")) if word]
    numbers = []
    for word in words[:16]:
        try:
            numbers.append(float(word))
        except ValueError:
            raise UserError(f"“{word}” is no number: write some such as 0 1 -1.") from None
    if not numbers or not all(abs(number) <= 50 for number in numbers):
        raise UserError("Write one to sixteen numbers between −50 and 50, such as 0 1 -1.")
    return tuple(numbers)


def example(keys: Sequence[float], values: Sequence[float]) -> Walk:
    """Over one feature: q = k; the shorter text ends both."""
    n = min(len(keys), len(values))
    q, v = (torch.tensor(list(each[:n]), dtype=torch.float64)[:, None] for each in (keys, values))
    return walked(q, q, v, ELU, 0)


def walk_captions(one: Walk) -> list[str]:
    """How far the two forms are apart at each token."""
    texts = []
    apart = (one.y - one.weights @ one.v).abs().amax(1)  # (n,)
    for t in range(len(one.y)):
        held, all_ = one.S[t].numel() + one.z[t].numel(), 2 * (t + 1) * one.v.shape[1]
        same = "give the same output" if apart[t] < 1e-12 else f"are {float(apart[t]):.0e} apart"
        texts.append(
            f"t = {t + 1}: S and z are {held} numbers, all keys and values so far {all_}. "
            f"Matrix and state {same}."
        )
    return texts


def walk_equations(one: Walk) -> list[str]:
    """First number of the output at each token by the state, LaTeX."""
    texts = []
    for t in range(len(one.y)):
        top, bottom = float(one.phi[t] @ one.S[t, :, 0]), float(one.phi[t] @ one.z[t])
        texts.append(
            r"y_t = \frac{\phi(q_t)^\top S_t}{\phi(q_t)^\top z_t}"
            rf" = \frac{{{top:.3f}}}{{{bottom:.3f}}} = {float(one.y[t, 0]):.3f}"
        )
    return texts


# --- Error against the softmax --------------------------------------------------------------------------


@dataclass(frozen=True)
class Errors:
    """
    Attributes:
        lines: what stands for the softmax -> mean error by `COUNTS`; of what has no M, the same everywhere.
        exact: (P,) weights of pairs. found: (F, P), by positive features of so many draws.
    """

    lines: dict[str, list[float]]
    exact: np.ndarray
    found: np.ndarray


def errors(width: int, seed: int) -> Errors:
    """Mean absolute error for random q, k, v of 64 tokens with entries of N(0, 1)."""
    by_name = bench.errors(width, TRIES, COUNTS)
    lines = {}
    for name in ("positive", "hyperbolic"):
        lines[name] = [by_name[f"{name}, M = {M:,}"] for M in COUNTS]
    for name in ("elu + 1", "mean of all values"):
        lines[name] = [by_name[name]] * len(COUNTS)
    q, k, _, _ = bench.problem(width, seed, PAIRS)
    found = [
        bench.approximated(q, k, torch.eye(PAIRS, dtype=q.dtype), "positive", M, seed).flatten()
        for M in COUNTS
    ]
    return Errors(lines, attention_weights(q, k).flatten().numpy(), torch.stack(found).numpy())


def error_captions(one: Errors) -> list[str]:
    """Errors at each M."""
    return [
        f"M = {M:,}: positive {one.lines['positive'][f]:.3f}, hyperbolic {one.lines['hyperbolic'][f]:.3f}; "
        f"elu + 1 {one.lines['elu + 1'][f]:.3f}, mean of all values {one.lines['mean of all values'][f]:.3f}."
        for f, M in enumerate(COUNTS)
    ]


def error_equations(one: Errors) -> list[str]:
    return [
        r"\psi(x) = e^{-\|x\|^2/2} M^{-1/2} \left(e^{\omega_i \cdot x}\right)_i, \quad"
        r" x = q\,D^{-1/4}, \quad"
        rf" \overline{{|\Delta y|}} = {one.lines['positive'][f]:.3f} \;\; (M = {M})"
        for f, M in enumerate(COUNTS)
    ]


# --- Cost -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """By `LENGTHS`, of both forms: multiply-adds, and numbers in the largest tensor."""

    adds: dict[str, list[int]]
    largest: dict[str, list[int]]

    def slope(self, name: str, largest: bool = False) -> float:
        return bench.slope(LENGTHS, (self.largest if largest else self.adds)[name])


@torch.no_grad()
def cost() -> Cost:
    """Counted while the layers run, one head of width 16, causal."""
    layer = seeded(lambda: LinearAttention(16, 1))
    ways = {"all pairs": bench.pairs_written_out, "linear": lambda layer, x: layer(x, causal=True)}
    adds: dict[str, list[int]] = {name: [] for name in ways}
    largest: dict[str, list[int]] = {name: [] for name in ways}
    for name, call in ways.items():
        for n in LENGTHS:
            x = torch.zeros(1, n, 16)
            with FlopCounterMode(display=False) as flops:
                call(layer, x)
            with bench.Largest() as seen:
                call(layer, x)
            adds[name].append(flops.get_total_flops() // 2)
            largest[name].append(seen.numel)
    return Cost(adds, largest)


def cost_captions(one: Cost) -> list[str]:
    return [
        f"n = {n:,}: {one.adds['all pairs'][f]:,} multiply-adds for all pairs, {one.adds['linear'][f]:,} "
        f"linear; largest tensor {one.largest['all pairs'][f]:,} and {one.largest['linear'][f]:,}."
        for f, n in enumerate(LENGTHS)
    ]


# --- RBF features -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gram:
    """
    Attributes:
        exact: (N, N). found: (F, N, N), of `COUNTS` draws.
        lines: name -> mean error by `COUNTS`; that of the printed exponent without any draws last.
    """

    exact: np.ndarray
    found: np.ndarray
    lines: dict[str, list[float]]


def moons(points: int = 20, size: float = 1.0) -> Tensor:
    """Two half circles, (2 · points, 2), one after the other."""
    turn = torch.linspace(0, torch.pi, points, dtype=torch.float64)
    upper = torch.stack([turn.cos() - 0.5, turn.sin() - 0.25], dim=1)
    return size * torch.cat([upper, -upper])


def gram(kind: str, gamma: float, printed: bool, seed: int) -> Gram:
    """Gram matrix of two moons from random features, and errors with the right and the printed exponent."""
    x = moons()
    exact = rbf_kernel(x, x, gamma)
    printed = printed and kind != "Trigonometric"

    def of(M: int, wrong: bool, which: str) -> Tensor:
        omega = draws(M, 2, torch.Generator().manual_seed(seed), dtype=x.dtype)
        psi = rbf_features(x, omega, gamma, KINDS[which], wrong)
        return psi @ psi.T

    ways = {"positive": ("Positive", False), "trigonometric": ("Trigonometric", False)}
    ways["exponent γ"] = ("Positive", True)
    lines = {
        name: [float((of(M, wrong, which) - exact).abs().mean()) for M in COUNTS]
        for name, (which, wrong) in ways.items()
    }
    norms = x.square().sum(1)
    limit = (gamma * (x @ x.T - norms[:, None] - norms)).exp()
    lines["its limit"] = [float((limit - exact).abs().mean())] * len(COUNTS)
    found = torch.stack([of(M, printed, kind) for M in COUNTS])
    return Gram(exact.numpy(), found.numpy(), lines)


def gram_captions(one: Gram, kind: str) -> list[str]:
    return [
        f"M = {M:,} draws, {kind.lower()} features: the entries err by "
        f"{float(np.abs(one.found[f] - one.exact).mean()):.3f} on average."
        for f, M in enumerate(COUNTS)
    ]


def gram_equations(gamma: float, printed: bool) -> list[str]:
    factor = r"\gamma" if printed else r"2\gamma"
    sign, norms = r"\neq" if printed else "=", r"e^{-\gamma\|x\|^2} e^{-\gamma\|y\|^2}"
    text = rf"e^{{-\gamma\|x-y\|^2}} {sign} {norms} e^{{{factor}\, x\cdot y}}"
    return [rf"{text}, \quad \gamma = {gamma:g}, \; M = {M}" for M in COUNTS]


def other_softmax(one: Walk) -> Tensor:
    """What softmax attention gives for the same numbers, (n, D)."""
    return one.softmax @ one.v
