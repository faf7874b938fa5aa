"""Cora and Citeseer: papers, their words and their citations, with the public split.

Sen et al. 2008; split of Yang et al. 2016, arXiv:1603.08861: 20 labelled papers of each class, 500 for
validation, 1000 for the test. Citations are undirected here. 48 papers of Citeseer cite nobody.
"""

import warnings
from typing import Any, Literal, get_args

import torch
from torch_geometric.data import Data
from torch_geometric.io import read_planetoid_data

from datamodules.fetch import fetch
from datamodules.graph import OneGraph

# torch says once per process that CSR is in beta, and that it trusts the indices it is given.
warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")

Name = Literal["Cora", "Citeseer"]
# The raw files number the fields; which is which follows from how many papers each has.
CLASSES = {
    "Cora": (
        "theory", "reinforcement learning", "genetic algorithms", "neural networks",
        "probabilistic methods", "case-based", "rule learning",
    ),
    "Citeseer": ("AI", "machine learning", "information retrieval", "databases", "agents", "HCI"),
}  # fmt: skip


class Planetoid(OneGraph):
    """Citation graph as PyTorch Geometric reads it, from `$LECTERN_DATA/Planetoid/<name>/raw`.

    `x` is (N, D): row n marks the words of paper n, divided by their number, so that long papers do not
    count more. It is stored as sparse CSR: 1.3 % of Cora's entries are not zero.

    Args:
        name: which graph.
        sparse: False stores x as an ordinary matrix.
        seed: nothing is random here; kept for the card.

    Raises:
        ValueError: no such graph.
        MissingData: in `setup`, when the files are neither on disk nor to be fetched.
    """

    def __init__(self, name: Name = "Cora", sparse: bool = True, seed: int = 0) -> None:
        super().__init__(seed)
        if name not in get_args(Name):
            raise ValueError(f"name is {name!r}: choose one of {', '.join(get_args(Name))}.")
        self.graph, self.sparse, self.classes = name, sparse, CLASSES[name]

    def prepare_data(self) -> None:
        fetch(self.graph)

    def load(self) -> Data:
        # The raw files are pickles: they are read only after their checksums are found right.
        data = read_planetoid_data(str(fetch(self.graph)), self.graph.lower())
        x: torch.Tensor = data.x
        x = x / x.sum(1, keepdim=True).clamp(min=1)  # a paper without words keeps its zeros
        data.x = x.to_sparse_csr() if self.sparse else x
        return data

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "name": self.graph, "features": "words, rows sum to 1"}
