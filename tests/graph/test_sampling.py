"""Fields, samples and parts: sizes by the specification, means that stay, sums that need a factor."""

import itertools

import pytest
import torch
from graphs import G10, G11, G11_PARTS, both_ways

from modules.graph import partition, sampling
from modules.graph.attention import GraphAttention
from modules.graph.convolution import GraphConvolution, propagation_matrix

EDGES = both_ways(G10)
GRAPH = sampling.Senders.of(EDGES, 23)


def test_fields_are_the_closed_neighbourhoods() -> None:
    assert [len(sampling.field(GRAPH, torch.tensor([16]), k)) for k in range(5)] == [1, 7, 18, 21, 23]
    assert sampling.field(GRAPH, torch.tensor([3, 16]), 1)[:2].tolist() == [3, 16]


@pytest.mark.parametrize("propagation", ["sum", "mean"])
def test_all_senders_give_the_full_pass(propagation: str) -> None:
    """Layer by layer on the edges of each alone."""
    layers = [GraphConvolution(3, 3, propagation).double() for _ in range(2)]  # type: ignore[arg-type]
    x = torch.randn(23, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    batch = torch.tensor([16, 2])
    found = sampling.sample(GRAPH, batch, [None, None])
    h = x[found.nodes]
    for layer, edges in zip(layers, found.layers, strict=True):
        h = layer(h, edges)
    full = layers[1](layers[0](x, EDGES), EDGES)
    torch.testing.assert_close(h[:2], full[batch], rtol=0, atol=1e-12)


def test_means_stay_and_sums_need_the_factor() -> None:
    x = torch.randn(23, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    heard = EDGES[0][EDGES[1] == 16]
    assert len(heard) == 6
    triples = torch.tensor(list(itertools.combinations(heard.tolist(), 3)))
    assert len(triples) == 20
    torch.testing.assert_close(x[triples].mean(1).mean(), x[heard].mean())
    torch.testing.assert_close(x[triples].sum(1).mean(), 0.5 * x[heard].sum())
    found = sampling.sample(GRAPH, torch.tensor([16]), [3])
    assert found.factors[0][0] == 2 and bool((found.factors[0][1:] == 1).all())
    generator, total = torch.Generator().manual_seed(2), 0.0
    for _ in range(2_000):
        found = sampling.sample(GRAPH, torch.tensor([16]), [3], generator)
        total += float(found.factors[0][0] * x[found.nodes[found.layers[0][0]]].sum()) / 2_000
    assert total == pytest.approx(float(x[heard].sum()), abs=0.15)


def test_subsets_are_equally_likely() -> None:
    counts = torch.tensor([5, 3, 7]).repeat_interleave(12_000)
    drawn = sampling.subsets(counts, 3, torch.Generator().manual_seed(0)).sort(1).values
    for number, count in enumerate((5, 3, 7)):
        kinds, times = drawn[12_000 * number : 12_000 * (number + 1)].unique(dim=0, return_counts=True)
        assert kinds.tolist() == [list(c) for c in itertools.combinations(range(count), 3)]
        assert float(((times - 12_000 / len(times)) ** 2).sum() / (12_000 / len(times))) < 2 * len(times) + 10


def test_no_sender_comes_twice_and_few_senders_all_stay() -> None:
    generator = torch.Generator().manual_seed(3)
    everyone = torch.arange(23)
    counts = EDGES[1].bincount(minlength=23)
    seen = torch.zeros(23, 23)
    for _ in range(300):
        edges = GRAPH.to(everyone, 3, generator)
        assert edges.T.unique(dim=0).shape[0] == edges.shape[1]
        assert torch.equal(edges[1].bincount(minlength=23), counts.clamp(max=3))
        seen[edges[0], edges[1]] += 1
    true = torch.zeros(23, 23)
    true[EDGES[0], EDGES[1]] = 1
    assert bool((seen[true == 0] == 0).all())
    share = seen[true == 1] / 300
    expected = (3 / counts).clamp(max=1)[true.nonzero()[:, 1]]
    assert float((share - expected).abs().max()) < 0.15


@pytest.mark.parametrize("most, sizes", [(3, [4.0, 9.9, 16.1, 20.5]), (1, [2.0, 3.6, 5.7, 8.1])])
def test_sampled_fields_are_bounded(most: int, sizes: list[float]) -> None:
    generator = torch.Generator().manual_seed(4)
    for steps, size in enumerate(sizes, 1):
        found = [
            len(sampling.sample(GRAPH, torch.tensor([16]), [most] * steps, generator).nodes)
            for _ in range(400)
        ]
        assert max(found) <= (1 + most) ** steps
        assert sum(found) / 400 == pytest.approx(size, abs=0.3)


CELLS = [("sum", "diagonal"), ("mean", "separate"), ("max", "none"), ("gcn", "sum"), ("symmetric", "sum")]


@pytest.mark.parametrize("size", [1, 5, 23, 100])
def test_layer_by_layer_is_the_whole_pass(size: int) -> None:
    """One direction of some edges is lost, so that no matrix is symmetric, and a node hears nobody."""
    edges, n = EDGES[:, 7:], 24
    graph = sampling.Senders.of(edges, n)
    x = torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    for propagation, combine in CELLS:
        ends = [GraphConvolution(d, d_out, propagation, combine) for d, d_out in ((3, 4), (4, 2))]  # type: ignore[arg-type]
        first, last = (layer.double() for layer in ends)
        layers = [lambda h, e, layer=first: layer(h, e).relu(), last]
        whole = last(first(x, edges).relu(), edges)
        by_matrix = propagation in ("gcn", "symmetric")
        said = propagation_matrix(edges, n, propagation, x.dtype, first.hears_itself) if by_matrix else graph  # type: ignore[arg-type]
        found = sampling.by_layers(layers, x, said, size)
        torch.testing.assert_close(found, whole.detach(), rtol=0, atol=1e-12)
        assert not found.requires_grad
    gat = [GraphAttention(3, 2, 2).double(), GraphAttention(4, 3, score="dynamic").double()]
    whole = gat[1](gat[0](x, edges), edges)
    found = sampling.by_layers(gat, x, graph, size)
    torch.testing.assert_close(found, whole.detach(), rtol=0, atol=1e-12)


def test_a_batch_has_a_node_at_least_and_no_nodes_have_no_states() -> None:
    with pytest.raises(ValueError, match="size"):
        sampling.by_layers([], torch.zeros(3, 1), GRAPH, 0)
    assert torch.equal(sampling.by_layers([], torch.ones(23, 1), GRAPH, 4), torch.ones(23, 1))


def test_an_isolated_node_hears_nobody() -> None:
    graph = sampling.Senders.of(torch.tensor([[0, 1], [1, 0]]), 3)
    found = sampling.sample(graph, torch.tensor([2]), [2, 2])
    assert found.nodes.tolist() == [2] and [e.shape for e in found.layers] == [(2, 0)] * 2
    assert [f.tolist() for f in found.factors] == [[1], [1]]


def test_parts_of_figure_13_11() -> None:
    edges = both_ways(G11)
    drawn = torch.zeros(23, dtype=torch.long)
    for number, part in enumerate(G11_PARTS):
        drawn[torch.tensor(part).unique()] = number
    assert partition.cut(edges, drawn) == 7 and [len(p) for p in G11_PARTS] == [8, 10, 7, 9]
    found = partition.partition(edges, 23, 4)
    assert partition.cut(edges, found) <= 9 and sorted(found.bincount().tolist()) == [5, 6, 6, 6]
    random = [
        partition.cut(edges, drawn[torch.randperm(23, generator=torch.Generator().manual_seed(s))])
        for s in range(200)
    ]
    assert sum(random) / 200 == pytest.approx(31.9, abs=1)
    for pair in itertools.combinations(range(4), 2):
        nodes, inner = partition.batch(edges, drawn, pair)
        among = [(i, j) for i, j in G11 if {int(drawn[i]), int(drawn[j])} <= set(pair)]
        assert inner.shape[1] == 2 * len(among) and torch.equal(drawn[nodes].unique(), torch.tensor(pair))


def test_halving_covers_all_nodes_in_equal_parts() -> None:
    for count in (1, 2, 4, 8, 16):
        sizes = partition.partition(EDGES, 23, count).bincount(minlength=count)
        assert int(sizes.min()) >= 1 and int(sizes.max() - sizes.min()) <= 1
    with pytest.raises(ValueError, match="1, 2, 4, 8"):
        partition.partition(EDGES, 23, 3)
    with pytest.raises(ValueError, match="no part is empty"):
        partition.partition(EDGES, 23, 32)
