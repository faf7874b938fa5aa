"""Families of graphs of at most 20 nodes, as rows in the order of a breadth-first search. Embedded.

    communities  two of 5 to 10 nodes, pairs joined with probability 0.7, and one to three edges between
    grids        r × c, of all 15 sizes with r, c ≥ 2 and at most 20 nodes
    trees        of 6 to 20 nodes: each node joins one of the last three

    row i, entry j = 1 iff node i + 1 is joined to node i − j     (i, j from 0; a row of zeros ends it)

Orders begin at any node and take neighbours in any order; those of training are drawn anew in each epoch.

Shapes: a batch is (rows,), rows (B, 19, 19) float32.

Reference: You et al. 2018, arXiv:1802.08773, whose graphs are larger.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules.base import SPLITS, DataModule, within

Family = Literal["communities", "grids", "trees"]
MOST = 20  # nodes
INSIDE = 0.7  # probability of an edge in a community
GRIDS = [(r, c) for r in range(2, 5) for c in range(r, MOST // r + 1)]


def number(low: int, high: int, generator: torch.Generator) -> int:
    """low ≤ number ≤ high."""
    return int(torch.randint(low, high + 1, (), generator=generator))


def communities(generator: torch.Generator) -> Tensor:
    sizes = [number(5, 10, generator) for _ in range(2)]
    N, first = sum(sizes), sizes[0]
    side = torch.arange(N) < first
    a = (torch.rand(N, N, generator=generator) < INSIDE) & (side[:, None] == side)
    for _ in range(number(1, 3, generator)):
        a[number(0, first - 1, generator), number(first, N - 1, generator)] = True
    return a.triu(1) | a.triu(1).T


def grid(rows: int, columns: int) -> Tensor:
    place = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
    return (place[:, None] - place).abs().sum(-1) == 1


def grids(generator: torch.Generator) -> Tensor:
    return grid(*GRIDS[number(0, len(GRIDS) - 1, generator)])


def trees(generator: torch.Generator) -> Tensor:
    N = number(6, MOST, generator)
    a = torch.zeros(N, N, dtype=torch.bool)
    for n in range(1, N):
        a[n, number(max(0, n - 3), n - 1, generator)] = True
    return a | a.T


KINDS: dict[str, Callable[[torch.Generator], Tensor]] = {
    "communities": communities, "grids": grids, "trees": trees,
}  # fmt: skip


def is_connected(a: Tensor) -> bool:
    return len(breadth_first(a, torch.arange(len(a)))) == len(a)


def breadth_first(a: Tensor, priority: Tensor) -> list[int]:
    """Nodes in the order of a breadth-first search: lower `priority` (N,) first, of the start too."""
    rank = priority.tolist()
    neighbours = [sorted(row.nonzero()[:, 0].tolist(), key=rank.__getitem__) for row in a]
    order = [min(range(len(a)), key=rank.__getitem__)]
    seen = set(order)
    for n in order:  # it grows
        fresh = [m for m in neighbours[n] if m not in seen]
        order += fresh
        seen |= set(fresh)
    return order


def rows(a: Tensor, order: list[int]) -> Tensor:
    """Rows (19, 19) of A (N, N) with its nodes in that order."""
    earlier = a[order][:, order].tril(-1).float()
    found = torch.zeros(MOST - 1, MOST - 1)
    for n in range(1, len(a)):
        found[n - 1, :n] = earlier[n, :n].flip(0)
    return found


class OrderedGraphs:
    """A split: the graphs, and their rows in orders that `set_epoch` draws.

    Args:
        graphs: A (N, N) bool of each.
        seed: of the orders.
    """

    def __init__(self, graphs: list[Tensor], seed: int) -> None:
        self.graphs, self.seed = graphs, seed
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        generator = torch.Generator().manual_seed((self.seed * 0x9E3779B1 + epoch) % 2**32)
        orders = [breadth_first(a, torch.randperm(len(a), generator=generator)) for a in self.graphs]
        self.x = torch.stack([rows(a, order) for a, order in zip(self.graphs, orders, strict=True)])

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor]:
        return (self.x[positions],)


class GraphFamilies(DataModule):
    """Connected graphs of one family.

    Args:
        family: "communities", "grids" or "trees".
        batch_size, seed: see `DataModule`; the seed is of the orders as well.
        num_train, num_val, num_test: graphs in each split, which is its own draw whatever the seed.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self,
        family: Family = "grids",
        batch_size: int = 32,
        seed: int = 0,
        num_train: int = 200,
        num_val: int = 100,
        num_test: int = 100,
    ) -> None:
        super().__init__(batch_size, seed)
        if family not in get_args(Family):
            raise ValueError(f"family is {family!r}: choose one of {', '.join(get_args(Family))}.")
        within(1, 10_000, num_train=num_train, num_val=num_val, num_test=num_test)
        self.family = family
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    def graphs(self, split: str) -> list[Tensor]:
        """A (N, N) bool of the graphs of a split."""
        generator = torch.Generator().manual_seed(SPLITS.index(split) + 1)
        found: list[Tensor] = []
        while len(found) < self.counts[split]:
            a = KINDS[self.family](generator)
            found += [a] if is_connected(a) else []
        return found

    def _split(self, split: str) -> OrderedGraphs:
        return OrderedGraphs(self.graphs(split), self.seed)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (MOST - 1, MOST - 1)}

    def describe(self) -> dict[str, Any]:
        return {"name": f"{self.family} of at most {MOST} nodes", "split": dict(self.counts)}
