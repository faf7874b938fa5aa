"""Backpropagation through time, by hand: a recurrent network is a deep one whose layers share their weights.

    L = Σ_t ℓ_t,    ∂L/∂W_h = Σ_t Σ_{k ≤ t}  ∂ℓ_t/∂h_t  J_t J_{t−1} ⋯ J_{k+1}  ∂⁺h_k/∂W_h
    J_t = ∂h_t/∂h_{t−1} = diag(φ'(a_t)) W_h,    ‖J_t ⋯ J_{k+1}‖₂ ≤ (γ λ₁)^{t−k}
    γ = sup φ',  λ₁ the largest singular value of W_h

The newest Jacobian stands leftmost: matrices do not commute ([GM] and [LLM] 1.17 print a product without an
order). ∂⁺ is the immediate partial, with h_{k−1} held fixed: with the total derivative, as [LLM] 1.16 ends,
a path is counted once for every step that it passes. γ λ₁ > 1 is necessary for an explosion, not
sufficient: the bound is one-sided ([LLM] says that a large norm makes the product explode). γ = 1 for tanh
([GM]: below 1).

`backpropagate` sums all of this in one sweep backwards, for every cell; `triangle` keeps the terms of an
Elman RNN apart. Numbers of these functions carry no gradient.

References: Werbos 1990, Backpropagation through time; Pascanu, Mikolov, Bengio 2013, arXiv:1211.5063; [GM]
1.6.2; [LLM] 1.16, 1.17.
"""

import torch
from torch import Tensor

from modules.recurrent.cell import Cell, State
from modules.recurrent.rnn import RNNCell


@torch.no_grad()
def backpropagate(
    cell: Cell, x: Tensor, grad_outputs: Tensor, state: State | None = None, truncation: int | None = None
) -> dict[str, Tensor]:
    """Gradients of L by the cell's parameters, by "x" (B, T, D) and by the first state, "h" and "cell".

    Args:
        x: (B, T, D). state: before the first step; zeros without one.
        grad_outputs: (B, T, H), ∂ℓ_t/∂h_t along paths that leave at step t.
        truncation: K, steps after which the state is carried on without its gradient: t = K, 2K, ... of t
            from 0 see nothing of what was before; None keeps all paths.

    Raises:
        ValueError: truncation is below 1.
    """
    if truncation is not None and truncation < 1:
        raise ValueError(f"truncation is {truncation}: give at least 1 step.")
    state = cell.initial_state(x) if state is None else state
    _, _, steps = cell.unroll(x, state)
    befores = [state] + [after for after, _ in steps[:-1]]
    grad = state.map(torch.zeros_like)
    total = {name: torch.zeros_like(p) for name, p in cell.named_parameters()}
    dx = torch.zeros_like(x)
    for t in reversed(range(x.shape[1])):
        after, gates = steps[t]
        grad = State(grad.h + grad_outputs[:, t], grad.cell)
        da, immediate, grad = cell.pull_back(gates, befores[t], after, grad)
        immediate |= {"weight_x": da.t() @ x[:, t], "bias": da.sum(0)}
        for name, partial in immediate.items():
            total[name] += partial
        dx[:, t] = da @ cell.weight_x
        if truncation and t % truncation == 0:
            grad = grad.map(torch.zeros_like)
    total |= {"x": dx, "h": grad.h}
    return total if grad.cell is None else total | {"cell": grad.cell}


@torch.no_grad()
def jacobians(cell: Cell, x: Tensor, state: State | None = None) -> Tensor:
    """∂state_t/∂state_{t−1} at every step of one sequence x (T, D) -> (T, N, N), t the first axis.

    N = H; of an LSTM 2H, h before cell. Row i is what `pull_back` makes of the i-th unit vector.
    """
    state = cell.initial_state(x[None]) if state is None else state
    parts = 1 if state.cell is None else 2
    n = parts * cell.hidden
    units = torch.eye(n, dtype=x.dtype, device=x.device).split(cell.hidden, 1)
    result, before = [x.new_zeros(0, n, n)], state
    for after, gates in cell.unroll(x[None], state)[2]:
        many = before.map(lambda s: s.expand(n, -1))
        _, _, pulled = cell.pull_back(gates, many, after, State(*units))
        result.append(torch.cat([pulled.h] if pulled.cell is None else [pulled.h, pulled.cell], 1)[None])
        before = after
    return torch.cat(result)


def jacobian_products(steps: Tensor) -> Tensor:
    """J_t J_{t−1} ⋯ J_{k+1} = ∂state_t/∂state_k of all pairs: (T, N, N) -> (T, T, N, N), rows t, columns k.

    The identity where t = k, 0 above. The first Jacobian is in none of them: it leads to the state before.
    """
    length, n, _ = steps.shape
    products = steps.new_zeros(length, length, n, n)
    for t in range(length):
        products[t, :t] = steps[t] @ products[t - 1, :t]
        products[t, t] = torch.eye(n, dtype=steps.dtype)
    return products


@torch.no_grad()
def triangle(
    cell: RNNCell,
    x: Tensor,
    grad_outputs: Tensor,
    state: State | None = None,
    truncation: int | None = None,
) -> Tensor:
    """Terms of ∂L/∂W_h of an Elman RNN: x (T, D) -> (T, T, H, H), rows t, columns k; their sum is ∂L/∂W_h.

    Args:
        grad_outputs: (T, H), ∂ℓ_t/∂h_t.
        truncation: K; only terms with t − k < K, so that every loss looks K steps back.
    """
    state = cell.initial_state(x[None]) if state is None else state
    h = cell.unroll(x[None], state)[0][0]  # (T, H)
    before = torch.cat([state.h, h[:-1]])
    to_k = torch.einsum("ti,tkij->tkj", grad_outputs, jacobian_products(jacobians(cell, x, state)))
    terms = torch.einsum("tki,kj->tkij", to_k * cell.slope(h), before)  # ∂⁺h_k/∂W_h = diag(φ') ⊗ h_{k−1}
    if truncation is not None:
        lag = torch.arange(len(x))[:, None] - torch.arange(len(x))
        terms = terms * (lag < truncation)[..., None, None]
    return terms


# --- How fast a gradient fades or grows --------------------------------------------------------


def spectral_norm(weight: Tensor) -> float:
    """λ₁, the largest singular value of (H, H): what one step can do at most."""
    return float(torch.linalg.matrix_norm(weight.detach(), 2))


def spectral_radius(weight: Tensor) -> float:
    """Largest |eigenvalue| of (H, H): what many steps of a linear network do, each."""
    return float(torch.linalg.eigvals(weight.detach()).abs().max())


def gradient_bound(cell: RNNCell, lags: Tensor) -> Tensor:
    """(γ λ₁)^{t−k}, above which ‖∂h_t/∂h_k‖₂ of an Elman RNN cannot be; of lags t − k in any shape."""
    return (cell.slope_bound * spectral_norm(cell.weight_h)) ** lags.to(cell.weight_h.dtype)
