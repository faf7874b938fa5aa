"""Edge graphs, the way back, and the four operators between nodes and edges."""

import networkx as nx
import pytest
import torch
from graphs import FIXTURES, G4, G15A, G15B, adjacency, both_ways
from torch_geometric.nn import GeneralConv

from modules.graph import edge_graph
from modules.graph.convolution import GraphConvolution
from modules.graph.edge_layer import NodeEdgeConvolution

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
    for star, count in ((False, 3), (True, 4)):
        back = edge_graph.node_graph(TRIANGLE, 3, star)
        assert int(back.max()) + 1 == count and edge_graph.edge_graph(back).tolist() == TRIANGLE.tolist()
    for claw in (STAR, 3 - STAR.flip(1)):  # the edge graph of nothing, whichever node comes first
        with pytest.raises(ValueError, match="no edge graph"):
            edge_graph.node_graph(claw, 4)


@pytest.mark.parametrize("seed", range(30))
def test_the_way_back_is_that_of_networkx(seed: int) -> None:
    """Of edge graphs of random graphs, and of random graphs, most of which are none."""
    graph = nx.gnp_random_graph(7, 0.3 + 0.02 * seed, seed=seed)
    edges = torch.tensor(sorted(map(sorted, graph.edges)))
    assert len(edges) > 1
    found = edge_graph.edge_graph(edges)
    for star in (False, True):
        back = edge_graph.node_graph(found, len(edges), star)
        assert edge_graph.edge_graph(back).tolist() == found.tolist()
        alone = [graph.subgraph(part) for part in nx.connected_components(graph) if len(part) > 1]
        bare = [part.number_of_edges() == 3 and part.number_of_nodes() < 5 for part in alone]
        if not any(bare):
            assert nx.is_isomorphic(graph_of(back), nx.union_all(alone))
    wild = nx.Graph(found.tolist())
    wild.add_nodes_from(range(len(edges)))
    a, b = sorted(wild)[seed % 3], sorted(wild)[-1]
    wild.remove_edge(a, b) if wild.has_edge(a, b) else wild.add_edge(a, b)
    parts = [nx.Graph(wild.subgraph(part)) for part in nx.connected_components(wild) if len(part) > 1]
    try:
        expected = [nx.inverse_line_graph(part) for part in parts]
    except nx.NetworkXError:
        expected = None
    given = torch.tensor(sorted(map(sorted, wild.edges)), dtype=torch.long).reshape(-1, 2)
    if expected is None:
        with pytest.raises(ValueError, match="no edge graph"):
            edge_graph.node_graph(given, len(edges))
    else:
        back = edge_graph.node_graph(given, len(edges))
        assert edge_graph.edge_graph(back).tolist() == given.tolist()


def text_layer(layer: NodeEdgeConvolution, h: torch.Tensor, e: torch.Tensor, n: int) -> torch.Tensor:
    """The layer at node n of G4, edge by edge: h (N, D), e (E, D_E) of undirected edges -> (D',)."""
    heard = layer.bias + layer.own @ h[n]
    for k, pair in enumerate(sorted(G4)):
        if n in pair:
            heard = heard + layer.weight @ h[sum(pair) - n] + layer.edge @ e[k]
    return heard


def test_a_layer_with_data_of_edges() -> None:
    torch.manual_seed(0)
    edges = torch.tensor(sorted(G4))
    both = torch.cat([edges, edges.flip(1)]).T
    h, e = torch.randn(8, 3).double(), torch.randn(11, 2).double()
    layer = NodeEdgeConvolution(3, 2, 4).double()
    torch.nn.init.normal_(layer.bias)
    out = layer(h, both, torch.cat([e, e]))
    for n in range(8):
        torch.testing.assert_close(out[n], text_layer(layer, h, e, n), atol=1e-12, rtol=0)
    a, to_nodes = (edge_graph.operator("node", kind, edges, 8).double() for kind in ("node", "edge"))
    matrices = layer.own @ h.T + layer.weight @ h.T @ a + layer.edge @ e.T @ to_nodes
    torch.testing.assert_close(out, (layer.bias[:, None] + matrices).T, atol=1e-12, rtol=0)

    theirs = GeneralConv(3, 4, 2, aggr="add", skip_linear=True, bias=False).double()
    for mine, name in ((layer.own, "lin_self"), (layer.weight, "lin_msg"), (layer.edge, "lin_edge")):
        getattr(theirs, name).weight.data.copy_(mine.data)
    torch.testing.assert_close(theirs(h, both, torch.cat([e, e])) + layer.bias, out, atol=1e-12, rtol=0)

    separate = GraphConvolution(3, 4, "sum", "separate").double()
    for mine, name in ((layer.own, "own"), (layer.weight, "weight"), (layer.bias, "bias")):
        getattr(separate, name).data.copy_(mine.data)
    layer.edge.data.zero_()
    torch.testing.assert_close(separate(h, both), layer(h, both, torch.cat([e, e])), atol=1e-12, rtol=0)


def test_what_the_layer_refuses() -> None:
    layer = NodeEdgeConvolution(1, 1, 1)
    with pytest.raises(ValueError, match="rows"):
        layer(torch.ones(2, 1), torch.tensor([[0], [1]]), torch.ones(2, 1))
    with pytest.raises(ValueError, match="node 2"):
        layer(torch.ones(2, 1), torch.tensor([[0], [2]]), torch.ones(1, 1))
    with pytest.raises(ValueError, match="edge_features"):
        NodeEdgeConvolution(1, 0, 1)
    # a node alone hears nobody, and no edge
    assert layer(torch.ones(1, 1), torch.empty(2, 0, dtype=torch.long), torch.empty(0, 1)).isfinite().all()
