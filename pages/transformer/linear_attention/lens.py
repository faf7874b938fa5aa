"""Linear attention in its two forms: one matrix of weights, and a state that is carried along.

    y_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t = Σ_{j ≤ t} α_tj v_j,    α_tj = φ(q_t)·φ(k_j) / Σ_{i ≤ t} φ(q_t)·φ(k_i)

Shapes: n tokens, D features of a head, M values of φ.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from modules.transformer.attention import attention_weights
from modules.transformer.linear_attention import (
    LinearState,
    elu_features,
    kernel_weights,
    linear_attention,
    random_features,
)
from modules.transformer.random_features import Kind, draws
from pages.transformer.linear_attention.room import ELU

D, M = 4, 8
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


def other_softmax(one: Walk) -> Tensor:
    """What softmax attention gives for the same numbers, (n, D)."""
    return one.softmax @ one.v


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
