"""Graphs that are made: GraphRNN as a density of rows and of graphs, VGAE's bound, families, statistics."""

from itertools import combinations

import contracts
import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import wasserstein_distance
from torch import Tensor
from torch_geometric.nn import VGAE as PygVGAE
from torch_geometric.nn import GCNConv

from datamodules.graph_families import GRIDS, KINDS, GraphFamilies, breadth_first
from datamodules.graph_families import rows as family_rows
from datamodules.links import CommunityLinks
from modules.graph import graph_statistics as statistics
from modules.graph.graph_rnn import GraphRNN, adjacency_of, rows_of
from modules.graph.vgae import VGAE


def matrix(graph: nx.Graph) -> Tensor:
    return torch.tensor(nx.to_numpy_array(graph))


def graph_rnn(shape: tuple[int, int], entries: int) -> GraphRNN:
    torch.manual_seed(0)
    return contracts.exact(GraphRNN(shape, hidden=4, layers=2, entries=entries), scale=1.0)


@pytest.mark.parametrize("entries", [0, 3])
def test_rows_are_a_density_that_sampling_follows(entries: int) -> None:
    for shape in ((3, 3), (3, 1), (1, 1), (4, 2)):
        contracts.density_sums_to_one(graph_rnn(shape, entries).log_prob, shape)
    model = graph_rnn((3, 2), entries)
    drawn = model.sample(20_000, generator=contracts.seeded())
    contracts.samples_follow_the_density(drawn, model.log_prob)
    contracts.reproducible(lambda seed: model.sample(50, generator=contracts.seeded(seed)))
    contracts.trace_replays(lambda seed: model.sample_trace(generator=contracts.seeded(seed)))
    contracts.every_parameter_gets_a_gradient(model, lambda: -model.log_prob(drawn[:50]).mean())


@pytest.mark.parametrize("entries", [0, 3])
def test_graphs_of_all_orders_sum_to_one(entries: int) -> None:
    """Σ p(G) over all connected graphs of at most five nodes, one for each class, is 1."""
    model = graph_rnn((4, 4), entries)
    connected = [g for g in nx.graph_atlas_g() if 1 <= len(g) <= 5 and nx.is_connected(g)]
    assert len(connected) == 1 + 1 + 2 + 6 + 21
    with torch.no_grad():
        total = sum(float(model.graph_log_prob(matrix(g)).exp()) for g in connected)
        apart = matrix(nx.Graph([(0, 1), (2, 3)]))
        assert abs(total - 1) < 1e-12 and model.graph_log_prob(apart) == -torch.inf
        loose = torch.zeros(3, 3).index_put((torch.tensor([0, 1]), torch.tensor([1, 0])), torch.tensor(1.0))
        assert model.graph_log_prob(loose) == -torch.inf  # a node alone is never made
        narrow = graph_rnn((3, 1), entries)  # each node is joined to the last: paths alone
        paths = sum(float(narrow.graph_log_prob(matrix(nx.path_graph(n))).exp()) for n in range(1, 5))
        assert abs(paths - 1) < 1e-12
        assert narrow.graph_log_prob(matrix(nx.cycle_graph(3))) == -torch.inf
        assert narrow.graph_log_prob(matrix(nx.path_graph(5))) == -torch.inf
    with pytest.raises(ValueError, match="8! orders: give at most 7"):
        model.graph_log_prob(torch.zeros(8, 8))


@pytest.mark.parametrize("entries", [0, 3])
def test_conditionals_of_the_sampler_are_those_of_training(entries: int) -> None:
    model = contracts.exact(GraphRNN((6, 4), hidden=4, entries=entries))
    x, p = model._drawn(40, 1.0, contracts.seeded(1), None)
    with torch.no_grad():
        q = model.logits(x).sigmoid()
    alive = torch.cat([torch.ones(40, 1), x.any(2)[:, :-1].cumprod(1)], 1).bool()
    counted = model.valid & alive[..., None]
    assert int((~alive).sum()) > 0 and not p[~counted].any() and not x[~counted].any()
    torch.testing.assert_close(p[counted], q[counted], rtol=0, atol=1e-12)
    trace = model.sample_trace(generator=contracts.seeded(1))
    rows = torch.zeros(1, 6, 4, dtype=torch.float64)
    for i, step in enumerate(trace):
        rows[0, i] = step.values["row"]
    assert abs(float(model.log_prob(rows)) - trace[len(trace) - 1].values["log_p"]) < 1e-10
    assert torch.equal(trace.result, adjacency_of(rows[0]))


