"""Graph convolution: the text's formulas, PyTorch Geometric's layers, and what depth and degrees do."""

import math
from pathlib import Path

import contracts
import numpy as np
import pytest
import torch
from graphs import G4, G10, RING, TRIANGLES, adjacency, both_ways, loop_layer, text_layer, text_operator
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import ChebConv, GCNConv, GINConv, SimpleConv, global_add_pool, global_mean_pool
from torch_geometric.utils import k_hop_subgraph, subgraph

from modules.graph.convolution import GraphConvolution, dropout, edge_weights, propagation_matrix
from modules.graph.gcn import GCN

PROPAGATIONS = ("sum", "mean", "symmetric", "gcn", "average")
GRAPHS = {
    "figure 13.4": (both_ways(G4), 8),
    "two isolated nodes": (both_ways(G4), 10),
    "directed": (torch.tensor([[0, 1, 2, 3, 3, 5], [1, 2, 0, 0, 4, 4]]), 6),
    "no edges": (torch.zeros(2, 0, dtype=torch.long), 3),
}


@pytest.fixture(params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> tuple[Tensor, int]:
    return GRAPHS[request.param]


def layer_of(d: int, d_out: int, propagation: str) -> GraphConvolution:
    return contracts.exact(GraphConvolution(d, d_out, propagation), scale=1.0)


def model_of(propagation: str = "gcn", features: int = 3, hidden=(5,), classes: int = 4, **kw) -> GCN:
    return contracts.exact(GCN(features, classes, hidden, propagation, **kw), scale=1.0)


def features(n: int, d: int, seed: int = 0) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- One layer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_layer_is_the_texts_matrix_form_and_its_sums(propagation: str, graph: tuple[Tensor, int]) -> None:
    edge_index, n = graph
    layer, x = layer_of(3, 5, propagation), features(n, 3)
    a = adjacency(edge_index, n)
    dense = text_layer(layer.weight, layer.bias, x.T, text_operator(a, propagation)).T
    loops = loop_layer(layer.weight, layer.bias, x.T, a, propagation).T
    by_edges = layer(x, edge_index)
    by_matrix = layer(x, propagation_matrix(edge_index, n, propagation, torch.float64))
    for other in (loops, by_edges, by_matrix):
        assert (other - dense).abs().max() <= 1e-12
    pull = features(n, 5, seed=1)
    gradients = [
        torch.autograd.grad((y * pull).sum(), layer.parameters()) for y in (dense, by_edges, by_matrix)
    ]
    for g in gradients[1:]:
        assert max((p - q).abs().max() for p, q in zip(g, gradients[0], strict=True)) <= 1e-10


def pyg_layer(layer: GraphConvolution, x: Tensor, edge_index: Tensor) -> Tensor:
    """What the module's table names as PyTorch Geometric's layer."""
    d_out, d = layer.weight.shape
    linear = nn.Linear(d, d_out).double()
    state = {"weight": layer.weight.detach(), "bias": layer.bias.detach()}
    if layer.propagation in ("sum", "mean"):
        conv = GINConv(linear, aggr="add" if layer.propagation == "sum" else "mean").double()
        conv.nn.load_state_dict(state)
        return conv(x, edge_index)
    if layer.propagation == "average":
        linear.load_state_dict(state)
        return linear(SimpleConv(aggr="mean", combine_root="self_loop")(x, edge_index))
    conv = GCNConv(d, d_out, add_self_loops=layer.propagation == "gcn").double()
    conv.load_state_dict({"bias": state["bias"], "lin.weight": state["weight"]})
    y = conv(x, edge_index)
    return y + conv.lin(x) if layer.propagation == "symmetric" else y


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_layer_is_the_one_of_pytorch_geometric(propagation: str, graph: tuple[Tensor, int]) -> None:
    edge_index, n = graph
    layer, x = layer_of(3, 5, propagation), features(n, 3)
    assert (layer(x, edge_index) - pyg_layer(layer, x, edge_index)).abs().max() <= 1e-12


def test_gcnconv_is_not_the_texts_kipf_form_but_chebconv_is() -> None:
    edge_index, x = GRAPHS["figure 13.4"][0], features(8, 3)
    symmetric, published = layer_of(3, 5, "symmetric"), layer_of(3, 5, "gcn")
    assert (symmetric(x, edge_index) - published(x, edge_index)).abs().max() > 0.1
    cheb = ChebConv(3, 5, K=2).double()  # Θ₀ = Ω, Θ₁ = −Ω, λ_max = 2
    cheb.load_state_dict(
        {
            "bias": symmetric.bias.detach(),
            "lins.0.weight": symmetric.weight.detach(),
            "lins.1.weight": -symmetric.weight.detach(),
        }
    )
    assert (cheb(x, edge_index) - symmetric(x, edge_index)).abs().max() <= 1e-14


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_messages_run_from_row_0_to_row_1(propagation: str) -> None:
    layer, x = layer_of(2, 2, propagation), features(2, 2)
    h = x @ layer.weight.T
    y = layer(x, torch.tensor([[0], [1]])) - layer.bias
    assert torch.allclose(y[0], h[0])  # node 0 hears itself alone
    heard = y[1] - (h[1] / 2 if propagation in ("gcn", "average") else h[1])
    # In the text's Kipf form the sender hears nobody, its degree is 0, and GCNConv defines 1/√0 as 0.
    weight = {"sum": 1, "mean": 1, "symmetric": 0, "gcn": 0.5**0.5, "average": 0.5}[propagation]
    assert torch.allclose(heard, weight * h[0])


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_self_loops_of_the_data_are_dropped(propagation: str) -> None:
    edge_index, n = GRAPHS["figure 13.4"]
    looped = torch.cat([edge_index, torch.tensor([[2, 5], [2, 5]])], dim=1)
    layer, x = layer_of(3, 5, propagation), features(n, 3)
    assert torch.equal(layer(x, looped), layer(x, edge_index))


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_an_isolated_node_hears_only_itself(propagation: str) -> None:
    edge_index, n = GRAPHS["two isolated nodes"]
    layer, x = layer_of(3, 5, propagation), features(n, 3).requires_grad_()
    y = layer(x, edge_index)
    assert (y[8:] - (x[8:] @ layer.weight.T + layer.bias)).abs().max() <= 1e-12
    y.square().sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all()


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_layer_is_permutation_equivariant(propagation: str) -> None:
    edge_index, n = GRAPHS["two isolated nodes"]
    layer = layer_of(3, 5, propagation)
    for seed in range(3):
        contracts.permutation_equivariant(layer, features(n, 3), edge_index, seed, 1e-12)


def test_weights_per_node_would_break_equivariance() -> None:
    edge_index, n = GRAPHS["figure 13.4"]
    layer, own = layer_of(3, 5, "sum"), features(n, 5, seed=1)
    with pytest.raises(AssertionError, match="renumbering"):
        contracts.permutation_equivariant(lambda x, e: layer(x, e) * own, features(n, 3), edge_index)


def test_gradients_do_not_depend_on_the_numbering() -> None:
    edge_index, n = GRAPHS["figure 13.4"]
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    place = order.argsort()
    model, x, y = model_of(), features(n, 3), torch.arange(n) % 4

    def gradients(x: Tensor, edges: Tensor, y: Tensor) -> list[Tensor]:
        loss = nn.functional.cross_entropy(model(x, edges), y)
        return list(torch.autograd.grad(loss, list(model.layers.parameters())))

    before, after = gradients(x, edge_index, y), gradients(x[order], place[edge_index], y[order])
    assert max((p - q).abs().max() for p, q in zip(before, after, strict=True)) <= 1e-12


def test_wrong_arguments_are_one_sentence() -> None:
    with pytest.raises(ValueError, match="propagation is 'max': choose one of sum, mean"):
        edge_weights(both_ways(G4), 8, "max")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="names node 7: nodes run from 0 to 6"):
        edge_weights(both_ways(G4), 7, "sum")
    with pytest.raises(ValueError, match="names node -1"):
        edge_weights(torch.tensor([[-1], [0]]), 7, "sum")


