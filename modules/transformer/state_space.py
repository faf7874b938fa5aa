"""Linear state-space model: a system in continuous time, made discrete, as recurrence and as convolution.

    ḣ = A h + B x,  y = C h + D x
    h_t = Ā h_{t−1} + B̄ x_t,  y_t = C h_t + D x_t              recurrence: a state of O(N)
    y = K̄ * x + D x,  K̄_t = C Ā^t B̄,  t = 0, 1, …               convolution: O(T log T) by FFT

Zero-order hold is exact for an input that is constant over each step of length Δ:

    exp(Δ [[A, B], [0, 0]]) = [[Ā, B̄], [0, 1]],   B̄ = A⁻¹ (Ā − I) B where A has an inverse

Euler (I + ΔA, ΔB) and bilinear ((I − ΔA/2)⁻¹ (I + ΔA/2), (I − ΔA/2)⁻¹ ΔB) approximate it.

An FFT multiplies periodic signals: on fewer than 2T − 1 points the end of the output wraps around to its
beginning ([LLM] part 4 does not pad).

Shapes: A (..., N, N), B and C (..., N), Δ a number or (...); x and y (..., T), K̄ (..., T), h (..., T, N).

References: Kalman 1960; Gu et al. 2021, arXiv:2110.13985 (three views); [LLM] part 4.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Discrete(NamedTuple):
    """Ā (..., N, N) and B̄ (..., N)."""

    A: Tensor
    B: Tensor


def zero_order_hold(A: Tensor, B: Tensor, delta: float | Tensor) -> Discrete:
    """Exact for an input that is held over each step; A may be singular."""
    N = A.shape[-1]
    above = torch.cat([A, B[..., None]], -1)  # (..., N, N + 1)
    both = torch.cat([above, torch.zeros_like(above[..., :1, :])], -2)  # (..., N + 1, N + 1)
    step = torch.linalg.matrix_exp(scaled(delta, both))
    return Discrete(step[..., :N, :N], step[..., :N, N])


def euler(A: Tensor, B: Tensor, delta: float | Tensor) -> Discrete:
    """First order in Δ; unstable where |1 + Δλ| > 1 for an eigenvalue λ of A."""
    identity = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return Discrete(identity + scaled(delta, A), scaled(delta, B[..., None])[..., 0])


def bilinear(A: Tensor, B: Tensor, delta: float | Tensor) -> Discrete:
    """Second order in Δ; stable wherever A is."""
    identity = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    half = scaled(delta, A) / 2
    right = torch.cat([identity + half, scaled(delta, B[..., None])], -1)  # (..., N, N + 1)
    both = torch.linalg.solve(identity - half, right)
    return Discrete(both[..., :-1], both[..., -1])


METHODS: dict[str, Callable[[Tensor, Tensor, float | Tensor], Discrete]] = {
    "zero-order hold": zero_order_hold,
    "bilinear": bilinear,
    "Euler": euler,
}


def scaled(delta: float | Tensor, matrix: Tensor) -> Tensor:
    """Δ (...) times a matrix (..., N, M)."""
    return delta[..., None, None] * matrix if isinstance(delta, Tensor) else delta * matrix


def kernel(system: Discrete, C: Tensor, length: int) -> Tensor:
    """Impulse response K̄_t = C Ā^t B̄ for t = 0 … T − 1: (..., T)."""
    state, rows = system.B, []
    for _ in range(length):
        rows.append((C * state).sum(-1))
        state = (system.A @ state[..., None])[..., 0]
    return torch.stack(rows, -1) if rows else (C * state)[..., :0]


def states(system: Discrete, x: Tensor, initial: Tensor | None = None) -> Tensor:
    """h_1 … h_T of the recurrence: x (..., T) -> (..., T, N); h_0 is `initial` (..., N), or 0."""
    drive = x[..., None] * system.B[..., None, :]  # (..., T, N)
    state = torch.zeros_like(drive[..., :1, :].sum(-2)) if initial is None else initial
    rows = []
    for b in drive.unbind(-2):
        state = (system.A @ state[..., None])[..., 0] + b
        rows.append(state)
    return torch.stack(rows, -2) if rows else drive


def recurrence(system: Discrete, C: Tensor, x: Tensor, initial: Tensor | None = None) -> Tensor:
    """y_t = C h_t, step by step: (..., T)."""
    return (states(system, x, initial) * C[..., None, :]).sum(-1)


def convolution(response: Tensor, x: Tensor) -> Tensor:
    """y_t = Σ_{s ≤ t} K̄_{t−s} x_s, written out: (..., T)."""
    T = x.shape[-1]
    lag = torch.arange(T, device=x.device)[:, None] - torch.arange(T, device=x.device)  # t − s, (T, T)
    toeplitz = response[..., lag.clamp(min=0)] * (lag >= 0)
    return (toeplitz @ x[..., None])[..., 0]


def fft_convolution(response: Tensor, x: Tensor, points: int | None = None) -> Tensor:
    """The same by FFT: (..., T).

    Args:
        response, x: K̄ and x, (..., T).
        points: of the FFT, at least T; None is 2T, enough. Below 2T − 1 the end wraps around to the
            beginning, which is wrong, and shown on a page.

    Raises:
        ValueError: there are fewer points than steps.
    """
    T = x.shape[-1]
    points = 2 * T if points is None else points
    if points < T:
        raise ValueError(f"points is {points}: {T} steps need at least as many.")
    if not x.numel():
        return response * x
    product = torch.fft.rfft(response, points) * torch.fft.rfft(x, points)
    return torch.fft.irfft(product, points)[..., :T]
