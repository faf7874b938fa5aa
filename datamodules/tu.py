"""MUTAG, PROTEINS and ENZYMES: molecules and proteins as graphs, in stratified folds.

Debnath et al. 1991: 188 nitroaromatic compounds, whether they cause mutations; heavy atoms, bonds of one
kind. Borgwardt et al. 2005: 1113 proteins, whether they are enzymes, and 600 enzymes of six classes; a node
is a helix, a sheet or a turn, joined to its neighbours in the sequence and in space. As collected by Morris
et al. 2020, arXiv:2007.08663.

Folds as by Errica et al. 2020, arXiv:1912.09893: no test fold takes part in a choice.
"""

from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch_geometric.io import read_tu_data

from datamodules.base import SPLITS, DataModule, within
from datamodules.fetch import fetch
from datamodules.graphs import Graph, GraphSplit

Name = Literal["MUTAG", "PROTEINS", "ENZYMES"]
FOLDS = 10
# The raw files number MUTAG's atoms; which is which follows from how many there are (2, 23, 2395, 12, 1, 345
# and 593) and from their bonds. Other copies of the set have another order.
ATOMS = ("Br", "Cl", "C", "F", "I", "N", "O")
CLASSES = {
    "MUTAG": ("not mutagenic", "mutagenic"),
    "PROTEINS": ("enzyme", "not an enzyme"),
    "ENZYMES": tuple(f"EC {i}" for i in range(1, 7)),
}
ATTRIBUTES = {"MUTAG": 0, "PROTEINS": 0, "ENZYMES": 18}  # measured numbers before the one-hot labels


def fold_of(y: Tensor, seed: int = 0) -> Tensor:
    """Fold of each graph, (G,) of 0 to FOLDS − 1: sizes differ by at most one, in each class and in all."""
    generator = torch.Generator().manual_seed(seed)
    classes = [(y == c).nonzero()[:, 0] for c in y.unique()]
    order = torch.cat([rows[torch.randperm(len(rows), generator=generator)] for rows in classes])
    folds = torch.empty_like(y)
    folds[order] = torch.arange(len(y)) % FOLDS
    return folds


class TU(DataModule):
    """Graphs of one set, from `$LECTERN_DATA/TUDataset/<name>/raw`.

    x (N, D) has a node's label one-hot; in ENZYMES behind 18 measured numbers, standardised by the nodes of
    the training graphs.

    Args:
        name: which set.
        fold: the one that is tested; the next one is for validation, eight are trained on.
        edges: False leaves out all edges: what is left is a bag of nodes, the baseline without structure.
        batch_size: graphs in a batch.
        seed: of the folds, too.

    Raises:
        ValueError: an argument is out of range.
        MissingData: in `setup`, when the files are neither on disk nor to be fetched.
    """

    graphs: list[Graph]
    folds: Tensor

    def __init__(
        self, name: Name = "MUTAG", fold: int = 0, edges: bool = True, batch_size: int = 32, seed: int = 0
    ) -> None:
        super().__init__(batch_size, seed)
        if name not in get_args(Name):
            raise ValueError(f"name is {name!r}: choose one of {', '.join(get_args(Name))}.")
        within(0, FOLDS - 1, fold=fold)
        self.set, self.fold, self.edges, self.classes = name, fold, edges, CLASSES[name]

    def prepare_data(self) -> None:
        fetch(self.set)

    def setup(self, stage: str | None = None) -> None:
        if not hasattr(self, "graphs"):
            every = self.load()
            y = torch.tensor([graph.y for graph in every])
            self.folds = fold_of(y, self.seed)
            self.graphs = self.standardised(every)
            self.train_set, self.val_set, self.test_set = (
                GraphSplit([graph for graph, its in zip(self.graphs, self.parts, strict=True) if its == part])
                for part in SPLITS
            )

    @property
    def parts(self) -> list[str]:
        """The split of each graph."""
        return [{0: "test", 1: "val"}.get((f - self.fold) % FOLDS, "train") for f in self.folds.tolist()]

    def load(self) -> list[Graph]:
        """The graphs in their order, attributes as measured."""
        data, starts, _ = read_tu_data(str(fetch(self.set)), self.set)
        graphs = []
        for i, y in enumerate(data.y.tolist()):
            nodes, edges = (slice(*starts[key][i : i + 2].tolist()) for key in ("x", "edge_index"))
            edge_index = data.edge_index[:, edges]
            graphs.append(Graph(data.x[nodes], edge_index if self.edges else edge_index[:, :0], y))
        return graphs

    def standardised(self, graphs: list[Graph]) -> list[Graph]:
        """Attributes with mean 0 and variance 1 over the nodes of the training graphs."""
        if not (count := ATTRIBUTES[self.set]):
            return graphs
        train = [graph for graph, part in zip(graphs, self.parts, strict=True) if part == "train"]
        seen = torch.cat([graph.x[:, :count] for graph in train])
        mean, sd = seen.mean(0), seen.std(0).clamp(min=1e-6)
        return [g._replace(x=torch.cat([(g.x[:, :count] - mean) / sd, g.x[:, count:]], 1)) for g in graphs]

    @property
    def sizes(self) -> dict[str, Any]:
        self.setup()
        return {"num_features": self.graphs[0].x.shape[1], "num_classes": len(self.classes)}

    def describe(self) -> dict[str, Any]:
        self.setup()
        split = {s: len(getattr(self, f"{s}_set")) for s in SPLITS}
        return {"name": self.set, "split": split, "fold": self.fold, "edges": self.edges}
