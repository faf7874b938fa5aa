"""Graph networks: an epoch on Cora of GAT, GIN and SAGE against PyTorch Geometric with the same weights,
and the sampling of neighbours against a loop over the nodes in NumPy.

An epoch is a training step on the whole graph and the accuracy on validation, as the examples of PyTorch
Geometric have it. The sampling draws two layers of at most ten senders of each
node for a batch of 1,024, from 10⁵ nodes and 10⁶ edges in compressed rows.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GINConv, SAGEConv

from lab.bench.gcn import csr, epoch, graph
from lab.bench.timing import Row, interleaved, paired_row
from lab.seeding import seeded
from modules.graph.gat import GAT
from modules.graph.gcn import GCN
from modules.graph.nodes import NodeClassifier
from modules.graph.sampling import Senders, sample

NODES, EDGES, BATCH, SIZES = 100_000, 1_000_000, 1024, (10, 10)
Network = tuple[
    Any, nn.Module, list[tuple[Any, Tensor]]
]  # ours, theirs, each parameter of theirs with its value


class Two(nn.Module):
    """Two layers of PyTorch Geometric."""

    def __init__(
        self, convs: list[Any], between: Callable[[Tensor], Tensor] = F.relu, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.first, self.second = convs
        self.between, self.dropout = between, dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = self.between(self.first(x, edge_index))
        return self.second(F.dropout(x, self.dropout, self.training), edge_index)


def layers_of(model: NodeClassifier) -> list[Any]:
    return list(cast(nn.ModuleList, model.layers))


def gat(features: int, classes: int) -> Network:
    """Of eight heads and one, dropout .6 of states and of weights."""
    ours = seeded(lambda: GAT(num_features=features, num_classes=classes), 0)
    convs: list[Any] = [
        GATConv(features, 8, 8, dropout=0.6),
        GATConv(64, classes, concat=False, dropout=0.6),
    ]
    pairs = []
    for own, conv in zip(layers_of(ours), convs, strict=True):
        pairs += [(conv.lin.weight, own.weight), (conv.bias, own.bias)]
        pairs += [(conv.att_src, own.sender[None]), (conv.att_dst, own.receiver[None])]
    return ours, Two(convs, F.elu, 0.6), pairs


def gin(features: int, classes: int) -> Network:
    """Sums, the node counted 1 + ε times, one map a layer."""
    ours = seeded(lambda: GCN(features, classes, propagation="sum", combine="diagonal"), 0)
    widths = ((features, 16), (16, classes))
    convs = [GINConv(nn.Linear(*width), train_eps=True) for width in widths]
    pairs = []
    for own, conv in zip(layers_of(ours), convs, strict=True):
        pairs += [(conv.nn.weight, own.weight), (conv.nn.bias, own.bias)]
    return ours, Two(convs), pairs


def sage(features: int, classes: int) -> Network:
    """A map of the mean of the neighbours, and one of the node."""
    ours = seeded(lambda: GCN(features, classes, propagation="mean", combine="separate"), 0)
    convs = [SAGEConv(features, 16), SAGEConv(16, classes)]
    pairs = []
    for own, conv in zip(layers_of(ours), convs, strict=True):
        pairs += [(conv.lin_l.weight, own.weight), (conv.lin_l.bias, own.bias), (conv.lin_r.weight, own.own)]
    return ours, Two(convs), pairs


def networks(quick: bool) -> list[Row]:
    """An epoch of each network, on dense features as the examples have them, and on sparse ones as in our
    experiments."""
    data, name = graph(quick)
    sparse = csr(data)
    rows = []
    for title, build in (("GAT", gat), ("GIN", gin), ("SAGE", sage)):
        ours, theirs, weights = build(data.num_features, int(data.y.max()) + 1)
        with torch.no_grad():
            for parameter, value in weights:
                parameter.copy_(value)
            expected = theirs.eval()(data.x, data.edge_index)
            torch.testing.assert_close(ours.eval()(data.x, data.edge_index), expected, rtol=1e-4, atol=1e-4)
        peer = epoch(theirs, partial(theirs, data.x, data.edge_index), data)
        for case, own in (("dense features", data), ("as trained", sparse)):
            pairs = interleaved(
                epoch(ours, partial(ours, own.x, own.edge_index), own),
                peer,
                repeats=3 if quick else 40,
                warmup=1 if quick else 3,
            )
            note = f"{name}; peer: PyTorch Geometric's layers with the same weights, dense features"
            rows.append(paired_row("graph-speed", f"{title}, an epoch, {case}", pairs, "≤ 1.0", note))
    return rows


# --- Sampling ----------------------------------------------------------------------------------------


def looped(
    starts: np.ndarray,
    senders: np.ndarray,
    batch: np.ndarray,
    sizes: Sequence[int],
    draw: np.random.Generator,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """What `sample` returns, node by node: the nodes, the batch first, and the edges of each layer."""
    number = {int(node): k for k, node in enumerate(batch)}
    nodes, layers = [int(node) for node in batch], []
    for most in reversed(sizes):
        edges = []
        for node in list(nodes):
            heard = senders[starts[node] : starts[node + 1]]
            if len(heard) > most:
                heard = draw.choice(heard, most, replace=False, shuffle=False)
            for sender in heard.tolist():
                if sender not in number:
                    number[sender] = len(nodes)
                    nodes.append(sender)
                edges.append((number[sender], number[node]))
        layers.append(np.array(edges).T)
    return np.array(nodes), layers[::-1]


def sampling(quick: bool) -> Row:
    """Batches of one graph, drawn by tensors and by the loop."""
    count, edges, size = (300, 3_000, 16) if quick else (NODES, EDGES, BATCH)
    generator = torch.Generator().manual_seed(0)
    senders = Senders.of(torch.randint(count, (2, edges), generator=generator), count)
    starts, nodes = senders.starts.numpy(), senders.nodes.numpy()
    batch, draw = torch.randperm(count, generator=generator)[:size], np.random.default_rng(0)
    drawn: list[int] = []

    def ours() -> None:
        drawn.append(sum(e.shape[1] for e in sample(senders, batch, list(SIZES), generator).layers))

    pairs = interleaved(
        ours, lambda: looped(starts, nodes, batch.numpy(), SIZES, draw), repeats=3 if quick else 20
    )
    seconds, theirs = statistics.median(pairs.first), statistics.median(pairs.second)
    edges_a_batch = statistics.mean(drawn)
    note = (
        f"{count:,} nodes, {edges:,} edges; {edges_a_batch:,.0f} edges a batch, "
        f"{edges_a_batch / seconds / 1e6:.1f} million a second; peer: a loop over the nodes in NumPy"
    )
    case = f"sampling, {size:,} nodes, two layers of {SIZES[0]}"
    return Row("graph-speed", case, seconds, theirs, 1 / pairs.ratio, "≥ 10", note)


def measure(quick: bool = False) -> list[Row]:
    return [*networks(quick), sampling(quick)]
