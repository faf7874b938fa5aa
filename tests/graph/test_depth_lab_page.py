"""The page Depth lab: its curves by powers of the matrix, influences, gradients, what its scenes say."""

import networkx as nx
import numpy as np
import pytest
import torch
from opening import film, open_page

from lab.figures.moving import at
from lab.lenses import graphs
from modules.graph import encoding
from pages.graph.depth_lab import figures, lens, room, training, words
from pages.graph.depth_lab.room import ADDED, APPENDED, AVERAGE, GCN, JUMP, KARATE, OWN, PLAIN, RING, TREE

FIGURE = graphs.typed(room.FIGURE_13_11)


def smoothing(
    graph: str = KARATE, residual: str = PLAIN, pair: bool = False, drop: float = 0.0, seed: int = 0
):
    return lens.smoothing(graph, FIGURE, 32, GCN, residual, pair, drop, seed)


def test_the_graphs_are_what_they_are_called() -> None:
    tree, ring = lens.world(TREE, FIGURE), lens.world(RING, FIGURE)
    for one, peer in ((tree, nx.balanced_tree(2, 4)), (ring, nx.cycle_graph(24))):
        assert nx.is_isomorphic(nx.Graph(one.edges.T.tolist()), peer)
        assert len(one.classes) == len(peer)
    away = encoding.distances(encoding.adjacency(tree.edges, 31))[0]
    assert torch.equal(away, tree.classes)
    assert lens.last_node(TREE, FIGURE) == 30 and lens.last_node(OWN, FIGURE) == 22


def test_the_graph_alone_falls_at_its_rate() -> None:
    """The cycle's second eigenvalue is (1 + 2 cos(2π/N)) / 3."""
    ring = smoothing(RING)
    assert ring.rate == pytest.approx((1 + 2 * np.cos(2 * np.pi / 24)) / 3, abs=1e-12)
    one = smoothing()
    g = nx.karate_club_graph()
    d = np.array([g.degree(n) + 1 for n in range(34)], dtype=float)
    s = (nx.to_numpy_array(g, weight=None) + np.eye(34)) / np.sqrt(np.outer(d, d))
    values = np.linalg.eigvalsh(s)
    assert one.rate == pytest.approx(max(abs(values[0]), values[-2]), abs=1e-9)
    v = np.sqrt(d / d.sum())
    x = lens.stack(KARATE, FIGURE, 1, GCN, PLAIN, False, 0.0, 0).x.detach().numpy()
    for k in (0, 1, 7, 32):
        h = np.linalg.matrix_power(s, k) @ x
        far = np.linalg.norm(h - np.outer(v, v @ h)) / np.linalg.norm(h)
        assert float(one.alone[k]) == pytest.approx(far, abs=1e-9)
    assert float(one.expected[-1]) == float(one.alone[-1])
    assert float(one.expected[-2] * one.rate) == pytest.approx(float(one.alone[-1]))


