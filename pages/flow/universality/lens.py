"""D couplings, each of which changes one number, against one autoregressive layer of the same network.

A coupling d reads the numbers before d as they are when its turn comes. In the order D → 1 they are still
inputs: together the couplings are the layer that reads its input (IAF). In the order 1 → D they are already
outputs: together they sample as MAF does. Shapes: (D,).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses.masked_layer import both, column
from modules.flow.universality import SingleCoupling

LARGEST = 6


@dataclass(frozen=True)
class Comparison:
    """
    Attributes:
        order: coordinates in the order in which they are changed, from 0.
        values: (D + 1, D) the numbers before the couplings and after each.
        layers: name -> (D,) what one layer makes of the same numbers.
        differences: name -> the largest between the last of the values and the layer's.
        jacobian: (D, D) of all couplings together.
        error: of the way back through all couplings.
    """

    order: list[int]
    values: Tensor
    layers: dict[str, Tensor]
    differences: dict[str, float]
    jacobian: Tensor
    error: float

    def changed(self, frame: int) -> Tensor:
        """(D,) which numbers have been changed after `frame` couplings."""
        hit = torch.zeros(len(self.order), dtype=torch.bool)
        hit[self.order[:frame]] = True
        return hit


def typed_order(text: str, count: int) -> list[int]:
    """An order of 1 … count, from 0.

    Raises:
        UserError: not each number once.
    """
    words = text.replace(",", " ").split()
    if sorted(words) != sorted(str(n) for n in range(1, count + 1)):
        raise UserError(f"An order names each of 1 to {count} once, such as {example(count)}.")
    return [int(word) - 1 for word in words]


def example(count: int) -> str:
    """The odd ones, then the even ones."""
    return " ".join(map(str, [*range(1, count + 1, 2), *range(2, count + 1, 2)]))


def compare(values: list[float], order: list[int], seed: int) -> Comparison:
    maf, iaf = both(len(values), seed)
    h = start = column(values)
    steps = [SingleCoupling(maf, d) for d in order]
    results = [h]
    for step in steps:
        h = step.generate(h)[0]
        results.append(h)
    layers = {"IAF": iaf.generate(start)[0], "MAF": maf.generate(start)[0]}
    off = {name: float((h - result).abs().max()) for name, result in layers.items()}

    def together(z: Tensor) -> Tensor:
        for step in steps:
            z = step.generate(z)[0]
        return z

    with torch.enable_grad():
        jacobian = torch.autograd.functional.jacobian(together, start)
    back = h
    for step in reversed(steps):
        back = step.normalize(back)[0]
    error = float((back - start).abs().max())
    return Comparison(order, torch.stack(results), layers, off, jacobian, error)


def reads(comparison: Comparison, frame: int) -> tuple[list[int], list[int]]:
    """Numbers that coupling `frame` (from 1) reads: those still as they came in, and those changed before."""
    d, before = comparison.order[frame - 1], set(comparison.order[: frame - 1])
    return [j for j in range(d) if j not in before], [j for j in range(d) if j in before]


def caption(comparison: Comparison, frame: int) -> str:
    if frame == 0:
        return "The numbers as they come."
    fresh, changed = reads(comparison, frame)
    d = comparison.order[frame - 1] + 1
    parts = [
        f"{names(group)} {text}"
        for group, text in ((fresh, "as input"), (changed, "already changed"))
        if group
    ]
    return f"Coupling {frame} changes number {d}; it reads {' and '.join(parts) or 'nothing'}."


def names(numbers: list[int]) -> str:
    return ", ".join(str(n + 1) for n in numbers)


def equation(comparison: Comparison, frame: int) -> str:
    if frame == 0:
        return r"h = " + ",\\ ".join(f"{v:.3f}" for v in comparison.values[0].tolist())
    d = comparison.order[frame - 1]
    before, after = (float(comparison.values[frame - 1 + k, d]) for k in (0, 1))
    fresh, changed = reads(comparison, frame)
    given = [*(f"z_{j + 1}" for j in fresh), *(f"x_{j + 1}" for j in changed)]
    bar = rf";\ \varphi({', '.join(given)})" if given else ""
    return rf"x_{{{d + 1}}} = g({before:.3f}{bar}) = {after:.3f}"


def verdict(comparison: Comparison) -> str:
    """Sentence on the layer that the couplings are."""
    same = [name for name, off in comparison.differences.items() if off < 1e-12]
    if len(same) == 2:
        return "Both layers make the same numbers here, and so do the couplings."
    if same:
        other = next(name for name in comparison.differences if name not in same)
        return (
            f"In this order the couplings are the {same[0]} layer, up to rounding; from the {other} layer "
            f"they are up to {comparison.differences[other]:.3f} away."
        )
    return "In this order some couplings read inputs and some read outputs: they are neither layer."
