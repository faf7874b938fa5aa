"""The page Can they be told apart: classes by another road, what its scenes say, bad input."""

import networkx as nx
import pytest
import torch
from opening import film, open_page, run_page

from lab.errors import UserError
from modules.graph import isomorphism
from modules.graph.encoding import adjacency
from pages.graph.isomorphism import figures, lens
from pages.graph.isomorphism.room import (
    AS_NUMBERS,
    COPIES,
    DATA,
    MAX,
    MEAN,
    MULTI,
    NUMBERS,
    ONE_HOT,
    OWN,
    PAIRS,
    PATH,
    RANDOM,
    RINGS,
    ROOM,
    SUM,
    TRIANGLES,
    TWICE,
    TWINS,
    WAYS,
)  # fmt: skip

NAME = "graph/isomorphism"
SEEDS = range(10)


def compared(pair: str, data: str = ONE_HOT, aggregation=SUM, pooling=SUM, seed: int = 0) -> lens.Compared:
    nothing = lens.typed("0")
    return lens.compared(pair, nothing, nothing, data, aggregation, pooling, seed)


def partition(numbers: list[int]) -> list[list[int]]:
    """Nodes by number, whatever the numbers are."""
    return sorted([n for n, other in enumerate(numbers) if other == k] for k in set(numbers))


@pytest.mark.parametrize("pair", PAIRS)
def test_rounds_are_those_of_networkx_and_of_the_network(pair: str) -> None:
    for seed in SEEDS:
        found = compared(pair, seed=seed)
        assert found.test == found.states, seed  # a GIN that sums parts what the test parts
    graphs = [lens.typed(text) for text in PAIRS[pair]]
    net = nx.Graph()
    start = 0
    for graph in graphs:
        net.add_nodes_from((start + n, {"label": str(l)}) for n, l in enumerate(graph.labels.tolist()))
        net.add_edges_from((a + start, b + start) for a, b in graph.edge_index.T.tolist())
        start += len(graph.labels)
    hashes = nx.weisfeiler_lehman_subgraph_hashes(net, node_attr="label", iterations=4)
    for r, colours in enumerate(found.test[1:5], 1):
        names = [hashes[n][r - 1] for n in range(start)]
        assert partition(colours) == partition([sorted(set(names)).index(name) for name in names])
    pairs = [(graph.edge_index, len(graph.labels)) for graph in graphs]
    labels = torch.cat([graph.labels for graph in graphs])
    assert found.told == isomorphism.told_apart(*pairs, colours=labels)
    assert (found.told is None) == (not any(found.distance))


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("aggregation", WAYS)
def test_the_network_never_parts_what_the_test_does_not(data: str, aggregation: str) -> None:
    for pair in PAIRS:
        found = compared(pair, data, aggregation, MEAN)
        for colours, states in zip(found.test, found.states, strict=True):
            of = {c: {s for k, s in zip(colours, states, strict=True) if k == c} for c in colours}
            assert all(len(each) == 1 for each in of.values()), (pair, colours, states)


def test_what_the_scenes_say() -> None:
    for seed in SEEDS:
        poster = compared(next(iter(PAIRS)), seed=seed)
        first, second = poster.counts(poster.test[1])
        assert first == second and poster.told == 2 and poster.distance[1] == 0 < poster.distance[2]
        for way in WAYS:
            for pooling in WAYS:
                for twins in (TWINS, RINGS):
                    assert not any(compared(twins, ONE_HOT, way, pooling, seed).distance)
        assert len(set(compared(TWINS).test[3])) == 1 and len(set(compared(RINGS).test[3])) == 3
        path = compared(PATH, aggregation=MEAN, seed=seed)
        assert len(set(path.states[1])) == 1 < len(set(path.test[1])) and not any(path.distance)
        most = compared(MULTI, aggregation=MAX, pooling=MAX, seed=seed)
        assert most.states[1][0] == most.states[1][3] and most.test[1][0] != most.test[1][3]
        assert not any(most.distance) and any(compared(MULTI, aggregation=MEAN, seed=seed).distance)
        assert not any(compared(COPIES, pooling=MEAN, seed=seed).distance)
        assert all(compared(COPIES, seed=seed).distance)
        for way in (MEAN, MAX):
            assert not any(compared(TWICE, aggregation=way, pooling=way, seed=seed).distance)
        numbers = compared(NUMBERS, AS_NUMBERS, seed=seed)
        assert numbers.states[1][0] == numbers.states[1][3] and numbers.test[1][0] != numbers.test[1][3]
        counted = compared(TWINS, TRIANGLES, seed=seed)
        assert counted.told == 0 and counted.distance[0] > 0
        assert compared(TWINS, RANDOM, seed=seed).told == 0


def test_triangles_are_walks_of_three_that_return() -> None:
    graph = lens.typed("0-1 1-2 2-0 2-3 3-4 4-2 5")
    net = nx.Graph(graph.edge_index.T.tolist())
    assert lens.triangles(graph).tolist() == [nx.triangles(net, n) if n in net else 0 for n in range(6)]
    assert adjacency(graph.edge_index, 6).sum() == 12


def test_a_class_that_parts_keeps_its_number() -> None:
    rounds = [torch.tensor(row) for row in ([0, 0, 0, 0], [1, 0, 1, 0], [2, 0, 3, 1])]
    assert lens.kept(rounds) == [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3]]


def test_graphs_that_are_typed() -> None:
    graph = lens.typed("0-1, 1-0; 3:4 1−2")
    assert graph.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert graph.labels.tolist() == [1, 1, 1, 4]
    alone = lens.compared(OWN, lens.typed("0"), lens.typed("0:2"), ONE_HOT, SUM, SUM, 0)
    assert alone.told == 0 and len(figures.graphs(alone)["data"]) == 8
    path = " ".join(f"{n}-{n + 1}" for n in range(11))
    long = lens.compared(OWN, lens.typed(path), lens.typed(f"{path} 11-0"), ONE_HOT, SUM, SUM, 0)
    assert len(long.test) == 7 and long.told == 1  # six kinds of node on the path, one on the ring


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0-1 x", "neither an edge"),
        ("0-0", "to itself"),
        ("0-12", "no node 12"),
        ("2:0", "from 1 to 9"),
        (" ", "empty"),
    ],
)
def test_bad_input_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        lens.typed(text)
    page = run_page(NAME, pair=OWN, one=text)
    assert not page.exception


def test_the_page_shows_its_numbers() -> None:
    bar = film(open_page(NAME), "step")
    found = compared(next(iter(PAIRS)))
    assert bar["count"] == len(found.test)
    assert "different multisets" in bar["captions"][2] and "the same multiset" in bar["captions"][1]
    for scene in ROOM.scenes.values():
        state = scene.state
        assert state.step < len(compared(state.pair, state.data, state.aggregation, state.pooling).test)
