"""Edge graphs, the way back, and the four operators between nodes and edges."""

import networkx as nx
import pytest
import torch
from graphs import FIXTURES, G15A, G15B, adjacency, both_ways

from modules.graph import edge_graph

PATH, CYCLE, TRIANGLE, STAR = (
    torch.tensor(edges) for edges in (
        [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 3), (1, 2), (2, 3)], [(0, 1), (0, 2), (1, 2)],
        [(0, 1), (0, 2), (0, 3)],
    )
)  # fmt: skip


def graph_of(edges: torch.Tensor) -> nx.Graph:
    return nx.Graph(edges.tolist())


@pytest.mark.parametrize("name", FIXTURES)
def test_the_incidence_gives_both_graphs(name: str) -> None:
    pairs, n, _, _, _, count = FIXTURES[name]
    edges = edge_graph.undirected(both_ways(pairs))
    assert edges.tolist() == sorted([list(pair) for pair in pairs])
    found = edge_graph.edge_graph(edges)
    assert len(found) == count
    assert nx.is_isomorphic(graph_of(found), nx.line_graph(nx.Graph(pairs)))
    b = edge_graph.incidence(edges, n)
    a = adjacency(both_ways(pairs), n).long()
    assert torch.equal(b @ b.T - b.sum(1).diag(), a) and b.sum(0).tolist() == [2] * len(edges)
    a_edge = edge_graph.operator("edge", "edge", edges, n)
    assert torch.equal(a_edge, adjacency(both_ways(found.tolist()), len(edges)).long())
    assert torch.equal(edge_graph.operator("node", "node", edges, n), a)
    h, h_edge = torch.randn(3, n), torch.randn(2, len(edges))
    for e, (i, j) in enumerate(edges.tolist()):
        to_edges = h @ edge_graph.operator("edge", "node", edges, n).float()
        torch.testing.assert_close(to_edges[:, e], h[:, i] + h[:, j])
    to_nodes = h_edge @ edge_graph.operator("node", "edge", edges, n).float()
    for i in range(n):
        torch.testing.assert_close(to_nodes[:, i], h_edge[:, (edges == i).any(1)].sum(1))


def test_known_edge_graphs() -> None:
    for edges, expected in (
        (PATH, nx.path_graph(3)),
        (CYCLE, nx.cycle_graph(4)),
        (STAR, nx.complete_graph(3)),
    ):
        assert nx.is_isomorphic(graph_of(edge_graph.edge_graph(edges)), expected)


def test_problems_of_the_text() -> None:
    edges = edge_graph.undirected(both_ways(G15A))
    names = ["".join(str(node + 1) for node in edge) for edge in edges.tolist()]
    found = {f"{names[i]}-{names[j]}" for i, j in edge_graph.edge_graph(edges).tolist()}
    assert found == set(
        [
            "12-13",
            "12-16",
            "12-24",
            "12-25",
            "13-16",
            "13-34",
            "13-36",
            "16-36",
            "24-25",
            "24-34",
            "24-45",
            "25-45",
            "34-36",
            "34-45",
        ]
    )
    back = edge_graph.node_graph(torch.tensor(G15B), 6)
    assert sorted(dict(graph_of(back).degree).values()) == [1, 1, 2, 2, 3, 3]
    again = edge_graph.edge_graph(back)
    assert again.tolist() == sorted([list(pair) for pair in G15B])


def test_the_way_back_is_not_unique() -> None:
    """The text says that it always exists: a triangle and a star of three have one edge graph."""
    one, other = (edge_graph.edge_graph(edges) for edges in (TRIANGLE, STAR))
    assert nx.is_isomorphic(graph_of(one), graph_of(other))
    with pytest.raises(ValueError, match="no edge graph"):
        edge_graph.node_graph(STAR, 4)  # the claw is the edge graph of nothing
