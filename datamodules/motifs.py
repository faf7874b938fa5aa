"""Random trees with a ring of five or a house hung on them: which is it? Embedded.

    ring       1 – 2 – 3 – 4 – 5 – 1
    house      the same, and 2 – 5: a square with a roof

Nodes have no data but the number 1, so that the edges alone tell; both kinds have trees of the same sizes.

Reference: Ying et al. 2019, arXiv:1903.03894 (motifs as explanations), whose graphs are larger.
"""

from typing import Any

import torch

from datamodules.base import SPLITS, DataModule, within
from datamodules.graphs import Graph, GraphSplit

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
ROOF = (1, 4)
SIZES = range(6, 15)  # nodes of a tree


def motif(house: bool, generator: torch.Generator) -> Graph:
    """One graph: nodes of its tree join earlier ones, the motif any; then all take other numbers."""
    number = lambda most: int(torch.randint(most, (), generator=generator))  # noqa: E731
    tree = SIZES[number(len(SIZES))]
    edges = [(number(i), i) for i in range(1, tree)]
    edges += [(tree + a, tree + b) for a, b in [*RING, *([ROOF] if house else [])]]
    edges.append((number(tree), tree + number(5)))
    names = torch.randperm(tree + 5, generator=generator)
    one_way = names[torch.tensor(edges).T]  # (2, E)
    return Graph(torch.ones(tree + 5, 1), torch.cat([one_way, one_way.flip(0)], 1), int(house))


class Motifs(DataModule):
    """Half of the graphs of each split with a ring, half with a house.

    Args:
        batch_size, seed: see `DataModule`. num_train, num_val, num_test: graphs in each split, which is its
            own draw whatever the seed.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True
    classes = ("ring", "house")

    def __init__(
        self,
        batch_size: int = 32,
        seed: int = 0,
        num_train: int = 400,
        num_val: int = 200,
        num_test: int = 400,
    ) -> None:
        super().__init__(batch_size, seed)
        within(1, 100_000, num_train=num_train, num_val=num_val, num_test=num_test)
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    def _split(self, split: str) -> GraphSplit:
        generator = torch.Generator().manual_seed(SPLITS.index(split) + 1)
        return GraphSplit([motif(bool(i % 2), generator) for i in range(self.counts[split])])

    @property
    def sizes(self) -> dict[str, Any]:
        return {"num_features": 1, "num_classes": 2}

    def describe(self) -> dict[str, Any]:
        return {"name": "motifs on trees", "split": dict(self.counts)}
