"""The page of samples and parts: trees by powers of the matrix, the figure's parts, noise by single draws."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from graphs import G10, G11_PARTS, both_ways
from opening import film, open_page

from lab.errors import UserError
from lab.figures import networks
from lab.figures.moving import at
from lab.lenses import graphs
from lab.seeding import seeded
from modules.graph.gcn import GCN
from pages.graph.sampling import figures, lens, room, soft, words
from pages.graph.sampling.room import COUNTS, METHODS, PAIRS, RANDOM, SINGLE, SPECTRAL, SWAPS

TEN, ELEVEN = graphs.typed(room.FIGURE_13_10), graphs.typed(room.FIGURE_13_11)


def test_the_graphs_are_those_of_the_figures() -> None:
    assert {tuple(e) for e in TEN.nonzero().tolist()} == {tuple(e) for e in both_ways(G10).T.tolist()}
    assert lens.last_node(TEN) == 22


def test_a_full_tree_has_all_that_powers_reach() -> None:
    two = lens.trees(TEN, 16, 4, 3, 0)
    assert [len(v) for v in two.full.levels] == [1, 7, 18, 21, 23]
    step = (TEN + torch.eye(23, dtype=torch.long)).bool()
    for k, nodes in enumerate(two.full.levels):
        reached = torch.linalg.matrix_power(step.double(), k)[16] > 0
        assert torch.equal(nodes.sort().values, reached.nonzero()[:, 0])
    for k, edges in enumerate(two.full.edges):
        mine = two.full.levels[k]
        assert edges.shape[1] == int(TEN[mine].sum()) and bool(TEN[edges[0], edges[1]].all())


@pytest.mark.parametrize("seed", range(5))
def test_a_sampled_tree_is_bounded_and_drawn_again(seed: int) -> None:
    one = lens.trees(TEN, 16, 2, 3, seed)
    assert 8 <= len(one.sampled.levels[2]) <= 12 and len(one.full.levels[2]) == 18
    for k, (edges, level) in enumerate(zip(one.sampled.edges, one.sampled.levels, strict=False)):
        counts = edges[1].bincount(minlength=23)[level]
        assert torch.equal(counts, TEN[level].sum(1).clamp(max=3))
        assert set(edges[0].tolist()) <= set(one.sampled.levels[k + 1].tolist())
        assert len(level) <= 4**k
    other = lens.trees(TEN, 16, 2, 3, seed + 1)
    assert one.sampled.edges[1].tolist() != other.sampled.edges[1].tolist()
    thin = lens.trees(TEN, 16, 4, 1, seed)
    assert len(thin.sampled.levels[-1]) <= 12


def test_parts_are_those_of_the_figure() -> None:
    drawn = torch.zeros(23, dtype=torch.long)
    for number, part in enumerate(G11_PARTS):
        drawn[torch.tensor(part).unique()] = number
    one = lens.divided(ELEVEN, "4", SPECTRAL, PAIRS, 0)
    assert torch.equal(one.parts, drawn) and one.cut == 7
    assert one.between.tolist() == [[16, 1, 2, 0], [1, 20, 1, 2], [2, 1, 14, 1], [0, 2, 1, 18]]
    assert [words.inside(one, (k,)) for k in range(4)] == [8, 10, 7, 9]
    assert one.batches == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [words.inside(one, b) for b in one.batches] == [19, 17, 17, 18, 21, 17]
    assert one.expected == pytest.approx(31.9, abs=0.05)
    swaps = lens.divided(ELEVEN, "4", SWAPS, SINGLE, 0)
    assert swaps.cut == 8 and len(swaps.batches) == 4
    cuts = [lens.divided(ELEVEN, "4", RANDOM, SINGLE, seed) for seed in range(100)]
    assert sum(one.cut for one in cuts) / 100 == pytest.approx(cuts[0].expected, abs=1)
    assert min(one.cut for one in cuts) > 3 * swaps.cut


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_as_many_parts(method: str) -> None:
    for count in COUNTS:
        one = lens.divided(ELEVEN, count, method, SINGLE, 1)
        assert one.parts.unique().tolist() == list(range(int(count)))
        assert int(one.between.sum()) == one.edges.shape[1] == 82
        assert str(one.cut) in words.part_equation(one)


def test_graphs_that_cannot_be_parted_are_refused() -> None:
    with pytest.raises(UserError, match="3 nodes are too few for 4 parts"):
        lens.divided(graphs.typed("0-1 1-2"), "4", SWAPS, SINGLE, 0)
    with pytest.raises(UserError, match="connected"):
        lens.divided(graphs.typed("0-1 2-3 4"), "2", SPECTRAL, SINGLE, 0)


def test_noise_is_that_of_single_draws() -> None:
    """Gradients by the family's own network on all edges; fewer neighbours are noisier, all have no noise."""
    edges, generator = TEN.nonzero().T, torch.Generator().manual_seed(0)
    model = seeded(partial(GCN, 23, 2, [8], propagation="mean", dropout=0.0), 0)
    y = torch.randint(2, (23,), generator=generator)
    loss = F.cross_entropy(model(torch.eye(23), edges), y)
    (gradient,) = torch.autograd.grad(loss, model.layers[0].weight)  # type: ignore[arg-type]
    s = lens.sampled_matrices(edges, 23, 4, None, generator).reshape(2, 2, 23, 23)
    for mine in lens.gradients(s, y, model):
        torch.testing.assert_close(mine, gradient.flatten(), rtol=0, atol=1e-6)
    drawn = lens.sampled_matrices(edges, 23, 5, 2, generator)
    assert bool(((drawn > 0).sum(2) == TEN.sum(1).clamp(max=2) + 1).all())
    torch.testing.assert_close(drawn.sum(2), torch.full((5, 23), 2.0))
    assert len({tuple(one.flatten().tolist()) for one in drawn}) == 5
    for seed in range(3):
        one = lens.noise(TEN, seed)
        assert bool((one.deviation.diff() < 0).all()) and float(one.deviation[0]) > 2 * float(
            one.deviation[2]
        )
    ring = lens.noise(graphs.typed("0-1 1-2 0-2"), 0)
    assert float(ring.deviation[0]) > 0.05 and ring.deviation[1:].max() < 1e-5 > float(ring.bias[1:].max())


