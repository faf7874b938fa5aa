"""Sinusoidal codes of positions.

    PE(pos)·PE(pos + k) = Σ_i cos(ω_i k),    PE(pos + k) = R(ω_i k) PE(pos) of each pair i

Shapes: N positions, d features.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from modules.transformer.positions import angles, sinusoids
from pages.transformer.positions.room import N

BITS = 6


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