# --- Numbers of the operators --------------------------------------------------------------------


def operator(propagation: str, edges: list[tuple[int, int]] = G4, n: int = 8) -> Tensor:
    """S (N, N) of the module, in the text's orientation."""
    return propagation_matrix(both_ways(edges), n, propagation, torch.float64).to_dense().T


@pytest.mark.parametrize(
    "propagation, lowest, highest",
    [
        ("sum", -0.97638, 4.20535),
        ("symmetric", 0.28261, 2.0),
        ("gcn", -0.21587, 1.0),
        ("average", -0.21587, 1.0),
    ],
)
def test_spectra_on_figure_13_4(propagation: str, lowest: float, highest: float) -> None:
    values = torch.linalg.eigvals(operator(propagation)).real.sort().values
    assert values[0].item() == pytest.approx(lowest, abs=1e-5)
    assert values[-1].item() == pytest.approx(highest, abs=1e-5)
    if propagation in ("gcn", "average"):
        assert values[-2].item() == pytest.approx(0.81915, abs=1e-5)


def test_entries_and_column_sums() -> None:
    assert operator("symmetric")[4, 5].item() == pytest.approx(15**-0.5, abs=1e-12)
    ones = torch.ones(8, dtype=torch.float64)
    assert torch.allclose(operator("average").sum(0), ones, atol=1e-14)
    assert torch.allclose(operator("mean").sum(0), 2 * ones, atol=1e-14)


