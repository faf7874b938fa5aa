r"""A linear recurrence as a scan in rounds: each element composes twice as many steps as the round before.

    (a, b) ∘ (a', b') = (a' a, a' b + b'),    first (a, b), then (a', b');  h_t = a_t h_{t−1} + b_t

Shapes: T steps, R = ⌈log₂ T⌉ rounds.

References: Hillis, Steele 1986, Data parallel algorithms; Gu, Dao 2023, arXiv:2312.00752.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.transformer import scan as scans


@dataclass(frozen=True)
class Rounds:
    """
    Attributes:
        a, b: elements after each round, first as they are, (R + 1, T). states: h of the loop (T,).
    """

    a: Tensor
    b: Tensor
    states: Tensor

    @property
    def count(self) -> int:
        return len(self.a) - 1


def rounds_of(a: Tensor, b: Tensor) -> Rounds:
    """The scan of steps a, b (T,), and its loop."""
    a, b = a[None], b[None]  # (1, T)
    pairs = [(a, b), *scans.rounds(a, b)]
    return Rounds(
        torch.cat([pair[0] for pair in pairs]),
        torch.cat([pair[1] for pair in pairs]),
        scans.scan(a, b, method="loop")[0],
    )


def composed(found: Rounds, turn: int) -> list[int]:
    """Steps that each element has composed after so many rounds."""
    return [min(2**turn, t + 1) for t in range(found.a.shape[1])]


def scan_captions(found: Rounds) -> list[str]:
    T = found.a.shape[1]
    return [
        f"After round {r}: {sum(2**r > t for t in range(T))} of {T} states are known."
        if r
        else f"Before the first round: {T} steps, of which the first is a state."
        for r in range(found.count + 1)
    ]


def scan_equations(found: Rounds) -> list[str]:
    """The last element after each round, from the two that were composed."""
    texts = [rf"(a,b)=({found.a[0, -1]:.3g},\,{found.b[0, -1]:.3g})"]
    T = found.a.shape[1]
    for r in range(1, found.count + 1):
        early = T - 1 - 2 ** (r - 1)
        a, b = float(found.a[r - 1, early]), float(found.b[r - 1, early])
        then_a, then_b = float(found.a[r - 1, -1]), float(found.b[r - 1, -1])
        texts.append(
            rf"(a'a,\,a'b+b')=({then_a:.3g}\cdot{a:.3g},\;{then_a:.3g}\cdot({b:.3g})+({then_b:.3g}))"
            rf"=({found.a[r, -1]:.3g},\,{found.b[r, -1]:.3g})"
        )
    return texts