def test_rows_that_are_given_stay_and_impossible_ones_are_refused() -> None:
    model = graph_rnn((5, 3), 3)
    given = torch.tensor([[1.0, 0, 0], [0, 1, 0], [1, 0, 1]])
    drawn = model.sample(200, generator=contracts.seeded(), given=given)
    assert bool((drawn[:, :3] == given).all()) and len(drawn[:, 3:].unique(dim=0)) > 3
    greedy = model.sample(3, temperature=0, generator=contracts.seeded())
    assert torch.equal(greedy[0], greedy[1])
    for wrong in ([[0.0, 1, 0]], [[1.0, 0, 0], [0, 0, 0]], [[1.0, 0]], [[1.0, 0, 0]] * 6):
        with pytest.raises(ValueError, match=r"given: rows \(R, 3\), R ≤ 5"):
            model.sample(1, given=torch.tensor(wrong))
    with pytest.raises(ValueError, match="temperature is -1"):
        model.sample(1, temperature=-1)
    with pytest.raises(ValueError, match=r"rows are \(2, 3\) per graph: this model has \(5, 3\)"):
        model.log_prob(torch.zeros(1, 2, 3).double())
    with pytest.raises(ValueError, match="give the number of rows and their width"):
        GraphRNN((1, 28, 28))


def test_it_learns_one_grid() -> None:
    """Rows of one order of one graph become certain."""
    a = KINDS["grids"](contracts.seeded(3))
    batch = (family_rows(a, breadth_first(a, torch.arange(len(a)))).expand(4, -1, -1),)
    torch.manual_seed(0)
    contracts.overfits_one_batch(GraphRNN((19, 19), hidden=16), batch, below=0.2, floor=0.0, steps=200)


# --- Families ---------------------------------------------------------------------------------------


def test_families_are_what_they_are_called() -> None:
    for family, graphs in {name: GraphFamilies(name).graphs("train") for name in KINDS}.items():  # type: ignore[arg-type]
        assert len(graphs) == 200 and max(map(len, graphs)) <= 20
        for a in graphs[:40]:
            net = nx.from_numpy_array(a.int().numpy())
            assert nx.is_connected(net) and torch.equal(a, a.T) and not a.diagonal().any()
            if family == "trees":
                assert nx.is_tree(net)
            if family == "grids":
                sizes = [s for s in GRIDS if s[0] * s[1] == len(a)]
                assert any(nx.is_isomorphic(net, nx.grid_2d_graph(*size)) for size in sizes)
            if family == "communities":
                assert 10 <= len(net) <= 20
                assert nx.stoer_wagner(net)[0] <= 3
    assert len(GRIDS) == 15


def test_orders_are_breadth_first_and_drawn_anew() -> None:
    data = GraphFamilies("trees", num_train=20, num_val=5, num_test=5)
    data.setup()
    split = data.train_set
    first = split[torch.arange(20)][0]
    for a, x in zip(split.graphs, first, strict=True):  # type: ignore[attr-defined]
        b = adjacency_of(x)
        assert torch.equal(rows_of(b, 19), x[: len(b) - 1]) and not x[len(b) - 1 :].any()
        one, other = (nx.from_numpy_array(m.int().numpy()) for m in (a, b))
        assert nx.is_isomorphic(one, other)
        depth = nx.single_source_shortest_path_length(other, 0)
        assert all(depth[n] <= depth[n + 1] for n in range(len(b) - 1))
        parents = [
            max(n - int(j) - 1 for j in row.nonzero()[:, 0]) for n, row in enumerate(x[: len(b) - 1], 1)
        ]
        assert parents == sorted(parents)  # children of earlier nodes come first
    split.set_epoch(1)  # type: ignore[attr-defined]
    second = split[torch.arange(20)][0]
    assert not torch.equal(first, second) and torch.equal(first.sum((1, 2)), second.sum((1, 2)))
    split.set_epoch(0)  # type: ignore[attr-defined]
    assert torch.equal(split[torch.arange(20)][0], first)
    with pytest.raises(ValueError, match="family is 'rings': choose one of communities, grids, trees"):
        GraphFamilies("rings")  # type: ignore[arg-type]