def test_on_a_regular_graph_mean_kipf_and_sum_agree() -> None:
    eye = torch.eye(6, dtype=torch.float64)
    mean, symmetric, total = (operator(p, RING, 6) - eye for p in ("mean", "symmetric", "sum"))
    assert torch.allclose(mean, symmetric, atol=1e-15)
    assert torch.allclose(mean, total / 2, atol=1e-15)


def test_average_by_hand() -> None:
    edges = both_ways([(0, 1), (1, 2), (1, 3), (2, 3)])
    layer = GraphConvolution(2, 2, "average").double()
    layer.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
    x = torch.arange(8.0, dtype=torch.float64).reshape(4, 2)
    expected = torch.tensor([[1, 2], [3, 4], [4, 5], [4, 5]], dtype=torch.float64)
    assert torch.allclose(layer(x, edges), expected, atol=1e-12)


def test_a_grid_is_an_isotropic_convolution() -> None:
    h, w = 4, 5
    right = [(i * w + j, i * w + j + 1) for i in range(h) for j in range(w - 1)]
    down = [(i * w + j, (i + 1) * w + j) for i in range(h - 1) for j in range(w)]
    layer, image = layer_of(3, 2, "sum"), features(h * w, 3)
    plus = torch.tensor([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=torch.float64)
    kernel = layer.weight[:, :, None, None] * plus  # (2, 3, 3, 3)
    expected = nn.functional.conv2d(image.T.reshape(1, 3, h, w), kernel, layer.bias, padding=1)
    y = layer(image, both_ways(right + down))
    assert (y - expected[0].reshape(2, h * w).T).abs().max() <= 1e-13


def test_a_complete_graph_gives_every_node_the_same_sum() -> None:
    n = 5
    edges = torch.tensor([(i, j) for i in range(n) for j in range(n) if i != j]).T
    layer, x = layer_of(3, 2, "sum"), features(n, 3)
    assert torch.allclose(layer(x, edges), (x.sum(0) @ layer.weight.T + layer.bias).expand(n, 2), atol=1e-12)


# --- The text's molecule network (13.5): three sum layers, mean pooling, a sigmoid ----------------

MOLECULES = {  # atomic numbers, bonds
    "ethanol": (
        [1, 1, 6, 1, 1, 6, 1, 8, 1],
        [(0, 2), (1, 2), (3, 2), (2, 5), (4, 5), (6, 5), (7, 5), (8, 7)],
    ),
    "dimethyl ether": (
        [1, 1, 6, 1, 8, 6, 1, 1, 1],
        [(0, 2), (1, 2), (3, 2), (2, 4), (4, 5), (5, 6), (5, 7), (5, 8)],
    ),
    "methanol": ([6, 8, 1, 1, 1, 1], [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5)]),
}


