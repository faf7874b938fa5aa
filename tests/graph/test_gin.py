"""GIN and pooled graph convolutions: PyTorch Geometric, unions, copies, twins, the text's molecules."""

from itertools import pairwise

import contracts
import pytest
import torch
from graphs import BICYCLOPENTYL, DECALIN, G4, RING, TRIANGLES, both_ways
from test_gcn import MOLECULES, molecule_weights
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv, global_add_pool

from datamodules.graphs import Graph, union
from modules.graph import isomorphism
from modules.graph.gin import GIN, GINLayer
from modules.graph.graphs import pooled
from modules.graph.pooled_gcn import PooledGCN

POOLINGS = ("mean", "sum", "max")


def random_graphs(count: int = 5, d: int = 3) -> list[Graph]:
    """Random graphs of 1 to 7 nodes, the first without an edge."""
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for i in range(count):
        n = 1 + 3 * i // 2
        upper = torch.rand(n, n, generator=generator).triu(1) > 0.5
        x = torch.randn(n, d, generator=generator, dtype=torch.float64)
        graphs.append(Graph(x, (upper | upper.T).nonzero().T, i % 2))
    return graphs


def gin(d: int = 3, classes: int = 2, **settings) -> GIN:
    return contracts.exact(GIN(d, classes, **{"width": 5, "norm": False, **settings}), scale=0.5)


def vectors(model: GIN | PooledGCN, graphs: list[Graph]) -> Tensor:
    batch = union(graphs)
    return model.vectors(batch.x, batch.edge_index, batch.batch, len(graphs))


def plain(edges: list[tuple[int, int]], n: int) -> Graph:
    return Graph(torch.ones(n, 1, dtype=torch.float64), both_ways(edges), 0)


# --- The layer and the network --------------------------------------------------------------------


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max"])
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_a_layer_is_ginconv_with_an_mlp(aggregation: str, norm: bool, training: bool) -> None:
    layer = contracts.exact(GINLayer(3, 5, aggregation, norm), scale=1.0)
    middle = [nn.BatchNorm1d(5)] if norm else []
    conv = GINConv(
        nn.Sequential(nn.Linear(3, 5), *middle, nn.ReLU(), nn.Linear(5, 5)), train_eps=True,
        aggr={"sum": "add"}.get(aggregation, aggregation),
    ).double()  # fmt: skip
    state = {
        "eps": layer.hear.epsilon.reshape(1),
        "nn.0.weight": layer.hear.weight,
        "nn.0.bias": layer.hear.bias,
    }
    state |= {f"nn.{len(conv.nn) - 1}.{k}": v for k, v in layer.out.named_parameters()}
    state |= {f"nn.1.{k}": v for k, v in layer.norm.state_dict().items()}
    conv.load_state_dict(state)
    layer.train(training), conv.train(training)
    x, edges = torch.randn(10, 3, dtype=torch.float64), both_ways(G4)  # the last two are isolated
    pull = torch.randn(10, 5, dtype=torch.float64)
    ours, theirs = layer(x, edges), conv(x, edges)
    assert (ours - theirs).abs().max() <= 1e-12
    assert layer.hear.epsilon != 0
    (of_ours,) = torch.autograd.grad((ours * pull).sum(), layer.hear.epsilon)
    (of_theirs,) = torch.autograd.grad((theirs * pull).sum(), conv.eps)
    assert abs(of_ours.item() - of_theirs.item()) <= 1e-10


