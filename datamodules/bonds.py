"""Molecules with two double bonds: is one of them between carbon and oxygen? Embedded.

    yes        C=O and C=C         a carbonyl group and a double bond at the end of a chain
    no         C=C and C=C         all oxygens are bonded singly, as in alcohols

Hydrogen is left out. The skeleton is a random tree; its ends are carbon or oxygen by the toss of a coin, all
others carbon. Skeletons and elements are those of both answers: only those are kept for which both can be
drawn. So the atoms alone do not tell, nor do the kinds of bonds alone: one has to know what is at the end of
a double bond.
"""

from collections import Counter
from itertools import chain
from typing import Any

import torch

from datamodules.base import SPLITS, DataModule, within
from datamodules.graphs import Graph, GraphSplit

ELEMENTS = CARBON, OXYGEN = 0, 1
SINGLE, DOUBLE = 0, 1
SIZES = range(7, 13)  # atoms of a molecule


def skeleton(generator: torch.Generator) -> list[tuple[int, int]]:
    """Edges of a random tree in which no atom has more than four."""
    first, *drawn = torch.rand(SIZES[-1] + 1, generator=generator).tolist()
    size = SIZES[int(first * len(SIZES))]
    degree, edges = [0] * size, []
    for n in range(1, size):
        free = [m for m in range(n) if degree[m] < 4]
        m = free[int(drawn[n - 1] * len(free))]
        edges.append((m, n))
        degree[m] += 1
        degree[n] += 1
    return edges


def molecule(carbonyl: bool, generator: torch.Generator) -> Graph:
    """One molecule, its atoms in random numbers; edge types are `SINGLE` and `DOUBLE`."""
    while True:
        edges = skeleton(generator)
        size, count = len(edges) + 1, Counter(chain(*edges))
        degree = [count[n] for n in range(size)]
        tossed = torch.rand(size, generator=generator).tolist()
        elements = [
            OXYGEN if d == 1 and toss < 0.5 else CARBON for d, toss in zip(degree, tossed, strict=True)
        ]
        # an end whose neighbour has a valence left for a second bond, and that neighbour
        ends = [(b, a) if degree[b] == 1 else (a, b) for a, b in edges if 1 in (degree[a], degree[b])]
        ends = [(end, inner) for end, inner in ends if 1 < degree[inner] <= 3]
        pairs = [(p, q) for i, p in enumerate(ends) for q in ends[:i] if p[1] != q[1]]
        oxygens = [elements[p[0]] + elements[q[0]] for p, q in pairs]
        if 0 in oxygens and 1 in oxygens:
            break
    fitting = [pair for pair, count in zip(pairs, oxygens, strict=True) if count == int(carbonyl)]
    chosen = fitting[int(torch.randint(len(fitting), (), generator=generator))]
    double = {tuple(sorted(bond)) for bond in chosen}
    kinds = torch.tensor([DOUBLE if tuple(sorted(edge)) in double else SINGLE for edge in edges])
    names = torch.randperm(size, generator=generator)
    one_way = names[torch.tensor(edges).T]  # (2, E)
    x = torch.empty(size, len(ELEMENTS))
    x[names] = torch.nn.functional.one_hot(torch.tensor(elements), len(ELEMENTS)).float()
    both = torch.cat([one_way, one_way.flip(0)], 1)
    return Graph(x, both, int(carbonyl), torch.cat([kinds, kinds]))


class Bonds(DataModule):
    """Half of the molecules of each split with a carbonyl group, half without.

    Args:
        atoms: False gives all atoms the number 1, so that the bonds alone are seen.
        kinds: False calls all bonds single, so that the atoms alone are seen.
        batch_size, seed: see `DataModule`. num_train, num_val, num_test: molecules in each split, which is
            its own draw whatever the seed.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True
    classes = ("no carbonyl group", "carbonyl group")

    def __init__(
        self,
        atoms: bool = True,
        kinds: bool = True,
        batch_size: int = 32,
        seed: int = 0,
        num_train: int = 400,
        num_val: int = 200,
        num_test: int = 400,
    ) -> None:
        super().__init__(batch_size, seed)
        within(1, 100_000, num_train=num_train, num_val=num_val, num_test=num_test)
        self.atoms, self.kinds = atoms, kinds
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    def _split(self, split: str) -> GraphSplit:
        generator = torch.Generator().manual_seed(SPLITS.index(split) + 1)
        return GraphSplit([self.seen(molecule(bool(i % 2), generator)) for i in range(self.counts[split])])

    def seen(self, graph: Graph) -> Graph:
        """What is shown of a molecule."""
        x, kinds = graph.x, graph.edge_type
        if not self.atoms:
            x = torch.ones(len(x), 1)
        if not self.kinds:
            kinds = torch.full((graph.edge_index.shape[1],), SINGLE)
        return graph._replace(x=x, edge_type=kinds)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"num_features": len(ELEMENTS) if self.atoms else 1, "num_classes": 2}

    def describe(self) -> dict[str, Any]:
        seen = {"atoms": self.atoms, "kinds of bonds": self.kinds}
        return {"name": "double bonds", "split": dict(self.counts), **seen}
