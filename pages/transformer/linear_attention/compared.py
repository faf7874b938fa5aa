"""Linear attention beside the softmax: its error by the number of draws, and its cost by the length.

Shapes: P pairs of tokens; F frames.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from lab.bench import efficient_attention as bench
from lab.seeding import seeded
from modules.transformer.attention import attention_weights
from modules.transformer.linear_attention import LinearAttention
from pages.transformer.linear_attention.room import COUNTS, LENGTHS

TRIES, PAIRS = 8, 24  # problems that an error is averaged over; tokens of a scatter

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
