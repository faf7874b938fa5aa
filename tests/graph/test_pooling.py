"""Sorted nodes and soft clusters: PyTorch Geometric, unions, other numbers, and clusters that are right."""

import contracts
import pytest
import torch
from graphs import G4, both_ways
from test_gin import random_graphs
from torch import Tensor, nn
from torch_geometric.nn import DenseSAGEConv, SortAggregation, dense_diff_pool
from torch_geometric.utils import to_dense_adj

from datamodules.graphs import Graph, union
from modules.graph.gin import GIN
from modules.graph.pooled_gcn import PooledGCN
from modules.graph.pooling import Coarse, DiffPooling, diff_pool, sort_pool

EDGES, N = both_ways(G4), 8
GENERATOR = torch.Generator().manual_seed(0)
Z = torch.randn(N, 3, dtype=torch.float64, generator=GENERATOR)
SCORES = torch.randn(N, 4, dtype=torch.float64, generator=GENERATOR)
ALONE = torch.zeros(N, dtype=torch.long)


def net(pooling: str, classes: int = 2, **settings: object) -> PooledGCN:
    return contracts.exact(
        PooledGCN(3, classes, hidden=[5, 4], pooling=pooling, kept=3, **settings), scale=0.7
    )


# --- Sorted nodes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4, 9])
def test_sorting_is_pytorch_geometrics(k: int) -> None:
    sizes = torch.tensor([3, 1, 7])
    graph = torch.arange(3).repeat_interleave(sizes)
    h = torch.randn(
        11, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True
    )
    ours, theirs = sort_pool(h, graph, 3, k), SortAggregation(k)(h, graph)
    assert torch.equal(ours, theirs)
    pull = torch.randn_like(ours)
    a, b = (torch.autograd.grad((y * pull).sum(), h)[0] for y in (ours, theirs))
    assert torch.equal(a, b)
    assert torch.equal(sort_pool(h, graph, 4, k)[3], torch.zeros(4 * k, dtype=torch.float64))  # no node


def test_ties_are_broken_by_the_feature_before() -> None:
    h = torch.tensor([[1.0, 5.0, 0.0], [2.0, 5.0, 0.0], [0.0, 6.0, 0.0], [9.0, 0.0, -1.0]])
    graph = torch.zeros(4, dtype=torch.long)
    expected = [0, 6, 0, 2, 5, 0, 1, 5, 0]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]):
        assert sort_pool(h[order], graph, 1, 3)[0].tolist() == expected


# --- Soft clusters --------------------------------------------------------------------------------------


def test_clusters_are_pytorch_geometrics() -> None:
    z, scores = Z.clone().requires_grad_(), SCORES.clone().requires_grad_()
    ours = diff_pool(z, scores, EDGES, ALONE, 1)
    x, a, link, entropy = dense_diff_pool(z, to_dense_adj(EDGES).double(), scores)
    pairs = [(ours.x, x), (ours.a, a), (ours.link[0], link), (ours.entropy[0], entropy)]
    for mine, theirs in pairs:
        assert (mine - theirs).abs().max() <= 1e-12
        pull = torch.randn_like(mine)
        for value in (scores, z) if mine is ours.x else (scores,):
            grads = [
                torch.autograd.grad((y * pull).sum(), value, retain_graph=True)[0] for y in (mine, theirs)
            ]
            assert (grads[0] - grads[1]).abs().max() <= 1e-10
    assert (ours.s.sum(1) - 1).abs().max() <= 1e-12
    assert abs(float(ours.a.detach().sum()) - EDGES.shape[1]) <= 1e-12  # every edge lies somewhere