# --- Statistics -------------------------------------------------------------------------------------


def test_statistics_are_those_of_networkx_and_of_counting() -> None:
    generator = contracts.seeded()
    small = [g for g in nx.graph_atlas_g() if len(g) == 4 and nx.is_connected(g)]
    for N in (1, 3, 6, 8):
        graph = nx.gnp_random_graph(N, 0.5, seed=N)
        a = matrix(graph)
        torch.testing.assert_close(
            statistics.clustering(a), torch.tensor(list(nx.clustering(graph).values())).double()
        )
        wanted = {n: [0] * len(small) for n in graph}
        for four in combinations(graph, 4):
            kind = [i for i, g in enumerate(small) if nx.is_isomorphic(g, graph.subgraph(four))]
            for n in four if kind else ():
                wanted[n][kind[0]] += 1
        by_kind = statistics.orbit_counts(a)
        groups = [by_kind[:, columns].sum(1) for columns in ([0, 1], [2, 3], [4], [5, 6, 7], [8, 9], [10])]
        assert sorted(map(tuple, torch.stack(groups).tolist())) == sorted(zip(*wanted.values(), strict=True))
    # of a paw by hand: the leaf, the two of the triangle, and the node between
    paw = statistics.orbit_counts(matrix(nx.Graph([(0, 1), (1, 2), (2, 3), (1, 3)])))
    star = statistics.orbit_counts(matrix(nx.star_graph(3)))
    assert star.nonzero().tolist() == [[0, 3], [1, 2], [2, 2], [3, 2]]
    assert paw.nonzero().tolist() == [[0, 5], [1, 7], [2, 6], [3, 6]]
    one, other = (statistics.erdos_renyi([matrix(nx.path_graph(9))] * 3, generator) for _ in range(2))
    p, q = (statistics.described(graphs, "degrees", 9) for graphs in (one, other))
    places = np.arange(9)
    wanted_distance = [[wasserstein_distance(places, places, u, v) for v in q.numpy()] for u in p.numpy()]
    found = statistics.distances(p, q, "degrees")
    torch.testing.assert_close(found, torch.tensor(wanted_distance))


def test_mmd_tells_families_apart_and_a_family_not_from_itself() -> None:
    grids, trees = (GraphFamilies(name, num_train=60).graphs("train") for name in ("grids", "trees"))  # type: ignore[arg-type]
    near, far = statistics.all_mmds(trees[:30], trees[30:]), statistics.all_mmds(trees[:30], grids[:30])
    same = statistics.all_mmds(trees[:30], trees[:30])
    assert all(abs(v) < 1e-12 for v in same.values())
    assert far["degrees"] > 5 * near["degrees"] and far["orbits"] > 5 * near["orbits"]
    assert abs(far["clustering"]) < 1e-12  # neither has triangles
    with pytest.raises(ValueError, match="statistic is 'colours'"):
        statistics.mmd(trees, grids, "colours")  # type: ignore[arg-type]


def test_classes_are_of_isomorphic_graphs() -> None:
    a = matrix(nx.path_graph(4))
    order = torch.tensor([2, 0, 3, 1])
    classes = statistics.Classes([a, a[order][:, order]])
    assert len(classes) == 1 and a[order][:, order] in classes
    assert matrix(nx.star_graph(3)) not in classes and classes.add(matrix(nx.star_graph(3)))
    # colour refinement cannot tell these apart
    ring, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    assert len(statistics.Classes([matrix(ring), matrix(triangles)])) == 2
    share = [
        float(b.sum()) for b in statistics.erdos_renyi([matrix(nx.path_graph(20))] * 300, contracts.seeded())
    ]
    assert abs(sum(share) / 300 / 38 - 1) < 0.1