def molecule_weights() -> tuple[list[Tensor], Tensor, Tensor]:
    """Ω and β of three layers, ω and β of the head, as the text's notebook draws them."""
    draw = np.random.RandomState(1).normal
    shapes = [(200, 118), (200, 1), (200, 200), (200, 1), (200, 200), (200, 1)]
    weights = [torch.tensor(draw(size=s) * 2 / 200) for s in shapes]
    return weights, torch.tensor(draw(size=(1, 200))), torch.tensor(draw(size=(1, 1)))


def molecule_probability(name: str, propagation: str = "sum", pool=global_mean_pool) -> float:
    weights, omega, beta = molecule_weights()
    atoms, bonds = MOLECULES[name]
    h = nn.functional.one_hot(torch.tensor(atoms) - 1, 118).double()
    for weight, bias in zip(weights[::2], weights[1::2], strict=True):
        layer = GraphConvolution(weight.shape[1], 200, propagation).double()
        layer.load_state_dict({"weight": weight, "bias": bias[:, 0]})
        h = layer(h, both_ways(bonds)).relu()
    return torch.sigmoid(pool(h, None) @ omega.T + beta).item()


def test_the_texts_molecule_network_prints_the_texts_number() -> None:
    assert molecule_probability("ethanol") == pytest.approx(0.310843, abs=1e-6)
    assert molecule_probability("methanol") == pytest.approx(0.311785, abs=1e-6)
    assert molecule_probability("dimethyl ether") == pytest.approx(0.310990, abs=1e-6)


@pytest.mark.parametrize("propagation, p", [("mean", 0.313390), ("symmetric", 0.312767), ("gcn", 0.311292)])
def test_every_other_operator_gives_another_number(propagation: str, p: float) -> None:
    assert molecule_probability("ethanol", propagation) == pytest.approx(p, abs=1e-6)


def test_sum_pooling_gives_another_number() -> None:
    assert molecule_probability("ethanol", pool=global_add_pool) == pytest.approx(0.372113, abs=1e-6)


# --- What the whole network can see ---------------------------------------------------------------


def test_closed_neighbourhoods_of_figure_13_10_are_the_gradients_support() -> None:
    edges, target = both_ways(G10), 16
    sizes = [len(k_hop_subgraph(target, k, edges, num_nodes=23)[0]) for k in (1, 2, 3, 4)]
    assert sizes == [7, 18, 21, 23]
    for depth, size in zip((1, 2, 3, 4), sizes, strict=True):
        model, x = model_of(hidden=(16,) * (depth - 1)), features(23, 3).requires_grad_()
        (gradient,) = torch.autograd.grad(model(x, edges)[target].sum(), x)
        support = gradient.abs().sum(1).nonzero()[:, 0]
        assert torch.equal(support, k_hop_subgraph(target, depth, edges, num_nodes=23)[0])
        assert len(support) == size


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_two_hops_suffice_if_degrees_come_from_the_full_graph(propagation: str) -> None:
    edges, x, target = both_ways(G10), features(23, 3), 16
    model = model_of(propagation)
    nodes, inner, place, _ = k_hop_subgraph(target, 2, edges, relabel_nodes=True, num_nodes=23)
    full, part = model(x, edges)[target], model(x[nodes], inner)[place[0]]
    error = (full - part).abs().max().item()
    # The rim's degrees enter symmetric and gcn alone: sums and means look at the receiver's.
    if propagation in ("symmetric", "gcn"):
        assert error > 1e-4
    else:
        assert error <= 1e-12
    weighted, weight = edge_weights(edges, 23, propagation, torch.float64)
    kept, w = subgraph(nodes, weighted, weight, relabel_nodes=True, num_nodes=23)
    s = torch.zeros(len(nodes), len(nodes), dtype=torch.float64).index_put((kept[0], kept[1]), w)
    h = x[nodes].T
    for k, layer in enumerate(model.layers):
        h = text_layer(layer.weight, layer.bias, h if k == 0 else h.relu(), s)
    assert (h[:, place[0]] - full).abs().max() <= 1e-12


