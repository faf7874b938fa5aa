"""Gradients through time: norm of a product of Jacobians against the lag, measured, at every gain g.

    J_t = ∂state_t/∂state_{t−1},    ∂state_t/∂state_k = J_t J_{t−1} ⋯ J_{k+1},    W_h = g W
    Elman RNN    ‖∂h_t/∂h_k‖₂ ≤ (γ λ₁)^{t−k},    γ = sup φ',  λ₁ the largest singular value of W_h
    LSTM, GRU    direct path ∏ f, ∏ z: what the gate alone lets through, of its most open unit

The state of an LSTM is h and its memory. Noise of N(0, σ²) is added to every pre-activation; σ = 0 leaves the
network alone with its first state, drawn from N(0, 1).

Shapes: F = len(GAINS) frames, lags 0 … LAGS, N units of the state.

References: Pascanu, Mikolov, Bengio 2013, arXiv:1211.5063; [GM] 1.6.2; [LLM] 1.16-1.18.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.seeding import seeded
from modules.recurrent.bptt import backpropagate, gradient_bound, jacobians
from modules.recurrent.cell import Cell, State
from modules.recurrent.clipping import clip_by_norm, clip_by_value, global_norm
from modules.recurrent.gru import GRUCell
from modules.recurrent.lstm import LSTMCell
from modules.recurrent.rnn import RNNCell
from pages.recurrent.gradients.room import GAINS, RNNS, TOGETHER

HIDDEN, LAGS, MUCH = 16, 100, 1000
THREE = ("RNN, tanh", "LSTM", "GRU")
GATES = {"LSTM": "f", "GRU": "z"}  # whose product is the direct path
OPTIONS = ["less than a thousandth", "between a thousandth and a thousandfold", "more than a thousandfold"]


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        name: of the cell.
        norms: (F, LAGS + 1), ‖∂state_t/∂state_k‖₂ by the lag t − k.
        limit: (F, LAGS + 1), the bound of an Elman RNN, the direct path of the others.
        steps: (F, N) complex, eigenvalues of the last J_t.
        weights: (F, H) complex, eigenvalues of W_h; None of cells with gates, which have several W.
        slope_bound: γ; None of cells with gates.
    """

    name: str
    norms: Tensor
    limit: Tensor
    steps: Tensor
    weights: Tensor | None = None
    slope_bound: float | None = None

    @property
    def top(self) -> Tensor:
        """λ₁ of an Elman RNN's W_h at each gain (F,)."""
        assert self.slope_bound is not None
        return self.limit[:, 1] / self.slope_bound

    @property
    def radius(self) -> Tensor:
        """Spectral radius of an Elman RNN's W_h at each gain (F,)."""
        assert self.weights is not None
        return self.weights.abs().amax(1)


def rotation(hidden: int, generator: torch.Generator) -> Tensor:
    """Orthogonal matrix (H, H)."""
    return torch.linalg.qr(torch.randn(hidden, hidden, generator=generator, dtype=torch.float64)).Q