def test_the_network_is_its_layers_and_a_sum_of_each() -> None:
    model, graph = gin(layers=2), random_graphs()[4]
    h, total = graph.x, [graph.x.sum(0)]
    for layer in model.layers:
        senders = [graph.edge_index[0][graph.edge_index[1] == n] for n in range(len(h))]
        heard = (1 + layer.hear.epsilon) * h + torch.stack([h[m].sum(0) for m in senders])
        h = layer.out((heard @ layer.hear.weight.T + layer.hear.bias).relu()).relu()
        total.append(h.sum(0))
    z = model.head(torch.cat(total))
    logits = model(graph.x, graph.edge_index)[0]
    assert logits[0] == 0 and abs((logits[1] - z).item()) <= 1e-10
    assert torch.allclose(logits.softmax(0)[1], z.sigmoid())


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max"])
def test_an_aggregation_is_that_of_its_layers(aggregation: str) -> None:
    model, graph = gin(layers=2, aggregation=aggregation), random_graphs()[4]
    h = graph.x
    for layer in model.layers:
        h = layer(h, graph.edge_index).relu()
    assert (model.embeddings(graph.x, graph.edge_index)[-1] - h).abs().max() <= 1e-12 * (1 + h.abs().max())


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_union_gives_what_its_graphs_give(pooling: str, classes: int) -> None:
    graphs = random_graphs()
    gcn = contracts.exact(PooledGCN(3, classes, hidden=[5, 5], pooling=pooling), scale=0.5)
    for model in (gin(classes=classes, pooling=pooling), gcn):
        batch = union(graphs)
        whole, each = model.predict(batch), torch.cat([model(g.x, g.edge_index) for g in graphs])
        assert whole.shape == (5, classes)
        assert (whole - each).abs().max() <= 1e-12 * (1 + whole.abs().max())
        grads = []
        for logits in (whole, each):
            loss = nn.functional.cross_entropy(logits, batch.y)
            grads.append(torch.autograd.grad(loss, list(model.parameters())))
        for p, q in zip(*grads, strict=True):
            assert (p - q).abs().max() <= 1e-12 * (1 + q.abs().max())


def test_unions_are_those_of_pytorch_geometric() -> None:
    graphs = random_graphs()
    ours = union(graphs)
    theirs = Batch.from_data_list([Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs])
    for key in ("x", "edge_index", "batch", "ptr", "y"):
        assert torch.equal(ours[key], theirs[key]), key


@pytest.mark.parametrize("pooling", POOLINGS)
def test_renumbered_nodes_leave_the_answer(pooling: str) -> None:
    graph, model = random_graphs()[4], gin(pooling=pooling)
    order = torch.randperm(len(graph.x), generator=torch.Generator().manual_seed(1))
    other = model(graph.x[order], order.argsort()[graph.edge_index])
    assert (model(graph.x, graph.edge_index) - other).abs().max() <= 1e-12


def test_pooling_by_hand() -> None:
    h, graph = torch.tensor([[1.0], [5.0], [-2.0]]), torch.tensor([0, 0, 2])
    assert pooled(h, graph, 3, "mean")[:, 0].tolist() == [3, 0, -2]
    assert pooled(h, graph, 3, "sum")[:, 0].tolist() == [6, 0, -2]
    assert pooled(h, graph, 3, "max")[:, 0].tolist() == [5, 0, -2]


def test_batches_with_batch_norm_are_finite_and_an_epsilon_learns() -> None:
    model, batch = GIN(3, 2, width=4), union([g._replace(x=g.x.float()) for g in random_graphs()])
    contracts.fitted(model, batch, epochs=2)
    assert model.predict(batch).isfinite().all() and model.layers[0].hear.epsilon != 0


def test_wrong_arguments_are_one_sentence() -> None:
    with pytest.raises(ValueError, match="aggregation is 'gcn': choose one of sum, mean, max"):
        GIN(3, 2, aggregation="gcn")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pooling is 'sort': choose one of mean, sum, max"):
        GIN(3, 2, pooling="sort")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_classes is 1"):
        PooledGCN(3, 1)


# --- What can be told apart ---------------------------------------------------------------------------