def test_loss_reaches_unlabelled_nodes_within_k_hops_only() -> None:
    path, x = both_ways([(0, 1), (1, 2), (2, 3)]), features(4, 3).requires_grad_()
    labelled = torch.tensor([True, False, False, False])
    data = Data(x=x, edge_index=path, y=torch.tensor([1, 2, 0, 3]), train_mask=labelled)
    model = model_of(hidden=(16,), dropout=0.0)
    logits = model.predict(data)
    model.predict = lambda batch: logits  # the very tensor whose gradient is asked for
    d_logits, d_x = torch.autograd.grad(model.step(data, "train"), (logits, x))
    assert d_logits[0].any() and not d_logits[1:].any()
    assert d_x[:3].any(1).all() and not d_x[3].any()


def test_networks_cannot_tell_a_ring_of_six_from_two_triangles() -> None:
    x = torch.ones(6, 3, dtype=torch.float64)
    for propagation in PROPAGATIONS:
        model = model_of(propagation)
        assert (model(x, both_ways(RING)) - model(x, both_ways(TRIANGLES))).abs().max() <= 1e-12


def test_a_disjoint_union_is_its_graphs_one_by_one() -> None:
    single = Data(x=features(1, 3, 5), edge_index=torch.zeros(2, 0, dtype=torch.long))
    graphs = [
        Data(x=features(8, 3), edge_index=both_ways(G4)),
        single,
        Data(x=features(6, 3, 2), edge_index=both_ways(RING)),
    ]
    model = model_of()
    one_by_one = torch.cat([model.predict(g) for g in graphs])
    assert (model.predict(Batch.from_data_list(graphs)) - one_by_one).abs().max() <= 1e-12


