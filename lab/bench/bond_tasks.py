"""Two tasks on rings of atoms whose class the bonds decide; the atoms alone, or a random draw, cannot.

bonds            two of ten bonds are double: do they meet at an atom?
bonds and atoms  one bond is double, two atoms are oxygen: is the bond at one of them?

All rings are alike and all places as likely, so that in the first task the atoms say nothing of the class,
and in the second neither the atoms nor the bonds alone do. One network of three layers gets the graph in four
ways:

nodes only     bonds have no data
edges only     the edge graph: bonds are its nodes, and the atoms at which they meet have no data
both           atoms and bonds
random bonds   as both, but what bonds say is drawn at random

Reference: [UDL] §13.9, problem 13.14.
"""

from itertools import pairwise
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.seeding import seeded
from modules.graph.edge_layer import NodeEdgeConvolution
from modules.graph.graphs import pooled

Task = Literal["bonds", "bonds and atoms"]
Way = Literal["nodes only", "edges only", "both", "random bonds"]
TASKS: tuple[Task, ...] = ("bonds", "bonds and atoms")
WAYS: tuple[Way, ...] = ("nodes only", "edges only", "both", "random bonds")
ATOMS, WIDTH, LAYERS = 10, 16, 3
COUNTS = {"train": 2_000, "val": 500, "test": 1_000}
STEPS, LOOK, BATCH, RATE = 400, 40, 64, 1e-2
Rings = tuple[Tensor, Tensor, Tensor]  # atoms (G, 10, 2) and bonds (G, 10, 2) as one-hot rows, classes (G,)


def draw(task: Task, count: int, seed: int) -> Rings:
    """Rings in which bond i joins the atoms i and i + 1; half of them of each class."""
    generator, each = torch.Generator().manual_seed(seed), torch.arange(count)

    def number(most: int) -> Tensor:
        return torch.randint(most, (count,), generator=generator)

    y = each % 2
    oxygen, double = (torch.zeros(count, ATOMS, dtype=torch.long) for _ in range(2))
    oxygen.scatter_(1, torch.rand(count, ATOMS, generator=generator).argsort(1)[:, :2], 1)
    if task == "bonds":
        bond = number(ATOMS)
        far = 2 + number(ATOMS - 3)  # 2 … 8 bonds further on: they do not meet
        near = torch.where(number(2) > 0, 1, ATOMS - 1)
        double[each, bond] = 1
        double[each, (bond + torch.where(y > 0, near, far)) % ATOMS] = 1
    else:
        at_oxygen = (oxygen + oxygen.roll(-1, 1)).clamp(max=1)
        allowed = at_oxygen == y[:, None]
        double[each, (torch.rand(count, ATOMS, generator=generator) * allowed).argmax(1)] = 1
    return F.one_hot(oxygen, 2).float(), F.one_hot(double, 2).float(), y


def as_seen(rings: Rings, way: Way, seed: int) -> Rings:
    """States of nodes and data of edges by the way in which a network gets them."""
    atoms, bonds, y = rings
    if way == "nodes only":
        return atoms, torch.zeros_like(bonds), y
    if way == "edges only":  # bond i meets bond i + 1 at an atom: the edge graph is a ring, too
        return bonds, torch.zeros_like(atoms), y
    if way == "random bonds":
        drawn = torch.randint(2, bonds.shape[:2], generator=torch.Generator().manual_seed(1_000 + seed))
        return atoms, F.one_hot(drawn, 2).float(), y
    return rings


def ring_edges(count: int) -> Tensor:
    """Edges (2, E) of so many rings, all bonds one way, then all the other."""
    node = torch.arange(ATOMS)
    starts = ATOMS * torch.arange(count)[:, None]
    ends = torch.stack([(node + starts).flatten(), ((node + 1) % ATOMS + starts).flatten()])
    return torch.cat([ends, ends.flip(0)], 1)


class Network(nn.Module):
    """Logits (G, 2): layers of nodes and edges, the sum over the nodes, a map."""

    def __init__(self) -> None:
        super().__init__()
        widths = [2, *[WIDTH] * LAYERS]
        self.layers = nn.ModuleList(NodeEdgeConvolution(d, 2, d_out) for d, d_out in pairwise(widths))
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        count = len(nodes)
        h, data = nodes.flatten(0, 1), edges.flatten(0, 1).repeat(2, 1)
        where = ring_edges(count)
        for layer in self.layers:
            h = F.relu(layer(h, where, data))
        graph = torch.arange(count).repeat_interleave(ATOMS)
        return self.head(pooled(h, graph, count, "mean"))  # type: ignore[no-any-return]


def fit(task: Task, way: Way, seed: int, steps: int = STEPS) -> tuple[int, float, float]:
    """Train once: the step of the smallest loss on validation, accuracy on test rings there, and on training
    rings."""
    seen = {
        split: as_seen(draw(task, count, 10 * seed + place), way, 10 * seed + place)
        for place, (split, count) in enumerate(COUNTS.items())
    }
    network = seeded(Network, seed)
    optimizer = torch.optim.Adam(network.parameters(), RATE)
    generator = torch.Generator().manual_seed(1_000_003 * (seed + 1))
    nodes, edges, y = seen["train"]

    @torch.no_grad()
    def judged(split: str) -> tuple[float, float]:
        *x, classes = seen[split]
        logits = network(*x)
        return float(F.cross_entropy(logits, classes)), float((logits.argmax(1) == classes).double().mean())

    least, best, acc, train = torch.inf, 0, 0.0, 0.0
    for step in range(1, steps + 1):
        rows = torch.randint(len(y), (BATCH,), generator=generator)
        loss = F.cross_entropy(network(nodes[rows], edges[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % LOOK == 0 or step == steps:
            now, _ = judged("val")
            if now < least:
                least, best, acc, train = now, step, judged("test")[1], judged("train")[1]
    return best, acc, train
