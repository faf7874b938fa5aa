"""The page Attention on graphs: weights by a peer and by hand, rankings, own graphs, scenes."""

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import G4, G11, adjacency, both_ways
from opening import failures, film, open_page, run_page
from torch import Tensor
from torch_geometric.nn import GATConv, GATv2Conv

from lab import experiments, weights
from lab.errors import UserError
from lab.figures.moving import at
from lab.lenses import graphs
from modules.graph.gat import GAT
from pages.graph.attention import figures, lens, room, words
from pages.graph.attention.room import ALL, NEIGHBOURS, ROOM

A = graphs.typed(graphs.FIGURE_13_4)


def softmax(scores: Tensor, heard: Tensor) -> Tensor:
    """Column by column, by its definition."""
    powers = scores.exp() * heard
    return powers / powers.sum(0)


def test_typed_graphs() -> None:
    assert torch.equal(A.double(), adjacency(both_ways(G4), 8))
    assert torch.equal(graphs.typed(graphs.FIGURE_13_11).double(), adjacency(both_ways(G11), 23))
    assert graphs.typed("0-1, 1-0; 3").tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]
    assert graphs.typed("0").tolist() == [[0]]
    for text in graphs.examples().values():
        assert nx.is_connected(nx.from_numpy_array(graphs.typed(text).numpy()))


@pytest.mark.parametrize(
    "text, sentence",
    [("", "empty"), ("0-1 x", "“x” is no edge"), ("2-2", "to itself"), ("0-24", "no node 24"),
     ("0-99999999999999999999", "no node 999999999"), ("0--1", "is no edge"), ("1.5-2", "is no edge")],
)  # fmt: skip
def test_a_bad_graph_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        graphs.typed(text)
    page = run_page("graph/attention", a=text or " ")
    assert not page.exception