def test_means_and_maxima_are_blind_to_copies_and_sums_are_not() -> None:
    graph = random_graphs()[4]
    two = union([graph, graph])
    both = Graph(two.x, two.edge_index, 0)
    for pooling in POOLINGS:
        for aggregation in ("sum", "mean", "max"):
            model = gin(aggregation=aggregation, pooling=pooling)
            one, copies = vectors(model, [graph, both])
            factor = 2 if pooling == "sum" else 1
            assert (copies - factor * one).abs().max() <= 1e-12 * (1 + copies.abs().max())


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max"])
def test_twins_are_equal_at_every_layer(aggregation: str) -> None:
    for one, other, n in ((RING, TRIANGLES, 6), (DECALIN, BICYCLOPENTYL, 10)):
        model = gin(d=1, aggregation=aggregation, layers=4)
        a, b = vectors(model, [plain(one, n), plain(other, n)])
        assert (a - b).abs().max() <= 1e-12 * a.abs().max()
        # a random number at each node tells them apart
        noise = torch.randn(n, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        a, b = vectors(model, [plain(g, n)._replace(x=noise) for g in (one, other)])
        assert (a - b).abs().max() > 1e-3


@pytest.mark.parametrize(
    "one, other, merged",
    [([1], [1, 1], ("mean", "max")), ([1, 2], [1, 1, 2], ("max",)), ([1, 3], [2, 2], ("sum", "mean"))],
)
def test_multisets_of_numbers(one: list[int], other: list[int], merged: tuple[str, ...]) -> None:
    """What node 0 hears of its neighbours' numbers; one-hot, a sum merges nothing."""
    for hot in (False, True):
        for aggregation in ("sum", "mean", "max"):
            layer = contracts.exact(GINLayer(4 if hot else 1, 8, aggregation, norm=False), scale=1.0)
            heard = []
            for numbers in (one, other):
                x = torch.tensor([0, *numbers])
                star = both_ways([(0, i) for i in range(1, len(x))])
                data = nn.functional.one_hot(x, 4).double() if hot else x[:, None].double()
                heard.append(layer(data, star)[0])
            same = bool((heard[0] - heard[1]).abs().max() < 1e-12)
            # one-hot, {1, 3} and {2, 2} share nothing
            expected = aggregation in merged and not (hot and one == [1, 3])
            assert same == expected, (hot, aggregation)


def test_gin_parts_all_graphs_and_nodes_that_the_test_parts() -> None:
    names = [(G4, 8), (RING, 6), (TRIANGLES, 6), (DECALIN, 10), (BICYCLOPENTYL, 10)]
    names += [([(i, j) for i, j in pairwise(range(n))], n) for n in (5, 6)]
    graphs = [plain(edges, n) for edges, n in names]
    model = gin(d=1, width=16, layers=6)
    found = vectors(model, graphs)
    for i, one in enumerate(names):
        for j, other in enumerate(names[:i]):
            pair = [(both_ways(edges), n) for edges, n in (one, other)]
            apart = isomorphism.told_apart(*pair) is not None
            assert ((found[i] - found[j]).abs().max() > 1e-6) == apart
        colours = isomorphism.rounds(both_ways(one[0]), one[1])[-1]
        h = model.embeddings(graphs[i].x, graphs[i].edge_index)[-1]
        near = torch.cdist(h, h) < 1e-9 * h.abs().max()
        assert torch.equal(near, colours[:, None] == colours)


# --- The text's classifier of molecules -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, p", [("ethanol", 0.310843), ("methanol", 0.311785), ("dimethyl ether", 0.310990)]
)
def test_the_texts_molecule_network_as_a_model(name: str, p: float) -> None:
    model = PooledGCN(118, 2, hidden=(200, 200, 200)).double()
    assert model.num_parameters == 104_401
    weights, omega, beta = molecule_weights()
    with torch.no_grad():
        for layer, weight, bias in zip(model.layers, weights[::2], weights[1::2], strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias[:, 0])
        model.head.weight.copy_(omega)
        model.head.bias.copy_(beta[:, 0])
    atoms, bonds = MOLECULES[name]
    x = nn.functional.one_hot(torch.tensor(atoms) - 1, 118).double()
    assert model(x, both_ways(bonds)).softmax(1)[0, 1].item() == pytest.approx(p, abs=1e-6)
    # under a mean each atom has its share of the logit
    h = model.embeddings(x, both_ways(bonds))[-1]
    shares = h @ model.head.weight[0] / len(h)
    z = (global_add_pool(shares[:, None], None) + model.head.bias).item()
    assert torch.tensor(z).sigmoid().item() == pytest.approx(p, abs=1e-6)
