r"""Regions out of class probabilities of pixels, greedily: the class with most evidence first, and whole.

    c* = argmax_c Σ_{i unlabelled} P_c(i)                                 among the classes not used yet
    E(s) = Σ_i −log P(s_i) + β Σ_{4-neighbours i, j} [s_i ≠ s_j]          s_i: pixel i belongs to the region

over the unlabelled pixels, P(1) = P_c*(i) and P(0) = 1 − P_c*(i). From s_i = [P_c* > ½] on, binary iterated
conditional modes (Besag 1986) set every s_i to what costs least given its neighbours; no two neighbours are
set at once, so that no sweep raises E. Components of less than `smallest` pixels are dropped. The region is
labelled with c*, unless its evidence Σ_{i in it} P_c*(i) is below τ of all H·W pixels: then nothing more is
labelled. A labelled neighbour differs from its pixel whatever the pixel is called, and so costs nothing.

[UDL] §10.5.3 says of all this that classes are taken by their evidence, that regions are to be smooth, and
that it ends with insufficient evidence; E, β, `smallest` and τ are one way to say it.

A vote of several segmentations takes a pixel for a class only if all of them do ([UDL] figure 11.11).

Shapes: probabilities (C, H, W), masks and labels (H, W).

References: [UDL] §10.5.3, figure 10.20; Besag 1986.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from scipy.ndimage import label as components_of
from torch import Tensor

from modules.base import require

SWEEPS = 10  # of iterated conditional modes, at most
UNLABELLED = -1


class Region(NamedTuple):
    """One step of the assembly.

    Attributes:
        label: the class.
        sums: Σ P_c over the unlabelled pixels for each class, NaN for those that were used.
        states: (H, W) bool of the start and after each sweep that changed something.
        energies: E of each of them.
        mask: (H, W) bool, what is left of the last without small components.
        dropped: number of the components that were too small.
        evidence: Σ P_c in the mask.
        accepted: it is labelled; if not, it is where the assembly ended.
    """

    label: int
    sums: tuple[float, ...]
    states: tuple[Tensor, ...]
    energies: tuple[float, ...]
    mask: Tensor
    dropped: int
    evidence: float
    accepted: bool


def unlike(free: Tensor, state: Tensor) -> int:
    """Pairs of free neighbours of which one is in the region and one is not; masks (H, W) bool."""
    down = (state[1:] != state[:-1]) & free[1:] & free[:-1]
    right = (state[:, 1:] != state[:, :-1]) & free[:, 1:] & free[:, :-1]
    return int(down.sum() + right.sum())


def energy(p: Tensor, free: Tensor, state: Tensor, beta: float) -> float:
    """E of a state (H, W) bool, with P_c p (H, W), over the pixels that are `free` (H, W) bool."""
    costs = -torch.where(state, p, 1 - p).log()
    return float(costs[free].sum()) + beta * unlike(free, state)


def sweep(p: Tensor, free: Tensor, state: Tensor, beta: float) -> Tensor:
    """State after each free pixel was set, in two halves like the squares of a chessboard, to what costs less
    given its neighbours; where both cost the same it stays."""
    gain = p.log() - (1 - p).log()  # of 1 over 0
    rows, columns = (torch.arange(n, device=p.device) for n in p.shape)
    even = (rows[:, None] + columns) % 2 == 0
    for half in (even, ~even):
        # +1 for each free neighbour inside, −1 for each outside
        sides = F.pad(torch.where(free, 2.0 * state - 1, 0.0), [1] * 4).to(p)
        around = sides[:-2, 1:-1] + sides[2:, 1:-1] + sides[1:-1, :-2] + sides[1:-1, 2:]
        better = gain + beta * around
        state = torch.where(half & free & (better != 0), better > 0, state)
    return state


def without_small(mask: Tensor, smallest: int) -> tuple[Tensor, int]:
    """Mask (H, W) without its 4-connected components of less than `smallest` pixels, and their number."""
    numbers, count = components_of(mask.cpu().numpy())
    names = torch.as_tensor(numbers, dtype=torch.int64, device=mask.device)
    sizes = names.flatten().bincount(minlength=count + 1)
    sizes[0] = 0  # what is outside of all
    small = sizes[1:] < smallest
    return (sizes >= max(smallest, 1))[names], int(small.sum())


def assembled(
    p: Tensor, beta: float = 1.0, smallest: int = 10, evidence: float = 0.01, sweeps: int = SWEEPS
) -> list[Region]:
    """Steps of the assembly of regions from probabilities p (C, H, W); the last one may not be accepted.

    Args:
        beta: cost of two neighbours that differ.
        smallest: pixels of the smallest component that stays.
        evidence: share τ of all pixels below which a region ends the assembly.
        sweeps: at most, in each step.

    Raises:
        ValueError: an argument is negative, or the probabilities have another shape.
    """
    if p.ndim != 3:
        raise ValueError(f"Probabilities have {p.ndim} axes: give them as (classes, height, width).")
    require(0, beta=beta, evidence=evidence, sweeps=sweeps, smallest=smallest)
    p = p.double()
    free = torch.ones(p.shape[1:], dtype=torch.bool, device=p.device)
    waiting, steps = list(range(len(p))), []
    while waiting and free.any():
        totals = [float(q[free].sum()) if c in waiting else float("nan") for c, q in enumerate(p)]
        label = max(waiting, key=lambda c: totals[c])  # of equal sums the first
        waiting.remove(label)
        one = p[label]
        states = [free & (one > 0.5)]
        for _ in range(sweeps):
            after = sweep(one, free, states[-1], beta)
            if torch.equal(after, states[-1]):
                break
            states.append(after)
        mask, dropped = without_small(states[-1], smallest)
        inside = float(one[mask].sum())
        accepted = inside >= evidence * one.numel()
        energies = tuple(energy(one, free, state, beta) for state in states)
        steps.append(Region(label, tuple(totals), tuple(states), energies, mask, dropped, inside, accepted))
        if not accepted:
            break
        free = free & ~mask
    return steps


def labels(steps: list[Region]) -> Tensor:
    """Classes (H, W) int64 of the accepted regions, UNLABELLED elsewhere.

    Raises:
        ValueError: there is no step.
    """
    if not steps:
        raise ValueError("There is no step: assemble regions of one class or more.")
    result = torch.full(steps[0].mask.shape, UNLABELLED, device=steps[0].mask.device)
    for step in steps:
        if step.accepted:
            result[step.mask] = step.label
    return result


def voted(masks: Tensor) -> Tensor:
    """Pixels (H, W) that all of some masks (N, H, W) bool agree on: their intersection.

    Raises:
        ValueError: there is no mask.
    """
    if not len(masks):
        raise ValueError("There is no mask: a vote needs one or more.")
    return masks.all(0)


def precision_recall(mask: Tensor, truth: Tensor) -> tuple[float, float]:
    """Share of a mask's pixels that are true, and share of the true pixels that are in it; NaN of none."""
    both = float((mask & truth).sum())
    told, wanted = float(mask.sum()), float(truth.sum())
    return both / told if told else float("nan"), both / wanted if wanted else float("nan")
