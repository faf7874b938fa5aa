"""The test of Weisfeiler and Leman: classes by round, twins, and what no layer can tell apart."""

import networkx as nx
import pytest
import torch
from graphs import BICYCLOPENTYL, DECALIN, FIXTURES, RING, TRIANGLES, adjacency, both_ways
from torch_geometric.nn import WLConv

from modules.graph import encoding, isomorphism

KARATE = list(nx.karate_club_graph().edges)


@pytest.mark.parametrize(
    "edges, n, classes",
    [
        (FIXTURES["G4"][0], 8, [1, 5, 8]),
        (FIXTURES["G14a"][0], 7, [1, 4, 6]),
        (FIXTURES["A1"][0], 7, [1, 3, 4]),
        (FIXTURES["A2"][0], 7, [1, 4, 7]),
        (KARATE, 34, [1, 11, 27]),
    ],
)
def test_classes_after_each_round(edges: list[tuple[int, int]], n: int, classes: list[int]) -> None:
    found = isomorphism.rounds(both_ways(edges), n)
    assert [len(colours.unique()) for colours in found] == classes
    # another road: PyTorch Geometric's, round by round
    peer, colours = WLConv(), torch.zeros(n, dtype=torch.long)
    for own in found[1:]:
        colours = peer(colours, both_ways(edges))
        pairs = torch.stack([own, colours]).unique(dim=1)
        assert pairs.shape[1] == len(own.unique()) == len(colours.unique())


def test_names_of_nodes_do_not_matter() -> None:
    places = torch.randperm(34, generator=torch.Generator().manual_seed(0))
    graph = both_ways(KARATE), 34
    assert isomorphism.told_apart(graph, (encoding.renumbered(graph[0], places), 34)) is None


def test_twins() -> None:
    """Not isomorphic, and equal to the test; walks that come back, or one more number, tell them apart."""
    ring, triangles = (both_ways(RING), 6), (both_ways(TRIANGLES), 6)
    assert isomorphism.told_apart(ring, triangles) is None
    one, other = (encoding.walks(adjacency(e, n).long(), 3) for e, n in (ring, triangles))
    assert int(one.trace()) == 0 and int(other.trace()) == 12
    assert isomorphism.told_apart(ring, triangles, torch.cat([one.diagonal(), other.diagonal()])) == 0
    pair = [(both_ways(edges), 10) for edges in (DECALIN, BICYCLOPENTYL)]
    assert isomorphism.told_apart(*pair) is None
    assert not nx.is_isomorphic(nx.Graph(DECALIN), nx.Graph(BICYCLOPENTYL))


def test_sizes_and_degrees_are_told_apart_at_once() -> None:
    path, star = both_ways([(0, 1), (1, 2), (2, 3)]), both_ways([(0, 1), (0, 2), (0, 3)])
    assert isomorphism.told_apart((path, 4), (star, 4)) == 1
    assert isomorphism.told_apart((path, 4), (path, 5)) == 0
    assert isomorphism.rounds(torch.zeros(2, 0, dtype=torch.long), 1)[0].tolist() == [0]


def test_multisets_count_how_often() -> None:
    """A leaf with one neighbour of a colour, and a node with two of it."""
    graph, first = both_ways([(0, 1), (2, 3), (2, 4)]), torch.tensor([1, 0, 1, 0, 0])
    colours = isomorphism.refined(first, graph)
    assert colours[0] != colours[2]
