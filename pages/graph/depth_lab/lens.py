"""States, influences and gradients of deep graph networks, layer by layer.

Shapes: N nodes, K layers, D features; frame k is what k layers give.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses import graphs
from lab.seeding import seeded
from modules.graph import encoding
from modules.graph.convolution import propagation_matrix
from modules.graph.depth import (
    DeepGCN,
    by_distance,
    dirichlet_energy,
    distance,
    dominant,
    drop_edges,
    influence,
    jumped,
)
from pages.graph.depth_lab.room import ADDED, APPENDED, JUMP, KARATE, RING, TREE

WIDTH, RATE, LEVELS = 16, 0.01, 4
LEAST = 1e-9  # what a logarithmic axis shows of 0


@dataclass(frozen=True)
class World:
    """edges (2, E) both ways; classes (N,) colour the nodes, named by `names`."""

    edges: Tensor
    classes: Tensor
    names: Sequence[str]


def world(graph: str, own: Tensor) -> World:
    """A graph by its name, or the reader's A (N, N)."""
    if graph == KARATE:
        data = graphs.karate().data
        return World(data.edge_index, data.y, graphs.karate().classes)
    if graph == TREE:
        nodes = torch.arange(1, 2 ** (LEVELS + 1) - 1)
        pairs = torch.stack([nodes, (nodes - 1) // 2])
        level = torch.cat([nodes.new_zeros(1), (nodes + 1).log2().long()])
        return World(torch.cat([pairs, pairs.flip(0)], 1), level, [f"level {k}" for k in range(LEVELS + 1)])
    if graph == RING:
        nodes = torch.arange(24)
        pairs = torch.stack([nodes, (nodes + 1) % 24])
        return World(torch.cat([pairs, pairs.flip(0)], 1), torch.zeros(24).long(), ["node"])
    return World(own.nonzero().T, torch.zeros(len(own)).long(), ["node"])


def last_node(graph: str, own: Tensor) -> int:
    return len(world(graph, own).classes) - 1


def options(residual: str, pair: bool) -> dict[str, Any]:
    """Arguments of the network."""
    joined = {ADDED: "sum", APPENDED: "concat"}.get(residual, "none")
    jump = "concat" if residual == JUMP else "none"
    return dict(residual=joined, jump=jump, pair_norm=float(pair), dropout=0.0)


@dataclass(frozen=True)
class Stack:
    """
    Attributes:
        world: the graph. edges: (2, E'), those that are left of it.
        s: Sᵀ (N, N) of these. x: (N, D), drawn. states: K + 1, from x on, as the next reader gets them.
    """

    world: World
    edges: Tensor
    s: Tensor
    x: Tensor
    states: list[Tensor]


def stack(
    graph: str, own: Tensor, K: int, propagation: str, residual: str, pair: bool, drop: float, seed: int
) -> Stack:
    """States of a network whose weights and features are drawn, float64."""
    here = world(graph, own)
    N = len(here.classes)
    generator = torch.Generator().manual_seed(seed)
    edges = drop_edges(here.edges, drop, generator)
    x = torch.randn(N, WIDTH, generator=generator, dtype=torch.float64).requires_grad_()
    build = partial(DeepGCN, WIDTH, 2, [WIDTH] * K, propagation=propagation, **options(residual, pair))
    model = seeded(build, seed).double().eval().requires_grad_(False)
    with torch.enable_grad():
        hs = model.embeddings(x, edges)[:-1]
        hs = [x, *(jumped(hs[1 : k + 1], model.jump) for k in range(1, K + 1))]
    s = propagation_matrix(edges, N, propagation, torch.float64).to_dense()  # type: ignore[arg-type]
    return Stack(here, edges, s, x, hs)


# --- Over-smoothing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Smoothing:
    """
    Attributes:
        places: (K + 1, N, 2), two principal directions, root mean square length of the states 1.
        far: (K + 1,), share outside the dominant eigenspace. alone: the same without weights and ReLU.
        energy: (K + 1,), Dirichlet. cosine: (K + 1,), mean over all pairs. rate: |λ₂/λ₁|.
    """

    world: World
    edges: Tensor
    places: Tensor
    far: Tensor
    alone: Tensor
    energy: Tensor
    cosine: Tensor
    rate: float

    @property
    def expected(self) -> Tensor:
        """The rate's line through the last distance of the graph alone, (K + 1,)."""
        return self.alone[-1] * max(self.rate, LEAST) ** torch.arange(1.0 - len(self.alone), 1).double()


def plane(h: Tensor, before: Tensor | None) -> Tensor:
    """(N, D) -> (N, 2): along two principal directions, turned to lie as near as can be to `before`."""
    length = h.square().sum(1).mean().clamp(min=1e-300).sqrt()
    u, strength, _ = torch.linalg.svd(h / length, full_matrices=False)
    p = F.pad(u * strength, (0, 1))[:, :2]
    if before is None:
        return p
    left, _, right = torch.linalg.svd(p.T @ before)
    return p @ (left @ right)


def upright(places: Tensor) -> Tensor:
    """(F, N, 2), turned so that the last frame's mean lies to the right of the origin."""
    x, y = places[-1].mean(0) / places[-1].mean(0).norm().clamp(min=1e-300)
    return places @ torch.stack([torch.stack([x, -y]), torch.stack([y, x])])


def smoothing(
    graph: str, own: Tensor, depth: int, propagation: str, residual: str, pair: bool, drop: float, seed: int
) -> Smoothing:
    """What `depth` layers do with drawn features."""
    one = stack(graph, own, depth, propagation, residual, pair, drop, seed)
    N = len(one.x)
    a = encoding.adjacency(one.edges, N).double()
    basis, rate = dominant(one.s)
    states = [h.detach() for h in one.states]
    places, alone, h = list[Tensor](), list[Tensor](), states[0]
    for state in states:
        places.append(plane(state, places[-1] if places else None))
        alone.append(distance(h, basis))
        h = one.s @ h
        h = h / h.norm().clamp(min=1e-300)
    unit = [F.normalize(h, dim=1) for h in states]
    return Smoothing(
        one.world, one.edges, upright(torch.stack(places)), torch.stack([distance(h, basis) for h in states]),
        torch.stack(alone), torch.stack([dirichlet_energy(h, a) for h in states]),
        torch.stack([((u @ u.T).sum() - N) / max(N * (N - 1), 1) for u in unit]), rate,
    )  # fmt: skip


# --- Over-squashing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Influences:
    """
    Attributes:
        away: (N,), edges to the node, −1 where no walk leads.
        gradient: (K + 1, N), shares of all nodes in the influence, by gradients of the network.
        walk: (K + 1, N), of a linear network: the probability of a walk.
        by_gradient, by_walk: (K + 1, R + 1), of all nodes at distance r together.
        first: (R + 1,), by a walk of as many layers as the distance.
    """

    world: World
    edges: Tensor
    away: Tensor
    gradient: Tensor
    walk: Tensor
    by_gradient: Tensor
    by_walk: Tensor
    first: Tensor


def shares(values: Tensor) -> Tensor:
    return values / values.sum(-1, keepdim=True).clamp(min=1e-300)


def influences(
    graph: str, own: Tensor, node: int, hops: int, propagation: str, residual: str, pair: bool, drop: float,
    seed: int,
) -> Influences:  # fmt: skip
    """Influence of all nodes on one, after 0 … `hops` layers."""
    one = stack(graph, own, hops, propagation, residual, pair, drop, seed)
    N = len(one.x)
    away = encoding.distances(encoding.adjacency(one.edges, N))[node]
    gradient = shares(torch.stack([influence(h[node], one.x) for h in one.states]))
    powers = [torch.linalg.matrix_power(one.s, k)[node] for k in range(max(hops, int(away.max())) + 1)]
    walk = shares(torch.stack(powers))
    every = by_distance(walk, away)
    return Influences(
        one.world, one.edges, away, gradient, walk[: hops + 1], by_distance(gradient, away),
        every[: hops + 1],
        every.diagonal().clone(),
    )  # fmt: skip
