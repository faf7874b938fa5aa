"""The page Edge graph: both graphs by another road, sums by hand, what the scenes say, bad input."""

from dataclasses import asdict

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import G13
from opening import film, open_page, run_page

from lab.errors import UserError
from lab.figures.moving import at
from pages.graph.edge_graph import figures, kinds, lens, relations, room, sums, words
from pages.graph.edge_graph.room import LAYER, ROOM, THERE_AND_BACK

NAME = "graph/edge_graph"
A = lens.typed(room.FIGURE_13_13)
WEIGHTS = 1.0, 0.5, -1.0


def of(name: str) -> dict[str, object]:
    return asdict(ROOM.scenes[name].state)


def test_both_graphs_and_the_drawings_are_those_of_the_figure() -> None:
    one = lens.forwards(A)
    assert sorted(map(tuple, one.edges.tolist())) == sorted(G13) and len(one.links) == 15
    graph = nx.line_graph(nx.Graph(G13))
    theirs = {tuple(sorted(G13.index(tuple(sorted(e))) for e in pair)) for pair in graph.edges}
    assert {tuple(pair) for pair in one.links.tolist()} == theirs
    for (e, f), n in zip(one.links.tolist(), one.via.tolist(), strict=True):
        assert n in one.edges[e] and n in one.edges[f]
    assert one.near(2) == [0, 1, 3, 5, 6]  # as its scene says
    fig = at(figures.forwards(one), 2)
    thick = next(trace for trace in fig.data if trace.line.color == figures.theme.VERMILLION)
    p = figures.places(one.edges, 6)
    np.testing.assert_allclose(np.array([thick.x[:2], thick.y[:2]]).T, p[one.edges[2].numpy()])
    q = figures.squares(p, one.edges)
    assert [figures.edge_at(one, *spot) for spot in q] == list(range(8))
    assert words.forward_equations(one)[2].endswith(r"= 15\ \text{links}")


def test_what_the_scenes_say() -> None:
    hub = lens.forwards(lens.typed(room.HUB))
    assert len(hub.links) == 15 and hub.via.unique().tolist() == [0]
    ring = lens.forwards(lens.typed(room.RING))
    assert ring.matrix.sum(0).tolist() == [2] * 6
    back = lens.backwards(lens.given(room.PROBLEM))
    (answer,) = back.answers
    assert answer.num_nodes == 6 and torch.equal(answer.links, back.links)
    two = lens.backwards(lens.given(room.TRIANGLE))
    assert [one.num_nodes for one in two.answers] == [3, 4]
    claw = lens.backwards(lens.given(room.CLAW))
    assert claw.answers == [] and claw.claw == (0, 1, 2, 3) and "no two meet" in words.back_captions(claw)[0]
    wheel = lens.backwards(lens.given(room.EDGE_GRAPHS["Wheel"]))
    assert wheel.answers == [] and wheel.claw is None and "some part" in words.back_captions(wheel)[0]
    assert len(at(figures.backwards(two), 1).data) > len(at(figures.backwards(back), 1).data)


