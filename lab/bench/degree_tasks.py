"""Two tasks about degrees: one where a node's degree is its class, and one where it is in the way.

label    every node has the number 1; its class is its degree, 1 … 8
noise    the class c of a node is that of all its neighbours; each of them has c plus noise, and there are 1
to 16

A mean of equal numbers is that number, however many there are; a sum of d numbers around c is around d c.

Three random graphs, for training, validation and test, are one union with masks.
"""

from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from lab.bench import cora as citations
from lab.seeding import seeded
from modules.graph.convolution import Combine, Propagation
from modules.graph.gat import GAT
from modules.graph.gcn import GCN
from modules.graph.nodes import NodeClassifier

Task = Literal["degree is the label", "degree is noise"]
NODES, HIDDEN, EPOCHS = 400, 16, 200
DEGREES, MOST, GROUPS = 8, 16, 4
CELLS: dict[str, tuple[Propagation, Combine]] = {
    "sum": ("sum", "separate"), "mean": ("mean", "separate"), "max": ("max", "separate"),
    "symmetric": ("symmetric", "separate"), "GCN": ("gcn", "sum"), "average": ("average", "sum"),
}  # fmt: skip
ATTENTION, ALONE = "attention", "no edges"
NETWORKS = (*CELLS, ATTENTION, ALONE)
TASKS: tuple[Task, ...] = ("degree is the label", "degree is noise")


def matched(degrees: Tensor, groups: Tensor, generator: torch.Generator) -> Tensor:
    """Edges (2, E) both ways of a random graph in which node n has about so many neighbours, all of its
    group: ends are matched at random, and edges that occur twice or join a node with itself are left out."""
    node = torch.arange(len(degrees)).repeat_interleave(degrees)
    key = groups[node] + torch.rand(len(node), generator=generator, dtype=torch.float64)
    ends = node[key.argsort()]  # at random within each group, group by group
    pairs = ends[: len(ends) // 2 * 2].view(-1, 2).sort(1).values
    kept = (pairs[:, 0] != pairs[:, 1]) & (groups[pairs[:, 0]] == groups[pairs[:, 1]])
    once = pairs[kept].unique(dim=0).T
    return torch.cat([once, once.flip(0)], 1)


def draw(task: Task, seed: int, nodes: int = NODES) -> Data:
    """Union of three graphs of so many nodes each."""
    generator, parts = torch.Generator().manual_seed(seed), []
    for part in range(3):
        if task == "degree is the label":
            wanted = torch.randint(1, DEGREES + 1, (nodes,), generator=generator)
            edges = matched(wanted, torch.zeros(nodes, dtype=torch.long), generator)
            x = torch.ones(nodes, 1)
            y = edges[1].bincount(minlength=nodes)  # 0 where all that a node had was left out
        else:
            y = torch.randint(GROUPS, (nodes,), generator=generator)
            wanted = torch.randint(1, MOST + 1, (nodes,), generator=generator)
            edges = matched(wanted, y, generator)
            x = (1 + y + torch.randn(nodes, generator=generator))[:, None]
        parts.append((x, edges + part * nodes, y))
    x, edges, y = (
        torch.cat(each, dim) for each, dim in zip(zip(*parts, strict=True), (0, 1, 0), strict=True)
    )
    masks = (torch.arange(3).repeat_interleave(nodes) == torch.arange(3)[:, None]).unbind()
    named = dict(zip(("train_mask", "val_mask", "test_mask"), masks, strict=True))
    return Data(x, edges, y=y, **named)


def network(name: str, graph: Data) -> NodeClassifier:
    """Two layers, of which the first has 16 units."""
    classes = int(graph.y.max()) + 1
    if name == ATTENTION:
        return GAT(1, classes, (HIDDEN // 4,), (4, 1), dropout=0.0, weight_dropout=0.0)
    propagation, combine = CELLS.get(name, CELLS["sum"])
    return GCN(1, classes, (HIDDEN,), propagation, combine, dropout=0.0, weight_decay=0.0)


def fit(
    task: Task, name: str, seed: int, steps: int = EPOCHS, nodes: int = NODES
) -> tuple[int, float, float]:
    """Train once: the epoch of the smallest loss on validation, accuracy on the test graph there, and on the
    training graph after the last epoch."""
    graph = draw(task, seed, nodes)
    if name == ALONE:
        graph.edge_index = graph.edge_index[:, :0]
    found = seeded(lambda: citations.fit(network(name, graph), graph, graph, steps), seed)
    return found.epoch, found.acc, found.train