def matrix(weights: str, hidden: int, generator: torch.Generator) -> Tensor:
    """W (H, H): its spectral radius is 1, about 1 of "Gaussian", 0 of "Nilpotent"; its norm is 1 of those
    that are normal."""
    q = rotation(hidden, generator)
    if weights == "Orthogonal":
        return q
    if weights == "Symmetric":
        return q @ torch.diag(torch.linspace(-1, 1, hidden, dtype=torch.float64)) @ q.T
    if weights == "Gaussian":
        return torch.randn(hidden, hidden, generator=generator, dtype=torch.float64) / hidden**0.5
    pair = {"Shear": [[1, 5 / 0.9], [0, 1]], "Nilpotent": [[0, 10], [0, 0]]}[weights]
    return torch.block_diag(*[torch.tensor(pair, dtype=torch.float64)] * (hidden // 2))


def start(
    kind: str, weights: str, noise: float, bias: float, seed: int, hidden: int = HIDDEN
) -> tuple[Cell, Tensor, Tensor, State]:
    """A cell whose W_h is still to be set, W of all its blocks (G H, H), the input (LAGS + 1, G H), which is
    added to the pre-activations, and the first state (1, H)."""
    kinds: Any = {
        "LSTM": lambda n: LSTMCell(4 * n, n, forget_bias=bias),
        "GRU": lambda n: GRUCell(3 * n, n, update_bias=bias),
        **{name: lambda n, phi=phi: RNNCell(n, n, phi) for name, phi in RNNS.items()},
    }
    cell: Cell = seeded(lambda: kinds[kind](hidden)).double().requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    blocks = [matrix(weights, hidden, generator) for _ in cell.BLOCKS]
    cell.weight_x.copy_(torch.eye(cell.inputs))
    x = noise * torch.randn(LAGS + 1, cell.inputs, generator=generator, dtype=torch.float64)
    first = cell.initial_state(x[:1]).map(
        lambda s: torch.randn(s.shape, generator=generator, dtype=torch.float64)
    )
    return cell, torch.cat(blocks), x, first


def through_time(kind: str, weights: str, noise: float, bias: float, seed: int) -> list[Run]:
    """A run of the cell, or of each of the three, at all gains."""
    return [run(name, weights, noise, bias, seed) for name in (THREE if kind == TOGETHER else (kind,))]


def run(
    kind: str, weights: str, noise: float, bias: float, seed: int, hidden: int = HIDDEN,
    gains: Sequence[float] = GAINS,
) -> Run:  # fmt: skip
    """Products of the Jacobians of a cell at all these gains."""
    cell, w, x, first = start(kind, weights, noise, bias, seed, hidden)
    norms, limits, steps, own = [], [], [], []
    lags = torch.arange(LAGS + 1)
    for gain in gains:
        cell.weight_h.copy_(gain * w)
        each = jacobians(cell, x, first)[1:]
        products = [torch.eye(each.shape[1], dtype=x.dtype)]
        for step in each:
            products.append(step @ products[-1])  # the newest leftmost
        norms.append(torch.linalg.matrix_norm(torch.stack(products), 2))
        steps.append(torch.linalg.eigvals(each[-1]))
        if isinstance(cell, RNNCell):
            limits.append(gradient_bound(cell, lags))
            own.append(torch.linalg.eigvals(cell.weight_h))
        else:
            gates = torch.cat([gate[GATES[kind]] for _, gate in cell.unroll(x[None], first)[2]])
            limits.append(torch.cat([torch.ones(1), gates[1:].cumprod(0).amax(1)]))
    found = torch.stack(norms), torch.stack(limits), torch.stack(steps)
    if not isinstance(cell, RNNCell):
        return Run(kind, *found)
    return Run(kind, *found, torch.stack(own), cell.slope_bound)


# --- Clipping ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clipped:
    """
    Attributes:
        raw, by_norm, by_value: (F,), norm of the gradient before and after.
        cosine: (F,), between the gradient and the one that is clipped by value; by norm it is 1.
    """

    raw: Tensor
    by_norm: Tensor
    by_value: Tensor
    cosine: Tensor


def clipping(kind: str, weights: str, noise: float, bias: float, seed: int, threshold: float) -> Clipped:
    """Gradient by all weights of a loss at the last step, ℓ = mean of h, clipped at τ; at all gains."""
    cell, w, x, first = start(kind, weights, noise, bias, seed)
    grad_outputs = torch.zeros(1, len(x), cell.hidden, dtype=x.dtype)
    grad_outputs[:, -1] = 1 / cell.hidden
    rows = []
    for gain in GAINS:
        cell.weight_h.copy_(gain * w)
        result = backpropagate(cell, x[None], grad_outputs, first)
        gradients = [result[name] for name, _ in cell.named_parameters()]
        norm, value = clip_by_norm(gradients, threshold), clip_by_value(gradients, threshold)
        flat, turned = (torch.cat([g.flatten() for g in each]) for each in (gradients, value))
        cosine = torch.dot(flat / flat.norm(), turned / turned.norm())
        rows.append(torch.stack([*map(global_norm, (gradients, norm, value)), cosine]))
    return Clipped(*torch.stack(rows).unbind(1))


# --- What is said of it ------------------------------------------------------------------------------


def power(value: float) -> str:
    """A positive number as a power of ten, LaTeX; a product that is zero stays 0."""
    return f"10^{{{math.log10(value):z.1f}}}" if value > 0 else "0"


def captions(runs: list[Run]) -> list[str]:
    """What each gain has done at the largest lag."""
    texts = []
    for f, gain in enumerate(GAINS):
        if len(runs) > 1:
            told = ", ".join(f"{one.name} {one.norms[f, -1]:.2g}" for one in runs)
        else:
            (one,) = runs
            name = "direct path" if one.slope_bound is None else "bound"
            told = f"norm {one.norms[f, -1]:.2g}, {name} {one.limit[f, -1]:.2g}"
        texts.append(f"g = {gain}, after {LAGS} steps: {told}.")
    return texts


def equations(runs: list[Run]) -> list[str]:
    """The norm at the largest lag, with what it is compared with, LaTeX."""
    return [equation(runs, f) for f in range(len(GAINS))]


def equation(runs: list[Run], f: int) -> str:
    product = r"\|J_t J_{t-1}\cdots J_{k+1}\|_2="
    norms = [power(float(one.norms[f, -1])) for one in runs]
    if len(runs) > 1:
        told = (rf"{norm}\;\text{{({one.name})}}" for norm, one in zip(norms, runs, strict=True))
        return product + r",\quad ".join(told)
    (one,), limit = runs, power(float(runs[0].limit[f, -1]))
    if one.slope_bound is None:
        return rf"{product}{norms[0]},\qquad \max\prod_j {GATES[one.name]}_j={limit}"
    numbers = rf"({one.slope_bound:g}\cdot {one.top[f]:.2f})^{{{LAGS}}}"
    return rf"{product}{norms[0]}\;\le\;(\gamma\lambda_1)^{{t-k}}={numbers}={limit}"


def clipped_captions(found: Clipped) -> list[str]:
    """What clipping does at each gain."""
    return [
        f"g = {gain}: the gradient's norm is {raw:.2g}, by norm {by_norm:.2g}; by value {by_value:.2g}, at a "
        f"cosine of {cosine:.2f}."
        for gain, raw, by_norm, by_value, cosine in zip(
            GAINS, found.raw, found.by_norm, found.by_value, found.cosine, strict=True
        )
    ]


def clipped_equations(found: Clipped, threshold: float) -> list[str]:
    """The factor of clipping by norm, LaTeX."""
    return [
        rf"\min\left(1,\frac{{\tau}}{{\|\nabla L\|}}\right)=\min\left(1,\frac{{{threshold:g}}}"
        rf"{{{power(float(raw))}}}\right)={power(min(1.0, threshold / float(raw)))}"
        for raw in found.raw
    ]


def left(norm: float) -> str:
    """The one of OPTIONS that a norm after all steps is."""
    return OPTIONS[0] if norm < 1 / MUCH else OPTIONS[1] if norm <= MUCH else OPTIONS[2]


def each_step() -> float:
    """Factor of every step that is a thousand after all."""
    return float(MUCH ** (1 / LAGS))


def kept(bias: float) -> float:
    """Share that a gate of σ(b) leaves after all steps."""
    return (1 + math.exp(-bias)) ** -LAGS
