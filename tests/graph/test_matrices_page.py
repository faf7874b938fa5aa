"""The page Graph as matrices: walks listed one by one, columns of an edge, layers under new numbers."""

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from opening import film, open_page, run_page

from lab.errors import UserError
from lab.figures.moving import at
from lab.lenses import graphs
from pages.graph.matrices import figures, lens, numbering, room, words
from pages.graph.matrices.room import ROOM

G4, PATH, LAYERED = (graphs.arrows(text) for text in (room.FIGURE_13_4, room.PATH, room.LAYERED))


def listed(a: torch.Tensor, length: int, end: int) -> list[int]:
    """How many sequences of nodes along edges of `length` steps lead from each node to `end`."""
    counts = [0] * len(a)
    for nodes in itertools.product(range(len(a)), repeat=length):
        steps = itertools.pairwise((*nodes, end))
        counts[nodes[0] if nodes else end] += all(bool(a[m, n]) for m, n in steps)
    return counts


def test_the_graph_is_that_of_all_pages() -> None:
    assert torch.equal(lens.matrix(G4, False), graphs.typed(room.FIGURE_13_4))
    assert graphs.arrows("1-0 2").tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(("a", "directed"), [(G4, False), (G4, True), (LAYERED, True)])
def test_walks_are_those_that_can_be_listed(a: torch.Tensor, directed: bool) -> None:
    one = lens.walked(a, directed)
    for n in (0, 4):
        for L in range(5):
            there = listed(one.a, L, n)
            assert words.ended(one.powers, room.TO, n)[L].tolist() == there
            assert words.ended(one.powers, room.FROM, n)[L].tolist() == listed(one.a.T, L, n)
            assert f"{sum(there):,} walk" in words.walk_captions(one, room.COUNTS, room.TO, n)[L]
    graph = nx.from_numpy_array(one.a.numpy(), create_using=nx.DiGraph)
    far = dict(nx.all_pairs_shortest_path_length(graph))
    for m, n in itertools.product(range(len(a)), repeat=2):
        for L in room.LENGTHS:
            near = far[m].get(n, 99)
            assert int(one.first[L, m, n]) == (near if near <= L else -1)


def test_scenes_say_what_is_so() -> None:
    one = lens.walked(G4, False)
    assert one.powers[2, :, 5].tolist() == [0, 1, 1, 1, 1, 3, 0, 1]
    assert one.powers[2].diagonal().tolist() == one.a.sum(0).tolist() and int(one.a.sum(0)[4]) == 5
    assert [int(one.powers[L, 0, 6]) for L in range(5)] == [0, 0, 0, 0, 2] and int(one.first[4, 0, 6]) == 4
    path = lens.walked(PATH, False)
    assert int(path.powers[2][path.a > 0].sum()) == 0
    assert (
        "; from 2 of its 2 neighbours there is none." in words.walk_captions(path, room.COUNTS, room.TO, 3)[2]
    )
    layered = lens.walked(LAYERED, True)
    assert int(layered.powers[3, :, 0].sum()) == 0 < int(layered.powers[3, 0].sum())


def test_colours_and_texts_of_each_frame() -> None:
    one = lens.walked(G4, False)
    values, strength = words.shown(one, room.COUNTS)
    tree = figures.powers(values, strength, 5, row=False)
    for L in (0, 2, 6):
        fig = at(tree, L)
        assert fig.data[0].z.max() == 1 and [int(t) for t in fig.data[1].text] == values[L].flatten().tolist()
    _, near = words.shown(one, room.FIRST)
    assert float(near.min()) == 0 and float(near.max()) == 1
    positions = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))
    fig = at(figures.walks(positions, one.a, False, values[..., 5], strength[..., 5], 5), 2)
    assert next(trace.text for trace in fig.data if trace.text and "3" in trace.text)[5] == "3"
    assert [words.spell(v) for v in (7, 999, 1000, 9949, 9950, 35_000, 999_600, 10**9)] == [
        "7", "999", "1.0k", "9.9k", "10k", "35k", "1.0M", "1.0G"
    ]  # fmt: skip


