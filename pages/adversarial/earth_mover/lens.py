"""Two heaps of earth: the cheapest plan between them, its prices, and the earth on its way.

`K` bins a distance of 1 apart, `F` frames, `N` pairs of bins between which earth is carried.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import typed
from modules.adversarial import transport
from pages.adversarial.earth_mover.room import WAY

MOST = 20  # bins
LEAST = 1e-9  # mass that counts
BAR = 0.7  # width of a bin's bar, which what leaves it or arrives in it divides
OPTIONS = ["less than 1 bin", "1 to 2 bins", "more than 2 bins"]


@dataclass(frozen=True)
class Story:
    """One transport problem, solved from both sides.

    Attributes:
        p, q: (K,), sums 1. cost: (K, K), |i − j|^power. power: of the cost.
        plan: (K, K). primal: Σ plan · cost.
        source, target: (K,), the prices f and h of the dual. dual: their worth.
        steps: (K,), the best f whose neighbours differ by at most `bound`. neighbours: its worth.
        w1: Σ |cumsum(p − q)|. spent: (F,), the cost so far when all earth has gone a share of its way.
    """

    p: Tensor
    q: Tensor
    cost: Tensor
    power: float
    plan: Tensor
    primal: float
    source: Tensor
    target: Tensor
    dual: float
    bound: float
    steps: Tensor
    neighbours: float
    w1: float
    spent: Tensor


def weights(text: str) -> list[float]:
    """A heap as a reader types it, the sum of its bins 1."""
    return typed.distribution(text, MOST)[0]


def padded(p: Sequence[float], q: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Both as tables of one length: the shorter one ends in empty bins."""
    size = max(len(p), len(q))
    tables = torch.zeros(2, size, dtype=torch.float64)
    for table, values in zip(tables, (p, q), strict=True):
        table[: len(values)] = torch.tensor(values, dtype=torch.float64)
    return tables[0], tables[1]


def story(p: Sequence[float], q: Sequence[float], power: float, bound: float) -> Story:
    """Solve both programs, and carry the earth."""
    source, target = padded(p, q)
    cost = transport.distances(len(source), power)
    plan, primal = transport.primal(source, target, cost)
    f, h, dual = transport.dual(source, target, cost)
    steps, neighbours = transport.lipschitz_dual(source, target, bound)
    w1 = float(transport.w1_bins(source, target))
    return Story(source, target, cost, power, plan, primal, f - f.mean(), h + f.mean(), dual,
                 bound, steps, neighbours, w1, spent(plan, power))  # fmt: skip


def spent(plan: Tensor, power: float) -> Tensor:
    """Cost when every crumb has gone a share of its way, (F,)."""
    share = torch.tensor(WAY, dtype=torch.float64)[:, None, None]
    i = torch.arange(len(plan), dtype=torch.float64)
    return (plan * (share * (i[:, None] - i).abs()) ** power).sum((-1, -2))


@dataclass(frozen=True)
class Flow:
    """Mass that is carried between pairs of bins, all (N,).

    Attributes:
        start, end: bins. mass: carried. leaves, arrives: places, where what shares a bar lies side by side.
    """

    start: Tensor
    end: Tensor
    mass: Tensor
    leaves: Tensor
    arrives: Tensor

    def places(self) -> Tensor:
        """At every share of the way, (F, N)."""
        share = torch.tensor(WAY, dtype=torch.float64)[:, None]
        return (1 - share) * self.leaves + share * self.arrives


def flow(plan: Tensor) -> Flow:
    """Flow of a plan (K, K)."""
    start, end = (plan > LEAST).nonzero(as_tuple=True)
    leaves, arrives = beside(plan), beside(plan.T).T
    return Flow(start, end, plan[start, end], leaves[start, end], arrives[start, end])


def beside(plan: Tensor) -> Tensor:
    """Middles of the parts of each row's bar that go to each column, in their order, (K, K)."""
    share = plan / plan.sum(1, keepdim=True).clamp(min=LEAST)
    return torch.arange(len(plan))[:, None] + BAR * (share.cumsum(1) - share / 2 - 0.5)


def slope(result: Story) -> float:
    """The steepest step between neighbours of the dual's price f."""
    return float(result.source.diff().abs().max())


def captions(result: Story) -> list[str]:
    """Caption of how much of the cost is spent at each frame."""
    return [
        f"All mass has moved {share:.0%} of its way: {float(spent):.3f} of the cost {result.primal:.3f} is "
        f"spent."
        for share, spent in zip(WAY, result.spent, strict=True)
    ]


def equations(result: Story) -> list[str]:
    """Primal, dual and neighbour form: the same at every frame."""
    power = "" if result.power == 1 else f"^{{{result.power:g}}}"
    return [
        rf"\min_P\textstyle\sum P_{{ij}}|i-j|{power}={result.primal:.4f}=\max_{{f,h}}\ p^\top f+q^\top h,"
        rf"\qquad \max_{{|f_{{i+1}}-f_i|\le {result.bound:g}}} f^\top(p-q)={result.neighbours:.4f}"
    ] * len(WAY)


def option(w1: float) -> str:
    """The one of OPTIONS that a mean way is."""
    return OPTIONS[(w1 >= 1) + (w1 > 2)]
