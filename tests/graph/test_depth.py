"""Depth of graph networks: smoothing, squashing, their cures: closed forms and PyTorch Geometric."""

import math

import contracts
import networkx as nx
import pytest
import torch
from graphs import G4, RING, adjacency, both_ways
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, JumpingKnowledge, PairNorm
from torch_geometric.utils import dropout_edge

from modules.graph import depth, encoding
from modules.graph.convolution import propagation_matrix
from modules.graph.depth import DeepGCN


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def tree(levels: int) -> tuple[Tensor, int]:
    """Complete binary tree, node 0 the root: edge_index and N."""
    edges = [(m, (m - 1) // 2) for m in range(1, 2 ** (levels + 1) - 1)]
    return both_ways(edges), len(edges) + 1


def heard(edges: Tensor, n: int, propagation: str) -> Tensor:
    return propagation_matrix(edges, n, propagation, torch.float64).to_dense()


# --- What depth does ----------------------------------------------------------------------------------


def test_energies_are_sums_over_edges() -> None:
    a, h = adjacency(both_ways(G4), 8), draw(8, 3)
    pairs = sum(float((h[m] - h[n]).square().sum()) for m, n in G4)
    assert float(depth.dirichlet_energy(h, a)) == pytest.approx(pairs / float(h.square().sum()), abs=1e-12)
    # the specification's numbers, of h = (1 … 8) under averages with oneself
    s, h = (a + torch.eye(8)) / (a.sum(0) + 1), torch.arange(1.0, 9, dtype=torch.float64)[:, None]
    for k, wanted in {0: 0.2157, 1: 0.0801, 4: 0.0227, 8: 0.0048, 16: 0.0002}.items():
        power = torch.linalg.matrix_power(s.T, k) @ h
        assert float(depth.dirichlet_energy(power, a)) == pytest.approx(wanted, abs=5.1e-5)
    assert float(depth.dirichlet_energy(torch.zeros(8, 2), a)) == 0


def test_distance_falls_at_the_rate() -> None:
    for propagation, limit in (
        ("average", torch.ones(8)),
        ("gcn", (adjacency(both_ways(G4), 8).sum(0) + 1).sqrt()),
    ):
        s = heard(both_ways(G4), 8, propagation)
        basis, rate = depth.dominant(s)
        unit = limit.double() / limit.double().norm()
        torch.testing.assert_close(basis.abs()[:, 0], unit, rtol=0, atol=1e-12)
        assert rate == pytest.approx(0.81915, abs=1e-5)  # both have the same eigenvalues
        h = torch.linalg.matrix_power(s, 60) @ draw(8, 3)
        ratio = float(depth.distance(s @ h, basis) / depth.distance(h, basis))
        assert ratio == pytest.approx(rate, abs=1e-4)
        assert float(depth.distance(unit[:, None], basis)) == pytest.approx(0, abs=1e-12)
        assert float(depth.distance(h - unit[:, None] * (unit @ h), basis)) == pytest.approx(1, abs=1e-9)
    assert float(depth.distance(torch.zeros(8, 2).double(), basis)) == 0


def test_the_rate_is_relative() -> None:
    """The ring of N nodes under `symmetric`: 1 + cos(2πk/N)."""
    basis, rate = depth.dominant(heard(both_ways(RING), 6, "symmetric"))
    assert basis.shape == (6, 1) and rate == pytest.approx((1 + math.cos(math.pi / 3)) / 2)
    alone, rate = depth.dominant(torch.eye(3, dtype=torch.float64))
    assert alone.shape == (3, 3) and rate == 0


def test_influence_is_a_walk() -> None:
    """A linear stack: (S^K)_nm Σ|Ω_{K−1} … Ω_0|; each entry by central differences too."""
    edges, n = both_ways(G4), 8
    s, weights = heard(edges, n, "average"), [draw(3, 3, seed=k) for k in range(4)]

    def stack(x: Tensor) -> Tensor:
        for w in weights:
            x = s @ x @ w.T
        return x

    x = draw(n, 3).requires_grad_()
    got = depth.influence(stack(x)[2], x)
    whole = weights[3] @ weights[2] @ weights[1] @ weights[0]
    torch.testing.assert_close(got, torch.linalg.matrix_power(s, 4)[2] * whole.abs().sum())
    for m in range(n):
        total = 0.0
        for j in range(3):
            step = torch.zeros(n, 3, dtype=torch.float64)
            step[m, j] = 1e-5
            total += float((stack(x + step) - stack(x - step))[2].detach().abs().sum()) / 2e-5
        assert total == pytest.approx(float(got[m]), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_leaves_of_a_tree_are_squashed(r: int) -> None:
    edges, n = tree(r)
    x = draw(n, 1).requires_grad_()  # one feature
    h, s = x, heard(edges, n, "average")
    for _ in range(r):
        h = s @ h
    one, away = depth.influence(h[0], x), encoding.distances(encoding.adjacency(edges, n))[0]
    leaf, leaves = (1 / 3) * 0.25 ** (r - 1), (4 / 3) * 2.0**-r
    assert float(one[-1]) == pytest.approx(leaf, abs=1e-12)
    together = depth.by_distance(one, away)
    assert float(together[-1]) == pytest.approx(leaves, abs=1e-12) and len(together) == r + 1
    assert float(together.sum()) == pytest.approx(1)  # averages: the walk is somewhere


def test_what_cannot_be_reached_counts_nowhere() -> None:
    away = torch.tensor([0, 1, -1, 1])
    values = torch.tensor([[1.0, 2, 4, 8], [0, 1, 1, 1]])
    assert depth.by_distance(values, away).tolist() == [[1, 10], [0, 2]]
    assert depth.by_distance(values[0], away).tolist() == [1, 10]


# --- What holds against it ----------------------------------------------------------------------------


def as_pairs(edges: Tensor) -> set[tuple[int, int]]:
    return {(m, n) for m, n in edges.T.tolist()}


def test_dropped_edges_go_both_ways() -> None:
    edges = both_ways(list(nx.random_regular_graph(6, 400, seed=0).edges))
    for p in (0.2, 0.5):
        for seed in range(5):
            kept = depth.drop_edges(edges, p, torch.Generator().manual_seed(seed))
            assert as_pairs(kept) == as_pairs(kept.flip(0)) < as_pairs(edges)
            wanted, sigma = (1 - p) * 1200, (p * (1 - p) * 1200) ** 0.5
            assert abs(kept.shape[1] / 2 - wanted) < 4 * sigma
    torch.manual_seed(0)
    theirs = dropout_edge(edges, 0.5, force_undirected=True)[0]  # the same law
    assert abs(theirs.shape[1] - kept.shape[1]) / 2 < 6 * sigma
    assert torch.equal(depth.drop_edges(edges, 0), edges)
    assert as_pairs(dropout_edge(edges, 0.0, force_undirected=True)[0]) == as_pairs(edges)
    empty = torch.zeros(2, 0, dtype=torch.long)
    assert torch.equal(depth.drop_edges(empty, 0.5), empty)
    with pytest.raises(ValueError, match="at least 0 and below 1"):
        depth.drop_edges(edges, 1.0)


def test_edges_are_dropped_in_training_alone() -> None:
    edges, x = both_ways(G4), draw(8, 3)
    model = contracts.exact(DeepGCN(3, 2, [4, 4], drop_edge=0.5, dropout=0.0), scale=1.0)
    plain = contracts.exact(DeepGCN(3, 2, [4, 4], dropout=0.0), scale=1.0)
    plain.load_state_dict(model.state_dict())
    assert torch.equal(model.eval()(x, edges), plain.eval()(x, edges))
    torch.manual_seed(1)
    got = model.train()(x, edges)
    torch.manual_seed(1)
    kept = depth.drop_edges(edges, 0.5)
    torch.testing.assert_close(got, plain(x, kept))  # normalised by the degrees that are left
    assert (got - plain(x, edges)).abs().max() > 1e-3


@pytest.mark.parametrize("jump", ["none", "max", "concat"])
def test_a_mask_weighs_the_messages_of_all_layers(jump: str) -> None:
    edges, x = both_ways(G4), draw(8, 3)
    arguments = {"jump": jump, "pair_norm": 1.0, "propagation": "mean", "combine": "separate"}
    model = contracts.exact(DeepGCN(3, 2, [4, 4], drop_edge=0.5, **arguments), scale=1.0).eval()
    every = x.new_ones(edges.shape[1])
    torch.testing.assert_close(model(x, edges, every), model(x, edges))
    torch.testing.assert_close(model(x, edges, 0 * every), model(x, edges[:, :0]))  # each node by itself
    with pytest.raises(ValueError, match="call eval"):
        model.train()(x, edges, every)


def test_pair_norm() -> None:
    h = draw(7, 4) + 3
    for scale in (1.0, 2.5):
        got = depth.pair_norm(h, scale)
        torch.testing.assert_close(got, PairNorm(scale)(h))
        assert got.mean(0).abs().max() < 1e-12
        assert float(got.square().sum(1).mean()) == pytest.approx(scale**2, rel=1e-4)
    assert depth.pair_norm(torch.ones(3, 2)).tolist() == [[0, 0]] * 3


def test_jumping_knowledge() -> None:
    hs = [draw(5, 3, seed=k) for k in range(3)]
    assert torch.equal(depth.jumped(hs, "concat"), JumpingKnowledge("cat")(hs))
    assert torch.equal(depth.jumped(hs, "max"), JumpingKnowledge("max")(hs))
    assert torch.equal(depth.jumped(hs, "none"), hs[2])


@pytest.mark.parametrize("jump", ["none", "max", "concat"])
@pytest.mark.parametrize("residual", ["none", "sum", "concat"])
@pytest.mark.parametrize("scale", [0.0, 1.5])
def test_the_network_is_that_of_pytorch_geometric(jump: str, residual: str, scale: float) -> None:
    if jump == "max" and residual == "concat":
        with pytest.raises(ValueError, match="give all one width"):
            DeepGCN(3, 2, [4, 4], jump, residual=residual)
        return
    edges, x = both_ways(G4), draw(8, 3)
    arguments = {"jump": jump, "pair_norm": scale, "residual": residual}
    model = contracts.exact(DeepGCN(3, 2, [4, 4, 4], **arguments), scale=1.0).eval()
    peers = []
    for layer in model.layers:
        peer = GCNConv(layer.weight.shape[1], layer.weight.shape[0]).double()
        peer.load_state_dict({"lin.weight": layer.weight.detach(), "bias": layer.bias.detach()})
        peers.append(peer)
    norm = PairNorm(scale) if scale else nn.Identity()
    read = JumpingKnowledge("cat" if jump == "concat" else "max") if jump != "none" else lambda hs: hs[-1]
    hs = [x]
    for peer in peers[:-1]:
        h = norm(peer(hs[-1], edges)).relu()
        if residual == "concat":
            h = torch.cat([h, hs[-1]], 1)
        hs.append(h + hs[-1] if residual == "sum" and h.shape == hs[-1].shape else h)
    torch.testing.assert_close(model(x, edges), peers[-1](read(hs[1:]), edges), rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [({"hidden": [], "jump": "max"}, "no hidden layer"), ({"hidden": [3, 4], "jump": "max"}, "one width"),
     ({"jump": "sum"}, "choose one of none, max, concat"), ({"drop_edge": 1.0}, "below 1"),
     ({"pair_norm": -1.0}, "at least 0")],
)  # fmt: skip
def test_arguments_out_of_range(arguments: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        DeepGCN(3, 2, **arguments)
