"""GCN: one epoch on Cora against the same network in plain PyTorch Geometric."""

import warnings
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from datamodules.fetch import MissingData
from datamodules.planetoid import Planetoid
from lab.bench.timing import Row, interleaved, paired_row
from modules.graph.gcn import GCN


class Plain(nn.Module):
    """The two-layer network of PyTorch Geometric's own example."""

    def __init__(self, num_features: int, num_classes: int, hidden: int = 16) -> None:
        super().__init__()
        self.first = GCNConv(num_features, hidden, cached=True)
        self.second = GCNConv(hidden, num_classes, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, 0.5, self.training)
        x = F.relu(self.first(x, edge_index))
        return self.second(F.dropout(x, 0.5, self.training), edge_index)


def like_cora(nodes: int = 2708, edges: int = 5278, features: int = 1433, words: int = 18) -> Data:
    """A random graph of Cora's size: bags of words as features, seven classes, the public split's masks."""
    generator = torch.Generator().manual_seed(0)
    x = torch.zeros(nodes, features)
    x.scatter_(1, torch.randint(features, (nodes, words), generator=generator), 1 / words)
    ends = torch.randint(nodes, (2, edges), generator=generator)
    masks = {
        name: (torch.arange(nodes) >= start) & (torch.arange(nodes) < stop)
        for name, start, stop in (
            ("train_mask", 0, 140),
            ("val_mask", 140, 640),
            ("test_mask", nodes - 1000, nodes),
        )
    }
    y = torch.randint(7, (nodes,), generator=generator)
    return Data(x=x, edge_index=to_undirected(ends, num_nodes=nodes), y=y, **masks)


def graph(quick: bool) -> tuple[Data, str]:
    """Cora with dense features where its files are, else a random graph of its size."""
    if quick:
        return like_cora(60, 100, 40, 5), "a small random graph"
    try:
        data = Planetoid("Cora", sparse=False)
        data.prepare_data()
        data.setup("fit")
        return data.data, "Cora"
    except MissingData:
        return like_cora(), "a random graph of Cora's size"


def csr(data: Data) -> Data:
    """The graph with sparse features."""
    sparse = data.clone()
    with warnings.catch_warnings():  # torch says that CSR is in beta
        warnings.simplefilter("ignore")
        sparse.x = data.x.to_sparse_csr()
    return sparse


def epoch(model: nn.Module, logits: Callable[[], Tensor], data: Data) -> Callable[[], None]:
    """One training step on the whole graph, then the validation accuracy: what an epoch is here."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def run() -> None:
        model.train()
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(logits()[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            (logits()[data.val_mask].argmax(1) == data.y[data.val_mask]).float().mean().item()

    return run


def measure(quick: bool = False) -> list[Row]:
    """An epoch with the features as the experiment has them (sparse), and with the same dense ones.

    The peer is PyTorch Geometric as its example writes it: cached `GCNConv` on dense features.
    """
    data, name = graph(quick)
    sparse = csr(data)
    torch.manual_seed(0)
    classes = int(data.y.max()) + 1
    plain = Plain(data.num_features, classes)
    peer = epoch(plain, lambda: plain(data.x, data.edge_index), data)
    rows = []
    for case, ours_data in (("as trained", sparse), ("dense features", data)):
        model = GCN(num_features=data.num_features, num_classes=classes, hidden=(16,), dropout=0.5)
        ours = epoch(model, partial(model, ours_data.x, ours_data.edge_index), ours_data)
        pairs = interleaved(ours, peer, repeats=3 if quick else 80, warmup=1 if quick else 5)
        note = f"{name}; peer: cached GCNConv, dense features"
        rows.append(paired_row("gcn", f"epoch, {case}", pairs, "≤ 1.05", note))
    return rows
