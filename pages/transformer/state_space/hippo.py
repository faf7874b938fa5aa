"""HiPPO's memory of a signal: the best polynomial for the past so far, as the state of LegS holds it.

    x̂(s) = Σ_n c_n √(2n+1) P_n(2 s/t − 1),   s in [0, t]

Shapes: P parts, N states.

References: Gu et al. 2020, arXiv:2008.07669.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from modules.transformer.s4 import hippo_legs
from modules.transformer.state_space import zero_order_hold
from pages.transformer.state_space.lens import double

PARTS = 120  # steps of a signal's whole time


@dataclass(frozen=True)
class Memory:
    """
    Attributes:
        x: signal (P,). coefficients: c after each part (P, N).
        memory: x̂ of the parts so far (P, P), NaN behind the present. errors: root mean square (P,).
    """

    x: Tensor
    coefficients: Tensor
    memory: Tensor
    errors: Tensor


def legendre(N: int, u: Tensor) -> Tensor:
    """√(2n+1) P_n(u), n < N: (..., N)."""
    rows = [torch.ones_like(u), u]
    for n in range(1, N - 1):
        rows.append(((2 * n + 1) * u * rows[-1] - n * rows[-2]) / (n + 1))
    return torch.stack(rows[:N], -1) * (2 * torch.arange(N) + 1).sqrt()


def memory(signal: list[float], states: int) -> Memory:
    """The signal, its numbers joined by lines, and what the state of LegS holds of it."""
    places = np.linspace(0, len(signal) - 1, PARTS)
    x = double(np.interp(places, np.arange(len(signal)), signal).tolist())
    A, B = hippo_legs(states)
    c = x[0] * (torch.arange(states) == 0)
    rows = [c]
    for k in range(1, PARTS):  # in ln t the system is time invariant
        held = zero_order_hold(A, B, math.log((k + 1) / k))
        c = held.A @ c + held.B * x[k]
        rows.append(c)
    coefficients = torch.stack(rows)
    part = torch.arange(PARTS, dtype=torch.float64)
    u = 2 * (part + 0.5) / (part[:, None] + 1) - 1  # of part s at time t, (P, P)
    held_past = u.clamp(max=1)
    made = (legendre(states, held_past) @ coefficients[..., None])[..., 0]
    past = part <= part[:, None]
    errors = torch.where(past, (made - x).square(), 0).sum(1).div(past.sum(1)).sqrt()
    return Memory(x, coefficients, torch.where(past, made, math.nan), errors)


def captions(found: Memory) -> list[str]:
    return [
        f"After {t + 1} of {PARTS} parts: the past is remembered with an error of {float(e):.3f} (root mean "
        "square)."
        for t, e in enumerate(found.errors)
    ]


def equations(found: Memory) -> list[str]:
    return [
        rf"\dot c=\frac{{A\,c+B\,x}}{{t}},\qquad c_0={float(c[0]):.3f},\; c_1={float(c[1]):.3f},\quad "
        rf"t={t + 1}"
        for t, c in enumerate(found.coefficients)
    ]