# --- VGAE -------------------------------------------------------------------------------------------


def test_vgae_is_pytorch_geometrics_posterior_and_divergence() -> None:
    torch.manual_seed(0)
    data = CommunityLinks()
    data.setup()
    batch = data.test_set[torch.arange(1)]
    model = contracts.exact(VGAE(32, hidden=[6], dim=3))
    first, mean, log_sd = GCNConv(32, 6).double(), GCNConv(6, 3).double(), GCNConv(6, 3).double()
    for ours, theirs in zip((*model.layers, model.log_var), (first, mean, log_sd), strict=True):
        theirs.lin.weight.data.copy_(ours.weight)
        theirs.bias.data.copy_(ours.bias)
    x = batch.x.double()
    h = first(x, batch.edge_index).relu()
    mu, log_var = model.posterior(x, batch.edge_index)
    torch.testing.assert_close(mu, mean(h, batch.edge_index))
    torch.testing.assert_close(log_var, log_sd(h, batch.edge_index))
    torch.testing.assert_close(model(x, batch.edge_index), mu)
    _, kl = model.elbo(batch.edge_index, mu, mu, log_var)
    theirs = PygVGAE(torch.nn.Identity()).kl_loss(mu, log_var / 2) * 120
    assert abs(float(kl) * 7140 - float(theirs)) < 1e-8


def test_vgae_bounds_the_probability_of_a_small_graph() -> None:
    """−ELBO over many draws against log p(A) by quadrature; the KL against draws from the posterior."""
    torch.manual_seed(0)
    model = contracts.exact(VGAE(2, hidden=[], dim=1))
    edge_index = torch.tensor([[0, 1], [1, 0]])
    mean, log_var = (v.detach() for v in model.posterior(torch.eye(2).double(), edge_index))
    noise = torch.randn(20_000, 2, 1, generator=contracts.seeded(), dtype=torch.float64)
    z = mean + (log_var / 2).exp() * noise
    q = torch.distributions.Normal(mean, (log_var / 2).exp())
    ratios = (q.log_prob(z) - torch.distributions.Normal(0.0, 1.0).log_prob(z)).sum((1, 2))
    rec, kl = model.elbo(edge_index, mean, mean, log_var)
    assert abs(float(ratios.mean() - kl)) < 5 * float(ratios.std()) / 20_000**0.5
    products = z[:, 0, 0] * z[:, 1, 0] + model.bias.detach()
    elbo = float(torch.nn.functional.logsigmoid(products).mean() - kl)
    grid = torch.linspace(-7, 7, 701, dtype=torch.float64)
    density = torch.distributions.Normal(0.0, 1.0).log_prob(grid).exp() * 0.02
    p = float(density @ (grid[:, None] * grid + model.bias.detach()).sigmoid() @ density)
    assert elbo < np.log(p)
    at_mean = torch.nn.functional.logsigmoid(mean[0] * mean[1] + model.bias)
    torch.testing.assert_close(rec, at_mean[0])


def test_a_prior_makes_graphs_as_sparse_as_the_bias_says() -> None:
    model = VGAE(4, dim=2)
    _, a = model.prior_graph(200, contracts.seeded())
    assert torch.equal(a, a.T) and not a.diagonal().any() and 0.05 < float(a.mean()) < 0.15
    with torch.no_grad():
        model.bias.zero_()
    assert abs(float(model.prior_graph(300, contracts.seeded())[1].mean()) - 0.5) < 0.05
    assert VGAE(1433).num_parameters == 1433 * 32 + 32 + 2 * (32 * 16 + 16) + 1


def test_odds_among_as_many_others() -> None:
    """With z at 0 all pairs are alike: half of those asked for are edges, if b is the log odds of an edge."""
    data = CommunityLinks()
    data.setup()
    batch = data.test_set[torch.arange(1)]
    model = VGAE(32)
    E = batch.edge_index.shape[1] // 2
    with torch.no_grad():
        model.bias.fill_(torch.tensor((E + 0.5) / (7140 - E + 0.5)).log())
        logits = model.balanced(torch.zeros(120, 16), batch)
    assert float(logits.abs().max()) < 1e-5