def test_columns_of_an_edge() -> None:
    for directed in (False, True):
        one = lens.listed(G4, directed, 0)
        assert one.x.shape == (5, 8) and one.e.shape == (4, 11) and len(one.edges) == 11
        fig = at(figures.lists(one), 3)
        marks = [s for s in fig.layout.shapes if s.line.width > 1]
        cells = [s for s in marks if s.xref == "x"]
        ones = {(round(s.y0 + 0.5), round(s.x0 + 0.5)) for s in cells}
        m, n = one.edges[3].tolist()
        assert ones == ({(m, n)} if directed else {(m, n), (n, m)}) and all(one.a[i, j] for i, j in ones)
        assert {round(s.x0 + 0.5) for s in marks if s.xref == "x2"} == {m, n}


@pytest.mark.parametrize("layer", room.LAYERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_layers_under_other_numbers(layer: str, seed: int) -> None:
    """By another road: the layer on edges whose ends are renamed, node by node."""
    one = lens.renumbered(G4, False, layer, seed, seed)
    assert len(one.places) == len(one.swaps) + 1 > 3
    wanted = torch.randperm(8, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(one.places[-1], wanted)
    model = lens.layer_of(layer, 8, seed)
    for f, places in enumerate(one.places):
        assert torch.equal(one.a[f][places][:, places], one.a[0])
        torch.testing.assert_close(one.x[f][:, places], one.x[0])
        with torch.no_grad():
            h = torch.relu(model(one.x[f].T, one.a[f].nonzero().T)).T
        torch.testing.assert_close(h[:, places] - one.h[0], one.gaps[f][:, places], rtol=0, atol=1e-12)
        moves = layer == room.BROKEN and f > 0
        assert (words.gap(one, f) > 0.01) == moves
        assert (abs(float(one.pooled[f] - one.pooled[0])) > 1e-9) == moves
        assert ("only reordered" in words.swap_captions(one)[f]) == (not moves and f > 0)


def test_the_broken_layer_by_hand() -> None:
    model = lens.layer_of(room.BROKEN, 8, 0)
    x, a = torch.randn(8, lens.D, generator=torch.Generator().manual_seed(1)).double(), lens.matrix(G4, False)
    h = model(x, a.nonzero().T)
    for n in range(8):
        heard = x[n] + sum(x[m] for m in range(8) if a[m, n])
        torch.testing.assert_close(h[n], model.weight[n] @ heard)  # type: ignore[index]


def test_numbers_and_colours_of_the_drawing() -> None:
    one = lens.renumbered(G4, False, room.SUM, 0, 0)
    tree = numbering.twice(torch.rand(8, 2, generator=torch.Generator().manual_seed(0)), one, False)
    for f in (0, len(one.swaps)):
        fig = at(tree, f)
        assert [int(v) for v in fig.data[5].text] == one.places[f].tolist()
        np.testing.assert_array_equal(fig.data[6].z, one.a[f].numpy())
        rim = fig.data[7].marker.color[:8]
        assert [rim[k] for k in one.places[f].tolist()] == list(fig.data[5].marker.color)


@pytest.mark.parametrize("view", room.VIEWS)
@pytest.mark.parametrize("a", ["0", "0-1 3", room.LAYERED])
def test_own_graphs(view: str, a: str) -> None:
    key = {room.WALKS: "length", room.LISTS: "edge", room.RELABELLED: "swap"}[view]
    assert film(open_page("graph/matrices", view=view, a=a, directed=a == room.LAYERED), key)


def test_what_is_no_graph_is_said() -> None:
    with pytest.raises(UserError, match="is no edge"):
        graphs.arrows("0-x")
    page = run_page("graph/matrices", a="0-0")
    assert not page.exception and len(page.error) + len(page.warning) + len(page.info) >= 1
    assert set(ROOM.symbols) >= {"A", "P", "X", "E"}