@pytest.mark.parametrize("way", [*lens.STEPS, LAYER])
def test_sums_by_hand(way: str) -> None:
    played = lens.played(A, way, 3, *WEIGHTS)
    graph, h, e = nx.Graph(G13), played.h.tolist(), played.e.tolist()
    ends = {n: [k for k, pair in enumerate(G13) if n in pair] for n in graph}
    there = [h[m] + h[n] for m, n in G13]
    expected = {
        room.NODE_NODE: [sum(h[m] for m in graph[n]) for n in sorted(graph)],
        room.EDGE_NODE: there,
        room.NODE_EDGE: [sum(e[k] for k in ends[n]) for n in sorted(graph)],
        room.EDGE_EDGE: [sum(e[f] for n in pair for f in ends[n] if f != k) for k, pair in enumerate(G13)],
        THERE_AND_BACK: [sum(there[k] for k in ends[n]) for n in sorted(graph)],
        LAYER: [max(0, h[n] + 0.5 * sum(h[m] for m in graph[n]) - sum(e[k] for k in ends[n]))
                for n in sorted(graph)],
    }[way]  # fmt: skip
    assert played.result.tolist() == expected
    last = played.turns[-len(expected) :]
    assert [turn.result for turn in last] == expected
    if way != LAYER:
        assert all(sum(turn.terms.values()) == turn.result for turn in played.turns)
    said = words.sum_equations(played, way, WEIGHTS)
    assert len(said) == len(words.sum_captions(played, way)) == len(played.turns)
    assert said[-1].partition(",")[0].endswith(f"= {expected[-1]:g}") or way == LAYER
    k = len(played.turns) - 1
    fig = at(sums.operator(played, way, WEIGHTS), k)
    below = fig.data[2 if way != room.NODE_EDGE and way != THERE_AND_BACK else 1].text
    assert [float(v.replace("−", "-")) for v in below] == expected
    assert len(at(sums.drawing(played), k).data) == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("0", "no edge"), ("", "empty"), ("0-1 🙂", "is no edge"), ("0-99", "no node"), ("1-1", "joins a node"),
     (" ".join(f"{a}-{b}" for a in range(7) for b in range(a)), "21 edges")],
)  # fmt: skip
def test_bad_input_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        lens.typed(text)


def test_the_page_shows_its_numbers() -> None:
    bar = film(open_page(NAME), "e")
    assert bar["count"] == 8 and bar["captions"] == words.forward_captions(lens.forwards(A))
    for view, key, more in (
        (room.BACK, "back", {"back": "0 1-2"}),
        (room.UPDATES, "a", {"way": THERE_AND_BACK, "a": "0-1 3"}),
    ):
        assert not run_page(NAME, view=view, **more).exception, key
    assert of("Layer")["way"] == LAYER


@pytest.mark.parametrize("bases", [0, 1, 2])
def test_a_sum_by_kind(bases: int) -> None:
    graph = relations.parse(room.RELATED)
    one = relations.heard(graph, bases, 0)
    assert one.matrices.shape == (3, 2, 2) and float(one.matrices.abs().max()) > 0
    if bases == 1:
        assert float(torch.linalg.matrix_rank(one.matrices.reshape(3, 4))) == 1
    for n in range(6):
        total = one.own @ one.x[n]
        for r, sign in enumerate(room.SIGNS):
            near = [w.split(sign) for w in room.RELATED.split() if sign in w]
            senders = sorted(int(a if int(b) == n else b) for a, b in near if str(n) in (a, b))
            assert one.senders[n][r] == senders
            if senders:
                total = total + one.matrices[r] @ one.x[senders].mean(0)
        torch.testing.assert_close(one.result[n], total)
        torch.testing.assert_close(one.terms[n].sum(0), one.result[n])
        assert kinds.column(one.result[n].tolist()) in kinds.equations(one)[n].partition(" = ")[2]
    assert len(kinds.captions(one)) == 6 and "2 by kind 1" in kinds.captions(one)[1]
    shown = at(kinds.network(one), 2).data
    assert kinds.vector(one.result[2].tolist()) == f"({shown[6].text[2].replace('<br>', ', ')})"


def test_edges_of_kinds_are_read() -> None:
    one = relations.parse("1=0 0-1, 0-1 2#1")
    assert one.pairs.tolist() == [[0, 1], [0, 1], [1, 2]] and one.kinds.tolist() == [0, 1, 2]
    (first, _), (second, _), *_ = kinds.strands(one)
    assert np.linalg.norm(first[0] - second[0]) > kinds.APART
    for text, sentence in (("", "no edge"), ("0~1", "is no edge"), ("🙂", "is no edge"), ("1-1", "itself"),
                           ("0-99999999999", "no node"),
                           (" ".join(f"{a}-{b}" for a in range(7) for b in range(a)), "21 ed")):  # fmt: skip
        with pytest.raises(UserError, match=sentence):
            relations.parse(text)
    assert film(open_page(NAME, scene="Kinds of edges"), "receiver")["count"] == 6
