"""Houses hung on a random graph: is a node top, middle or ground of a house, or of none? Embedded.

    top        0            0 – 1, 0 – 2: the roof
    middle   1 – 2          1 – 2, 1 – 3, 2 – 4: beam and walls
    ground   3 – 4          3 – 4, a node of it joined to the graph

The graph grows by preferential attachment; then some edges join any two nodes of different houses, or of
none. Nodes have no data but the number 1, so that the edges alone tell: a node's place rests on its house.

Reference: Ying et al. 2019, arXiv:1903.03894 (BA-Shapes), where a new node brings five edges: there three
hops reach more nodes than a picture can show.
"""

import torch
from torch import Tensor
from torch_geometric.data import Data

from datamodules.base import within
from datamodules.graph import OneGraph

HOUSE = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4))
PLACES = (1, 2, 2, 3, 3)  # classes of a house's nodes
TIES, NOISE = 1, 0.02  # edges of a new node; further edges, as a share of all


class HouseShapes(OneGraph):
    """One graph with houses; of each class 80 % of the nodes are for training, the others half and half for
    validation and test. `data.house` (N,) is the number of a node's house, −1 in the graph.

    Args:
        base: nodes of the graph before any house. houses: how many hang on it.
        seed: of the graph and of the split.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True
    classes = ("no house", "top", "middle", "ground")

    def __init__(self, base: int = 200, houses: int = 80, seed: int = 0) -> None:
        super().__init__(seed)
        within(TIES + 1, 10_000, base=base)
        within(1, 2_000, houses=houses)
        self.base, self.houses = base, houses

    def load(self) -> Data:
        generator = torch.Generator().manual_seed(self.seed)
        N = self.base + 5 * self.houses
        house = torch.full((N,), -1)
        house[self.base :] = torch.arange(self.houses).repeat_interleave(5)
        y = torch.zeros(N, dtype=torch.long)
        y[self.base :] = torch.tensor(PLACES).repeat(self.houses)
        edges = self.grown(house, generator)
        once = torch.tensor(sorted(edges)).T
        data = Data(torch.ones(N, 1), torch.cat([once, once.flip(0)], 1), y=y, house=house)
        order = torch.randperm(N, generator=generator)
        masks = torch.zeros(3, N, dtype=torch.bool)
        for c in range(len(self.classes)):
            mine = order[y[order] == c]
            tenth = max(1, len(mine) // 10)
            for mask, part in zip(
                masks, (mine[2 * tenth :], mine[:tenth], mine[tenth : 2 * tenth]), strict=True
            ):
                mask[part] = True
        data.train_mask, data.val_mask, data.test_mask = masks
        return data

    def grown(self, house: Tensor, generator: torch.Generator) -> set[tuple[int, int]]:
        """Edges, each once, smaller end first."""

        def number(most: int) -> int:
            return int(torch.randint(most, (), generator=generator))

        ends, edges = [0], set[tuple[int, int]]()  # a node as often as edges have it
        for n in range(1, self.base):
            for _ in range(TIES):
                m = ends[number(len(ends))]
                edges.add((m, n))
                ends += [m, n]
        for k in range(self.houses):
            first = self.base + 5 * k
            edges |= {(first + a, first + b) for a, b in HOUSE}
            edges.add((number(self.base), first + 3 + number(2)))
        for _ in range(round(NOISE * len(edges))):
            a, b = sorted((number(len(house)), number(len(house))))
            if a != b and (house[a] != house[b] or house[a] < 0):
                edges.add((a, b))
        return edges