@pytest.mark.parametrize("over", [NEIGHBOURS, ALL])
@pytest.mark.parametrize("mode", [room.GAT, room.GATV2])
@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_weights_are_those_of_a_peer(mode: str, over: str, slope: float) -> None:
    """PyTorch Geometric's layers, in whose features a 1 carries the bias."""
    one = lens.weighed(mode, over, slope, A, 3)
    layer, x = lens.layer_of(lens.SCORES[mode], slope, 8, 3)
    edges = both_ways(G4) if over == NEIGHBOURS else (1 - torch.eye(8)).nonzero().T
    one_x = torch.cat([x, torch.ones(8, 1).double()], 1)
    omega = torch.cat([layer.weight, layer.bias[:, None]], 1)
    kind = GATConv if mode == room.GAT else GATv2Conv
    peer = kind(5, 4, 4, negative_slope=slope, bias=False).double()
    with torch.no_grad():
        if mode == room.GAT:
            peer.lin.weight.copy_(omega)
            peer.att_src.copy_(layer.sender[None])
            peer.att_dst.copy_(layer.receiver[None])
        else:
            peer.lin_l.weight.copy_(omega)
            peer.lin_r.weight.copy_(torch.cat([layer.own, torch.zeros(16, 1).double()], 1))
            peer.att.copy_(layer.sender[None])
        _, (used, alpha) = peer(one_x, edges, return_attention_weights=True)
    wanted = torch.zeros(4, 8, 8).double()
    wanted[:, used[0], used[1]] = alpha.T
    torch.testing.assert_close(one.alpha, wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(one.alpha.sum(1), torch.ones(4, 8).double())
    rebuilt = torch.stack([softmax(s.masked_fill(~one.heard, 0), one.heard) for s in one.scores])
    torch.testing.assert_close(rebuilt, one.alpha)
    if one.terms is not None:
        added = one.terms[0, :, :, None] + one.terms[1, :, None]
        scores = torch.where(added > 0, added, slope * added)
        torch.testing.assert_close(scores[:, one.heard], one.scores[:, one.heard])


def test_a_gcn_weighs_by_degrees_alone() -> None:
    one, other = (lens.weighed(room.GCN, NEIGHBOURS, 0.2, A, seed) for seed in (1, 2))
    d = A.sum(0) + 1.0
    wanted = (A + torch.eye(8)) / (d[:, None] * d).sqrt()
    torch.testing.assert_close(one.alpha[0], wanted.double(), rtol=0, atol=1e-7)
    assert torch.equal(one.alpha, other.alpha) and not torch.equal(one.values, other.values)


def test_the_notebooks_node_has_dead_scores() -> None:
    """[UDL]'s notebook, seed 1: a ReLU clips all six scores of node 4, a slope keeps them apart."""
    one = lens.weighed(room.GAT, NEIGHBOURS, 0.0, A, 1)
    column = one.alpha[0, :, 4][one.heard[:, 4]]
    assert len(column) == 6 and torch.allclose(column, torch.full((6,), 1 / 6).double())
    draw = np.random.RandomState(1).normal
    x, omega, beta, phi = (draw(size=size) for size in ((4, 8), (4, 4), (4, 1), (8, 1)))
    h = beta + omega @ x
    assert np.maximum(phi[:4].T @ h + phi[4:].T @ h[:, 4:5], 0)[0, [1, 2, 3, 4, 5, 7]].max() == 0
    assert "nodes 2, 4, 6 are 0" in words.about(one, 0)
    assert "are 0" not in words.about(lens.weighed(room.GAT, NEIGHBOURS, 0.2, A, 1), 0)


@pytest.mark.parametrize("seed", range(6))
def test_static_and_dynamic_rankings(seed: int) -> None:
    static = lens.weighed(room.GAT, ALL, 0.2, A, seed)
    dynamic = lens.weighed(room.GATV2, ALL, 0.2, A, seed)
    for head in range(lens.HEADS):
        assert lens.disagreeing(static.scores[head]) == (0, 28)
        assert (lens.ranks(static.scores[head]) == lens.ranks(static.scores[head])[:, :1]).all()
    assert max(lens.disagreeing(s)[0] for s in dynamic.scores) > 0
    linear = lens.weighed(room.GAT, ALL, 0.9, A, seed)  # nearly the identity
    assert (linear.alpha.std(2) < static.alpha.std(2).max() + 1).all()


def test_ranks_by_sorting() -> None:
    for mode in (room.GAT, room.GATV2, room.DOT, room.SELF):
        scores = lens.weighed(mode, NEIGHBOURS, 0.2, A, 5).scores[0]
        ranks = lens.ranks(scores)
        for n in range(8):
            kept = [(-float(s), m) for m, s in enumerate(scores[:, n]) if s > -torch.inf]
            assert [int(ranks[m, n]) for _, m in sorted(kept)] == list(range(1, len(kept) + 1))
            assert int((ranks[:, n] > 0).sum()) == len(kept)
    apart = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    assert lens.disagreeing(apart) == (1, 1) and lens.disagreeing(apart[:, :1].expand(2, 2)) == (0, 1)
    assert lens.disagreeing(torch.tensor([[1.0, 2.0], [1.0, 1.0]])) == (0, 1)  # a tie is no other order


def test_self_attention_is_the_transformers() -> None:
    one = lens.weighed(room.SELF, NEIGHBOURS, 0.2, A, 1)
    layer, x = lens.layer_of("dot", 0.2, 8, 1)
    for head in range(lens.HEADS):
        rows = slice(4 * head, 4 * head + 4)
        q, k = x @ layer.query[rows].T, x @ layer.key[rows].T
        torch.testing.assert_close(one.alpha[head].T, (q @ k.T / 2).softmax(1))
    assert one.heard.all()


@pytest.fixture(scope="module")
def shipped() -> tuple[GAT, dict]:
    experiment = experiments.find("gat-karate")
    return weights.load(experiment.weights), experiment.card  # type: ignore[return-value]


def test_weights_of_the_trained_network_give_its_logits(shipped: tuple[GAT, dict]) -> None:
    model, card = shipped
    data = graphs.world(card).data
    one, classes = lens.ran(model, card, "1", "")
    hidden = torch.einsum("hmn,hmd->nhd", one.alpha, one.values).flatten(1)
    two, _ = lens.ran(model, card, "2", "")
    h = torch.nn.functional.elu(hidden)
    torch.testing.assert_close(h @ model.layers[1].weight.T + model.layers[1].bias, two.values[0])
    logits = torch.einsum("mn,md->nd", two.alpha[0], two.values[0])
    torch.testing.assert_close(logits, model(data.x, data.edge_index).detach())
    assert torch.equal(classes, logits.argmax(1))
    assert (classes == data.y)[data.test_mask].float().mean() >= 0.85
    assert not model.layers[0].recording  # on a copy
    cut, _ = lens.ran(model, card, "1", "-0-8")
    assert float(one.alpha[0, 0, 8]) > 0 == float(cut.alpha[0, 0, 8])
    assert spelled(one.alpha[0, 30, 8]) == ".32" and spelled(one.alpha[0, 0, 8]) == ".06"
    assert classes[8] == classes[30] != classes[0]


def spelled(value: Tensor) -> str:
    return words.spell(value)


def test_numbers_of_the_lines_and_equations() -> None:
    one = lens.weighed(room.GAT, NEIGHBOURS, 0.2, A, 1)
    caption, equation = words.captions(one, 0)[4], words.equations(one, 0)[4]
    assert caption.startswith("Node 4 hears 6 nodes, node 2 most; weights sum to 1.00.")
    total = float(one.alpha[0, :, 4] @ one.values[0, :, 0])
    assert caption.endswith(f"= {words.spell(total)}.")
    assert f"{float(one.alpha[0, 2, 4]):.3f}" in equation
    alone = lens.weighed(room.GAT, NEIGHBOURS, 0.2, graphs.typed("0"), 1)
    assert words.captions(alone, 0)[0].startswith("Node 0 hears itself alone")
    assert float(alone.alpha[0, 0, 0]) == 1


def test_the_picture_has_the_weights_of_its_frame() -> None:
    one = lens.weighed(room.GAT, NEIGHBOURS, 0.2, A, 1)
    p = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))
    tree = figures.edges(p, one.a, one.alpha[0], one.heard)
    for n in range(8):
        fig = at(tree, n)
        lines = [line for line in fig.data if line.name == "weight"]
        degree = int(A[n].sum())
        assert len(lines) == 5 and sum(line.line.width > 0 for line in lines) == degree
        drawn = sorted(round((line.line.width - 2) / 14, 6) for line in lines if line.line.width)
        wanted = sorted(round(float(v), 6) for m, v in enumerate(one.alpha[0, :, n]) if A[m, n])
        assert drawn == pytest.approx(wanted, abs=1e-5)
        texts = [t for t in fig.data[-1].text if t]
        assert len(texts) == degree + 1 and texts[-1] == words.spell(float(one.alpha[0, n, n]))
    star = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]).numpy()
    assert figures.gap(star[1:] - star[0]) == pytest.approx([0, -1], abs=1e-6)
    assert figures.gap(star[:0]) == pytest.approx([0, 1])
    columns = figures.columns(one.alpha[0], lens.ranks(one.scores[0]))
    assert columns["data"][0]["text"][2][4] == "1" and columns["data"][0]["text"][0][4] == ""


def test_the_dynamic_scene_counts_right() -> None:
    state = ROOM.scenes["Dynamic ranking"].state
    one = lens.weighed(state.mode, state.over, state.slope, A, state.seed)
    assert "24 of 28" in ROOM.scenes["Dynamic ranking"].sees and lens.disagreeing(one.scores[0]) == (24, 28)


@pytest.mark.parametrize(
    "given",
    [{"a": "0-1", "node": 0}, {"a": "3"}, {"a": graphs.FIGURE_13_11, "node": 22}, {"mode": room.GCN},
     {"mode": room.SELF, "head": 3}, {"view": room.TRAINED, "layer": "2", "node": 33},
     {"view": room.TRAINED, "edits": "-0-11", "node": 11}],
)  # fmt: skip
def test_own_graphs_and_edits(given: dict) -> None:
    page = open_page("graph/attention", **given)
    assert not failures(page) and film(page, "node")