def test_edges_may_weigh_and_a_node_has_no_edge_to_itself() -> None:
    mask = torch.rand(EDGES.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    a = to_dense_adj(EDGES, edge_attr=mask).double()
    _, coarse, link, _ = dense_diff_pool(Z, a, SCORES)
    ours = diff_pool(Z, SCORES, EDGES, ALONE, 1, mask)
    assert max((ours.a - coarse).abs().max(), (ours.link - link).abs().max()) <= 1e-12
    loops = torch.cat([EDGES, torch.tensor([[0, 3], [0, 3]])], 1)
    assert torch.equal(diff_pool(Z, SCORES, loops, ALONE, 1).a, diff_pool(Z, SCORES, EDGES, ALONE, 1).a)


def test_sure_clusters_that_are_cliques_have_no_loss_but_their_diagonal() -> None:
    """Two triangles, a cluster each: A − S Sᵀ is −1 on the diagonal, 0 elsewhere; A' counts edges twice."""
    triangles = both_ways([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    scores = torch.zeros(6, 2, dtype=torch.float64)
    scores[:3, 0], scores[3:, 1] = 200, 200
    found = diff_pool(Z[:6], scores, triangles, ALONE[:6], 1)
    assert found.a[0].flatten().tolist() == pytest.approx([6, 0, 0, 6])
    assert float(found.link) == pytest.approx(6**0.5 / 36) and float(found.entropy) == pytest.approx(0)
    even = diff_pool(Z[:6], 0 * scores, triangles, ALONE[:6], 1)
    assert float(even.entropy) == pytest.approx(0.6931471805599453) and float(even.link) > float(found.link)


def test_the_layer_on_clusters_is_pytorch_geometrics() -> None:
    pool = contracts.exact(DiffPooling(3, 3, 4), scale=0.7)
    peer = DenseSAGEConv(3, 3).double()
    peer.load_state_dict(
        {"lin_rel.weight": pool.weight, "lin_root.weight": pool.own, "lin_root.bias": pool.bias}
    )
    coarse = pool.coarse(Z, Z, EDGES, ALONE, 1)
    assert (pool(coarse) - peer(coarse.x, coarse.a).relu().mean(1)).abs().max() <= 1e-12
    few = Coarse(coarse.s, coarse.x, coarse.a / 100, coarse.link, coarse.entropy)  # weights below 1
    assert (pool(few) - peer(few.x, few.a).relu().mean(1)).abs().max() <= 1e-12


# --- In a network ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pooling", ["sort", "diff"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_union_gives_what_its_graphs_give(pooling: str, classes: int) -> None:
    graphs, model = random_graphs(), net(pooling, classes)
    batch = union(graphs)
    whole, each = model.predict(batch), torch.cat([model(g.x, g.edge_index) for g in graphs])
    assert whole.shape == (5, classes) and (whole - each).abs().max() <= 1e-12
    logits, more = model.judged(batch)
    assert (logits - whole).abs().max() <= 1e-12
    alone = [model.judged(union([g]))[1] for g in graphs]
    assert abs(float(more) - sum(map(float, alone)) / 5) <= 1e-12
    assert (float(more) > 0.01) == (pooling == "diff")
    loss = nn.functional.cross_entropy(logits, batch.y % classes) + more
    for grad in torch.autograd.grad(loss, list(model.parameters())):
        assert grad.isfinite().all() and grad.abs().max() > 0


@pytest.mark.parametrize("pooling", ["sort", "diff"])
def test_renumbered_nodes_leave_the_answer(pooling: str) -> None:
    graph, model = random_graphs()[4], net(pooling)
    order = torch.randperm(len(graph.x), generator=torch.Generator().manual_seed(1))
    other = Graph(graph.x[order], order.argsort()[graph.edge_index], 0)
    assert (model(graph.x, graph.edge_index) - model(other.x, other.edge_index)).abs().max() <= 1e-12
    ones = torch.ones(graph.edge_index.shape[1], dtype=torch.float64)
    masked = model(graph.x, graph.edge_index, edge_mask=ones)
    assert (masked - model(graph.x, graph.edge_index)).abs().max() <= 1e-12


def losses(model: PooledGCN) -> Tensor:
    return torch.as_tensor(model.judged(union(random_graphs()))[1])


def test_each_loss_has_its_weight_and_nodes_alike_share_their_clusters() -> None:
    link, entropy = losses(net("diff", link=1.0, entropy=0.0)), losses(net("diff", link=0.0, entropy=1.0))
    both = losses(net("diff", link=2.0, entropy=0.5))
    assert abs(float(both - 2 * link - 0.5 * entropy)) <= 1e-12
    ring = Graph(torch.ones(6, 3, dtype=torch.float64), both_ways([(i, (i + 1) % 6) for i in range(6)]), 0)
    s = net("diff").clusters(ring.x, ring.edge_index, torch.zeros(6, dtype=torch.long), 1).s
    assert (s - s[0]).abs().max() <= 1e-12


def test_wrong_arguments_are_one_sentence() -> None:
    with pytest.raises(ValueError, match="pooling is 'sort': choose one of mean, sum, max"):
        GIN(3, 2, pooling="sort")
    with pytest.raises(ValueError, match="pooling is 'top'"):
        PooledGCN(3, 2, pooling="top")
    for name in ("link", "entropy"):
        with pytest.raises(ValueError, match=f"{name} is -1"):
            PooledGCN(3, 2, pooling="diff", **{name: -1})
    with pytest.raises(ValueError, match="kept is 0"):
        PooledGCN(3, 2, pooling="sort", kept=0)