def test_the_deviations_of_cora_are_those_of_the_bench() -> None:
    found = lens.on_cora()
    assert found[:, 0].tolist() == [1, 2, 5, 10]
    assert found[:, 1].tolist() == pytest.approx([1.12, 0.60, 0.22, 0.12], abs=0.005)


def test_figures_show_what_is_needed_and_kept() -> None:
    two = lens.trees(TEN, 16, 2, 3, 0)
    first, last = (at(figures.tree(two.full, 23), k) for k in (0, 2))
    shown = [sum(len(t.x) for t in fig.data if t.text is not None and t.opacity) for fig in (first, last)]
    assert shown == [1, 1 + 7 + 18]
    one = lens.divided(ELEVEN, "4", SPECTRAL, PAIRS, 0)
    tree = figures.batches(one, networks.layout(one.edges, 23))
    for k, chosen in enumerate(one.batches):
        fig = at(tree, k)
        assert int(torch.tensor(fig.data[0].x).isnan().logical_not().sum()) == 2 * words.inside(one, chosen)
        lit = [t.opacity == 1 for t in fig.data if t.customdata is not None]
        assert lit == [p in chosen for p in range(4)]
    assert "9 nodes" not in words.part_captions(one)[0] and "19 edges" in words.part_captions(one)[0]


@pytest.mark.parametrize("given, key", [
    ({"own": "0", "hops": 3}, "hop"), ({"view": room.PARTS, "count": "8", "batch": PAIRS}, "turn"),
])  # fmt: skip
def test_pages_of_other_graphs_open(given: dict, key: str) -> None:
    assert film(open_page("graph/sampling", **given), key)


@pytest.mark.parametrize("seed", range(3))
def test_soft_parts_become_those_of_the_figure(seed: int) -> None:
    one, truth = soft.softened(ELEVEN, "4", 0.1, seed), torch.zeros(23, dtype=torch.long)
    for number, part in enumerate(G11_PARTS):
        truth[torch.tensor(part).flatten()] = number
    parts = one.s[-1].argmax(1)
    assert one.cut[-1] == 7 and one.s.shape == (len(room.STEPS), 23, 4)
    assert torch.equal(parts[:, None] == parts, truth[:, None] == truth)
    a, s = ELEVEN.float(), one.s[2]
    assert (s.T @ a @ s - one.between[2]).abs().max() <= 1e-5
    assert float((a - s @ s.T).norm() / 23) == pytest.approx(float(one.link[2]), abs=1e-5)
    assert float(-(s * s.log()).sum(1).mean()) == pytest.approx(float(one.entropy[2]), abs=1e-5)
    assert one.entropy[-1] < one.entropy[0] / 2 and one.link[-1] < one.link[0]
    assert "7 edges are cut" in words.soft_captions(one)[-1]


def test_a_heavy_entropy_decides_too_early() -> None:
    for seed in range(3):
        assert soft.softened(ELEVEN, "4", 1.0, seed).cut[-1] > 7


def test_colours_mix_and_weights_are_written() -> None:
    one = soft.softened(ELEVEN, "2", 0.1, 0)
    tree = figures.mixed(one, networks.layout(one.edges, 23))
    (nodes,) = (trace for trace in tree["data"] if trace.get("customdata") is not None)
    (drawn,) = (trace for trace in at(tree, 0).data if trace.customdata is not None)
    assert len(nodes["marker"]["color"].values) == len(room.STEPS) and len(drawn.marker.color) == 23
    written = at(figures.pooled(one), 20).data[1].text
    assert [float(v) for v in written] == pytest.approx(one.between[20].flatten().tolist(), abs=0.06)
