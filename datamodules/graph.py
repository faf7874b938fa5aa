"""Base of the datamodules of one graph: a batch is the whole graph, the masks say who counts."""

from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from datamodules.base import DataModule


class Whole:
    """A split that answers with the whole graph: every node propagates, the mask says who counts."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def __len__(self) -> int:
        return 1

    def __getitem__(self, positions: Tensor) -> Data:
        return self.data


class OneGraph(DataModule):
    """Base of the datamodules of one graph with `train_mask`, `val_mask` and `test_mask` (N,).

    A batch is the whole graph, so an epoch is one optimizer step. Of several processes the first does the
    work; the others keep step with it.
    """

    data: Data
    classes: tuple[str, ...]  # names of the classes, in the order of y

    def __init__(self, seed: int = 0) -> None:
        super().__init__(batch_size=1, seed=seed)

    def load(self) -> Data:
        """The graph with its masks."""
        raise NotImplementedError

    def setup(self, stage: str | None = None) -> None:
        if not hasattr(self, "data"):
            self.data = self.load()
            self.train_set = self.val_set = self.test_set = Whole(self.data)

    @property
    def sizes(self) -> dict[str, Any]:
        self.setup()
        return {"num_features": self.data.x.shape[1], "num_classes": int(self.data.y.max()) + 1}

    def describe(self) -> dict[str, Any]:
        self.setup()
        split = {name: int(self.data[f"{name}_mask"].sum()) for name in ("train", "val", "test")}
        return {
            "name": type(self).__name__,
            "split": split,
            "nodes": self.data.num_nodes,
            "edges": self.data.num_edges // 2,
        }
