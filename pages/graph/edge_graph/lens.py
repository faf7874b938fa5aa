"""A graph and its edge graph, the way back, and numbers that are sent between nodes and edges.

Shapes: N nodes, E edges, L pairs of edges that share an end, F frames.
"""

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import graphs
from modules.graph import edge_graph
from modules.graph.edge_graph import Kind
from modules.graph.edge_layer import NodeEdgeConvolution
from modules.graph.encoding import adjacency
from pages.graph.edge_graph.room import EDGE_EDGE, EDGE_NODE, LAYER, NODE_EDGE, NODE_NODE, THERE_AND_BACK

MOST_NODES, MOST_EDGES, MOST_GIVEN = 10, 16, 12
NODE: Kind = "node"
EDGE: Kind = "edge"
STEPS: dict[str, list[tuple[Kind, Kind]]] = {
    NODE_NODE: [(NODE, NODE)], EDGE_NODE: [(EDGE, NODE)], NODE_EDGE: [(NODE, EDGE)],
    EDGE_EDGE: [(EDGE, EDGE)], THERE_AND_BACK: [(EDGE, NODE), (NODE, EDGE)],
}  # fmt: skip


def typed(text: str) -> Tensor:
    """A (N, N) of the reader's graph."""
    graph = graphs.labelled(text, MOST_NODES)
    count = graph.edge_index.shape[1] // 2
    if not count:
        raise UserError("There is no edge: write one such as 0-1.")
    if count > MOST_EDGES:
        raise UserError(f"These are {count} edges: take {MOST_EDGES} at most, so that each can be seen.")
    return adjacency(graph.edge_index, len(graph.labels))


def given(text: str) -> Tensor:
    """A (E, E) of the graph to go back from; its nodes are edges."""
    graph = graphs.labelled(text, MOST_GIVEN)
    return adjacency(graph.edge_index, len(graph.labels))


@dataclass(frozen=True)
class Built:
    """A graph with its edge graph.

    Attributes:
        edges: (E, 2), smaller end first. num_nodes: N. incidence: B (N, E).
        matrix: A_edge (E, E). links: (L, 2), pairs of edges that share an end. via: (L,), that end.
    """

    edges: Tensor
    num_nodes: int
    incidence: Tensor
    matrix: Tensor
    links: Tensor
    via: Tensor

    def near(self, edge: int) -> list[int]:
        """Edges that share an end with it."""
        return [int(f) for f in self.matrix[edge].nonzero()[:, 0]]


def built(edges: Tensor, num_nodes: int) -> Built:
    """The edge graph of edges (E, 2)."""
    b = edge_graph.incidence(edges, num_nodes)
    links = edge_graph.edge_graph(edges)
    via = (b[:, links[:, 0]] * b[:, links[:, 1]]).argmax(0)
    return Built(edges, num_nodes, b, edge_graph.operator(EDGE, EDGE, edges, num_nodes), links, via)


def forwards(a: Tensor) -> Built:
    """The typed graph and its edge graph."""
    return built(edge_graph.undirected(a.nonzero().T), len(a))


@dataclass(frozen=True)
class Returned:
    """A graph read as an edge graph.

    Attributes:
        links: (L, 2) of the graph that was given. count: E, its nodes.
        answers: graphs that have it as their edge graph: none, one, or two where a part is a triangle.
        claw: a node and three neighbours of which no two are joined; None where there is none.
    """

    links: Tensor
    count: int
    answers: list[Built]
    claw: tuple[int, ...] | None


def backwards(back: Tensor) -> Returned:
    links, count = edge_graph.undirected(back.nonzero().T), len(back)
    answers = list[Built]()
    for star in (False, True):
        try:
            ends = edge_graph.node_graph(links, count, star)
        except ValueError:
            break
        nodes = int(ends.max()) + 1
        if not answers or nodes != answers[0].num_nodes:
            answers.append(built(ends, nodes))
    return Returned(links, count, answers, claw(back))


def claw(a: Tensor) -> tuple[int, ...] | None:
    """The first node with three neighbours of which no two are joined, and these."""
    for e, row in enumerate(a):
        for three in combinations(row.nonzero()[:, 0].tolist(), 3):
            if not any(a[f, g] for f, g in combinations(three, 2)):
                return (e, *three)
    return None


@dataclass(frozen=True)
class Turn:
    """One receiver's sum.

    Attributes:
        receiver, sender: kinds. k: number of the receiver. terms: number of a sender -> what it sends.
        result: their sum, or the layer's output.
        nodes, edges: numbers that are drawn, (N,) and (E,), NaN where none is yet.
    """

    receiver: Kind
    sender: Kind
    k: int
    terms: dict[int, float]
    result: float
    nodes: Tensor
    edges: Tensor


@dataclass(frozen=True)
class Played:
    """Numbers sent between nodes and edges.

    Attributes:
        graph: with its edge graph. h: (N,). e: (E,), whole numbers at first.
        turns: one a frame. result: (N,) or (E,), all of the last step.
    """

    graph: Built
    h: Tensor
    e: Tensor
    turns: list[Turn]
    result: Tensor


def numbers(graph: Built, seed: int) -> tuple[Tensor, Tensor]:
    """A whole number from 1 to 9 for each node (N,) and each edge (E,)."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(1, 10, (graph.num_nodes + len(graph.edges),), generator=generator).double()
    return drawn[: graph.num_nodes], drawn[graph.num_nodes :]


def played(a: Tensor, way: str, seed: int, own: float, heard: float, edges: float) -> Played:
    """Every receiver's sum, one after the other."""
    graph = forwards(a)
    h, e = numbers(graph, seed)
    if way == LAYER:
        return layered(graph, h, e, (own, heard, edges))
    turns, now = list[Turn](), {NODE: h, EDGE: e}
    for receiver, sender in STEPS[way]:
        matrix = edge_graph.operator(receiver, sender, graph.edges, graph.num_nodes).double()
        sent, result = now[sender], now[sender] @ matrix
        drawn = now if receiver == sender else now | {receiver: torch.full_like(result, torch.nan)}
        for k, total in enumerate(result.tolist()):
            column = matrix[:, k].nonzero()[:, 0].tolist()
            shown = drawn[receiver].clone()
            shown[k if receiver == sender else slice(k + 1)] = result[
                k if receiver == sender else slice(k + 1)
            ]
            both = drawn | {receiver: shown}
            turns.append(
                Turn(receiver, sender, k, {m: float(sent[m]) for m in column}, total, both[NODE], both[EDGE])
            )
        now = now | {receiver: result}
    return Played(graph, h, e, turns, now[STEPS[way][-1][0]])


@torch.no_grad()
def layered(graph: Built, h: Tensor, e: Tensor, weights: tuple[float, float, float]) -> Played:
    """max[0, ψ h_n + ω Σ h_m + γ Σ e_e] at every node."""
    layer = NodeEdgeConvolution(1, 1, 1).double()
    for matrix, weight in zip((layer.own, layer.weight, layer.edge), weights, strict=True):
        matrix.fill_(weight)
    both = torch.cat([graph.edges, graph.edges.flip(1)]).T
    result = torch.relu(layer(h[:, None], both, torch.cat([e, e])[:, None]))[:, 0]
    turns = []
    for n, value in enumerate(result.tolist()):
        shown = h.clone()
        shown[n] = value
        ends = graph.incidence[n].nonzero()[:, 0].tolist()
        turns.append(Turn(NODE, EDGE, n, {k: float(e[k]) for k in ends}, value, shown, e))
    return Played(graph, h, e, turns, result)