def test_powers_of_average_forget_where_they_started() -> None:
    s, start = operator("average"), None
    degree = adjacency(both_ways(G4), 8).sum(0)
    limit = (degree + 1) / 30
    # from node 1 (the text's numbering): K-th power's column 1
    expected = {1: 1.2, 2: 0.76667, 4: 0.45351, 8: 0.19646, 16: 0.03947, 32: 0.00162}
    for k, distance in expected.items():
        start = torch.linalg.matrix_power(s, k)[:, 0]
        assert (start - limit).abs().sum().item() == pytest.approx(distance, abs=5e-6)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_leafs_influence_on_the_root_of_a_tree_halves_with_each_level(depth: int) -> None:
    n = 2 ** (depth + 1) - 1
    tree = both_ways([((i - 1) // 2, i) for i in range(1, n)])
    x = torch.zeros(n, 1, dtype=torch.float64, requires_grad=True)
    h = x
    for _ in range(depth):
        layer = GraphConvolution(1, 1, "average").double()
        layer.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.zeros(1)})
        h = layer(h, tree)
    (influence,) = torch.autograd.grad(h[0, 0], x)
    assert influence[n - 1, 0].item() == pytest.approx(1 / 3 * 0.25 ** (depth - 1), abs=1e-12)
    assert influence[2**depth - 1 :].sum().item() == pytest.approx((4 / 3) * 2.0**-depth, abs=1e-12)


# --- The model ------------------------------------------------------------------------------------


def some_data(n: int = 8, classes: int = 4) -> Data:
    y = torch.arange(n) % classes
    mask = torch.ones(n, dtype=torch.bool)
    return Data(x=features(n, 3).float(), edge_index=both_ways(G4), y=y, train_mask=mask, val_mask=mask)


def test_parameters_of_the_published_network() -> None:
    assert GCN(1433, 7).num_parameters == 23_063


def test_loss_is_log_c_without_a_head() -> None:
    model, data = GCN(3, 4), some_data()
    nn.init.zeros_(model.layers[-1].weight)
    assert model.eval().step(data, "val").item() == pytest.approx(math.log(4), abs=1e-6)


def test_every_parameter_gets_a_gradient() -> None:
    torch.manual_seed(0)
    model, data = GCN(3, 4, (16, 16)), some_data()
    contracts.every_parameter_gets_a_gradient(model.eval(), lambda: model.step(data, "train"))


def test_one_graph_can_be_overfitted() -> None:
    torch.manual_seed(0)
    model, data = GCN(3, 4, (32,), dropout=0.0), some_data()
    contracts.overfits_one_batch(model, data, below=0.05, floor=0.0, steps=600)


def test_graphs_equal_to_weisfeiler_and_leman_cannot_be_fitted() -> None:
    edges = torch.cat([both_ways(RING), both_ways(TRIANGLES) + 6], dim=1)
    y = torch.tensor([0] * 6 + [1] * 6)
    data = Data(x=torch.ones(12, 3), edge_index=edges, y=y, train_mask=torch.ones(12, dtype=torch.bool))
    with pytest.raises(AssertionError, match=r"the loss is 0\.69"):
        contracts.overfits_one_batch(GCN(3, 2, dropout=0.0), data, below=0.69, floor=math.log(2))


def test_weights_survive_saving(tmp_path: Path) -> None:
    data = some_data()
    contracts.survives_saving(GCN(3, 4, [5, 6], "symmetric"), lambda m: m.predict(data), tmp_path)


def test_decay_penalises_the_first_layer_alone() -> None:
    model = GCN(3, 4, (5, 5), weight_decay=0.1, optimizer=lambda p: torch.optim.SGD(p, lr=1.0))
    optimizer = model.configure_optimizers()
    before = [p.detach().clone() for p in model.parameters()]
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step()
    shrunk = [0.9, 0.9, 1, 1, 1, 1]  # weight and bias of each layer
    for p, old, factor in zip(model.parameters(), before, shrunk, strict=True):
        assert torch.allclose(p, factor * old)


def test_measured_accuracy_and_loss_are_those_of_the_mask() -> None:
    model, data = GCN(3, 4).eval(), some_data()
    data.val_mask = torch.arange(8) < 3
    loss = model.step(data, "val")
    logits = model.predict(data)[:3]
    nll = -logits.log_softmax(1)[range(3), data.y[:3]]
    assert model.meters["val_nll"].compute().item() == pytest.approx(nll.mean().item(), abs=1e-6)
    assert loss.item() == pytest.approx(nll.mean().item(), abs=1e-6)
    accuracy = (logits.argmax(1) == data.y[:3]).float().mean().item()
    assert model.meters["val_acc"].compute().item() == pytest.approx(accuracy, abs=1e-6)


# --- Sparse features and the kept matrix ----------------------------------------------------------


def test_sparse_features_give_the_same_network() -> None:
    model, edges = model_of(), both_ways(G4)
    x = features(8, 3) * (features(8, 3, 1) > 0)
    dense, sparse = model(x, edges), model(x.to_sparse_csr(), edges)
    assert (dense - sparse).abs().max() <= 1e-12
    pull = features(8, 4, 2)
    a, b = (torch.autograd.grad((y * pull).sum(), list(model.layers.parameters())) for y in (dense, sparse))
    assert max((p - q).abs().max() for p, q in zip(a, b, strict=True)) <= 1e-12


def test_dropout_of_sparse_features_keeps_the_mean_and_the_zeros() -> None:
    torch.manual_seed(0)
    x = torch.zeros(400, 100)
    x[::2] = 1.0
    y = dropout(x.to_sparse_csr(), 0.25, training=True)
    assert y.layout == torch.sparse_csr
    dense = y.to_dense()
    assert not dense[1::2].any()
    kept = dense[::2]
    assert torch.equal(kept.unique(), torch.tensor([0, 1 / 0.75]))
    assert kept.mean().item() == pytest.approx(1, abs=4 * (0.25 / 0.75 / kept.numel()) ** 0.5)
    assert dropout(x.to_sparse_csr(), 0.25, training=False).values().eq(1).all()


def test_the_matrix_is_computed_once_and_never_for_another_graph() -> None:
    model, edges = model_of(), both_ways(G4)
    x = features(8, 3)
    first = model.matrix(edges, 8, torch.float64)
    assert model.matrix(edges.clone(), 8, torch.float64) is first
    before = model(x, edges)
    edges[:, 0] = torch.tensor([0, 6])  # edited in place: the same tensor, another graph
    assert model.matrix(edges, 8, torch.float64) is not first
    fresh = model_of()
    assert torch.equal(model(x, edges), fresh(x, edges)) and not torch.equal(model(x, edges), before)
    assert model.matrix(edges, 9, torch.float64).shape == (9, 9)


def test_a_matrix_made_while_evaluating_serves_training() -> None:
    model, data = GCN(3, 4), some_data()
    with torch.inference_mode():
        model.predict(data)
    model.step(data, "train").backward()
    assert model.layers[0].weight.grad is not None