def test_places_are_two_principal_directions() -> None:
    one, states = smoothing(), lens.stack(KARATE, FIGURE, 32, GCN, PLAIN, False, 0.0, 0).states
    for k in (0, 3, 32):
        h = states[k].detach()
        strength = torch.linalg.svdvals(h)[:2] / h.square().sum(1).mean().sqrt()
        torch.testing.assert_close(torch.linalg.svdvals(one.places[k]), strength)
    mean = one.places[-1].mean(0)
    assert float(mean[0]) > 0 and abs(float(mean[1])) < 1e-9
    tree = figures.states(one)
    drawn = at(tree, 5)
    blue = drawn.data[1]
    mine = one.world.classes == 0
    assert np.array(blue.x) == pytest.approx(one.places[5, mine, 0].numpy(), abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_what_the_scenes_of_states_say_holds_on_five_seeds(seed: int) -> None:
    plain = smoothing(seed=seed)
    assert float(plain.cosine[8]) > 0.9 and float(plain.far[32]) < 0.2
    line = torch.linalg.svdvals(plain.places[8])
    assert float(line[1]) < 0.35 * float(line[0])
    for change in ({"residual": JUMP}, {"residual": APPENDED}, {"pair": True}):
        assert float(smoothing(seed=seed, **change).far[32]) > 0.6
    added = smoothing(residual=ADDED, seed=seed)
    assert float(added.far[4]) > 1.4 * float(plain.far[4])
    tree = smoothing(TREE, seed=seed)
    assert f"{tree.rate:.3f}".lstrip("0") in room.ROOM.scenes["Second eigenvalue"].sees
    assert float(tree.alone[32]) > 5 * float(plain.alone[32])


def test_edges_left_out_change_the_graph() -> None:
    one = smoothing(drop=0.5)
    assert 40 < one.edges.shape[1] < 116 and one.rate != smoothing().rate
    pairs = {tuple(pair) for pair in one.edges.T.tolist()}
    assert pairs == {(b, a) for a, b in pairs}


@pytest.mark.parametrize("residual", room.RESIDUALS)
def test_gradients_are_differences(residual: str) -> None:
    """In a piecewise linear network a small step gives the gradient, and the states are those of `stack`."""
    one = lens.influences(TREE, FIGURE, 1, 3, GCN, residual, False, 0.0, 0)
    stack = lens.stack(TREE, FIGURE, 3, GCN, residual, False, 0.0, 0)
    (slope,) = torch.autograd.grad(stack.states[3][1].sum(), stack.x)
    far = one.away > 3
    assert not slope[far].any() and not one.gradient[3][far].any()
    torch.testing.assert_close(one.gradient.sum(1), torch.ones(4).double())
    assert one.gradient[0].tolist() == [float(n == 1) for n in range(31)]
    by_hand = [float(one.gradient[3][one.away == r].sum()) for r in range(int(one.away.max()) + 1)]
    assert one.by_gradient[3].tolist() == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_leaves_are_squashed(seed: int) -> None:
    one = lens.influences(TREE, FIGURE, 0, 8, AVERAGE, PLAIN, False, 0.0, seed)
    assert one.first.tolist() == pytest.approx([1, 2 / 3, 1 / 3, 1 / 6, 1 / 12])
    assert float(one.by_walk[4, 4]) == pytest.approx(1 / 12)
    assert abs(float(one.by_gradient[4, 4]) - 1 / 12) < 0.03
    near = lens.influences(TREE, FIGURE, 0, 4, AVERAGE, ADDED, False, 0.0, seed)
    assert float(near.by_gradient[4, 0]) > 2 * float(one.by_gradient[4, 0])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_thirty_two_layers_train_by_jumping_alone(seed: int) -> None:
    plain = training.trained(32, GCN, PLAIN, False, 0.0, seed)
    jump = training.trained(32, GCN, JUMP, False, 0.0, seed)
    assert float(plain.train.max()) < 0.8 and float(plain.gradients[0, 0]) < 1e-5
    assert float(jump.train[-1]) == 1 and float(jump.gradients[0, 0]) > 1e-3


def test_a_training_replays_and_drops_edges() -> None:
    one, two, whole = (training.trained(4, GCN, ADDED, False, p, 3) for p in (0.5, 0.5, 0.0))
    assert torch.equal(one.loss, two.loss) and not torch.equal(one.loss, whole.loss)
    assert float(one.loss[0]) == float(whole.loss[0])  # measured on the whole graph
    assert len(words.training_captions(one)) == len(words.training_equations(one)) == len(room.STEPS)


@pytest.mark.parametrize("text", ["0", "0-1", "0-1 2", "0-1 1-2 0-2"])
def test_small_graphs_of_the_reader(text: str) -> None:
    own = graphs.typed(text)
    one = lens.smoothing(OWN, own, 3, AVERAGE, PLAIN, True, 0.0, 0)
    assert one.places.isfinite().all() and one.far.isfinite().all() and one.expected.isfinite().all()
    assert lens.influences(OWN, own, 0, 2, GCN, JUMP, False, 0.0, 0).gradient.isfinite().all()


def test_numbers() -> None:
    assert [words.number(v) for v in (0.0, 0.5, 123.456, 0.0012, 45678.0)] == [
        "0", "0.5", "123", r"1.2 \cdot 10^{-3}", r"4.6 \cdot 10^{4}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given, key",
    [({"graph": OWN, "own": "0", "depth": 2}, "layer"), ({"graph": RING, "drop": 0.8, "depth": 4}, "layer"),
     ({"view": room.INFLUENCE, "graph": OWN, "own": "0-1 2", "node": 2}, "hop"),
     ({"view": room.TRAINING, "layers": 2, "drop": 0.3}, "step")],
)  # fmt: skip
def test_own_graphs(given: dict, key: str) -> None:
    assert film(open_page("graph/depth_lab", **given), key)
