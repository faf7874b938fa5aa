"""Every way to join what neighbours send with a node's own state: the text's form, PyTorch Geometric's."""

from itertools import product

import pytest
import torch
from graphs import G4, RING, TRIANGLES, adjacency, both_ways, text_operator
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv, GraphConv, SAGEConv

from modules.graph.convolution import GraphConvolution, propagation_matrix
from modules.graph.gcn import GCN

AGGREGATES, COMBINES = ("sum", "mean", "symmetric", "max"), ("sum", "diagonal", "separate", "none")
CELLS = list(product(AGGREGATES, COMBINES))
EDGES, N = both_ways(G4), 9  # the last node is isolated
X = torch.randn(N, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def layer_of(aggregate: str, combine: str) -> GraphConvolution:
    layer = GraphConvolution(3, 5, aggregate, combine).double()  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(1)
    for parameter in layer.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return layer


def text_form(layer: GraphConvolution, h: Tensor, a: Tensor) -> Tensor:
    """H (D, N) as columns, one node at a time where it is no matrix: (D', N)."""
    if layer.propagation == "max":
        g = torch.zeros_like(h)
        for n in range(len(a)):
            if a[:, n].any():
                g[:, n] = h[:, a[:, n] > 0].max(1).values
    else:
        g = h @ (text_operator(a, layer.propagation) - torch.eye(len(a)))
    own = {"sum": 1.0, "none": 0.0, "separate": 0.0}
    factor = 1 + layer.epsilon if layer.combine == "diagonal" else own[layer.combine]
    y = layer.weight @ (g + factor * h) + layer.bias[:, None]
    return y + layer.own @ h if layer.combine == "separate" else y


def peer(layer: GraphConvolution, x: Tensor, edges: Tensor) -> Tensor:
    """PyTorch Geometric's layer of the same cell, or its parts."""
    kind = {"sum": "add", "mean": "mean", "max": "max"}.get(layer.propagation)
    state = {"weight": layer.weight.detach(), "bias": layer.bias.detach()}
    if layer.propagation == "symmetric":
        convolution = GCNConv(3, 5, add_self_loops=False).double()
        convolution.load_state_dict({"lin.weight": layer.weight, "bias": layer.bias})
        y = convolution(x, edges)
        if layer.combine == "separate":
            return y + x @ layer.own.T
        factor = {"sum": 1.0, "none": 0.0}.get(layer.combine)
        return y + (1 + layer.epsilon if factor is None else factor) * x @ layer.weight.T
    if layer.combine in ("sum", "diagonal"):
        gin = GINConv(nn.Linear(3, 5), train_eps=layer.combine == "diagonal", aggr=kind).double()
        gin.nn.load_state_dict(state)  # it draws the weights that it is given anew
        if layer.combine == "diagonal":
            gin.eps.data = layer.epsilon.data[None]
        return gin(x, edges)
    if layer.combine == "separate":
        graph = GraphConv(3, 5, aggr=kind).double()
        graph.load_state_dict({
            "lin_rel.weight": layer.weight, "lin_rel.bias": layer.bias, "lin_root.weight": layer.own,
        })  # fmt: skip
        return graph(x, edges)
    sage = SAGEConv(3, 5, aggr=kind, root_weight=False).double()
    sage.load_state_dict({"lin_l.weight": layer.weight, "lin_l.bias": layer.bias})
    return sage(x, edges)


@pytest.mark.parametrize("aggregate, combine", CELLS)
def test_each_cell_is_the_texts_form_and_its_peer(aggregate: str, combine: str) -> None:
    layer = layer_of(aggregate, combine)
    y = layer(X, EDGES)
    others = [
        text_form(layer, X.T, adjacency(EDGES, N)).T,
        peer(layer, X, EDGES),
        layer(X.to_sparse_csr(), EDGES),
    ]
    if aggregate != "max":
        s = propagation_matrix(EDGES, N, layer.propagation, torch.float64, layer.hears_itself)
        others.append(layer(X, s))
    pull = torch.randn(N, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    gradients = torch.autograd.grad((y * pull).sum(), list(layer.parameters()))
    for other in others:
        assert (other - y).abs().max() <= 1e-12
    for again in (others[0], *others[2:]):
        for g, h in zip(
            torch.autograd.grad((again * pull).sum(), list(layer.parameters())), gradients, strict=True
        ):
            assert (g - h).abs().max() <= 1e-10 and g.isfinite().all()


@pytest.mark.parametrize("aggregate, combine", CELLS)
def test_names_and_the_order_of_edges_do_not_matter(aggregate: str, combine: str) -> None:
    layer, generator = layer_of(aggregate, combine), torch.Generator().manual_seed(3)
    places = torch.randperm(N, generator=generator)
    moved = torch.empty_like(X)
    moved[places] = X
    shuffled = places[EDGES][:, torch.randperm(EDGES.shape[1], generator=generator)]
    torch.testing.assert_close(layer(moved, shuffled)[places], layer(X, EDGES), rtol=0, atol=1e-12)


def test_cells_that_are_one() -> None:
    plain, diagonal, separate = (layer_of("sum", combine) for combine in ("sum", "diagonal", "separate"))
    for other in (diagonal, separate):
        other.weight.data, other.bias.data = plain.weight.data, plain.bias.data
    diagonal.epsilon.data.zero_()
    separate.own.data = plain.weight.data
    for other in (diagonal, separate):
        torch.testing.assert_close(other(X, EDGES), plain(X, EDGES), rtol=0, atol=1e-12)
    assert float(GraphConvolution(3, 5, "sum", "diagonal").epsilon) == 0


def test_a_node_has_one_place() -> None:
    for propagation in ("gcn", "average"):
        with pytest.raises(ValueError, match="among its neighbours already"):
            GraphConvolution(3, 5, propagation, "separate")
    with pytest.raises(ValueError, match="combine is 'both'"):
        GraphConvolution(3, 5, "sum", "both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="residual is 'both'"):
        GCN(3, 2, residual="both")  # type: ignore[arg-type]


def test_parameters_of_the_specification() -> None:
    assert GCN(1433, 7, propagation="sum", combine="separate").num_parameters == 46_103
    assert GCN(1433, 7, propagation="sum", combine="diagonal").num_parameters == 23_065


def test_residual_connections() -> None:
    """[a[β1ᵀ + ΩHA]; H] grows by D' with each layer; the sum needs equal widths."""
    torch.manual_seed(0)
    model = GCN(3, 2, [4, 4], "sum", "none", residual="concat").double().eval()
    hs = model.embeddings(X, EDGES)
    assert [h.shape[1] for h in hs] == [3, 7, 11, 2]
    a = adjacency(EDGES, N)
    first = (model.layers[0].weight @ X.T @ a + model.layers[0].bias[:, None]).relu()
    torch.testing.assert_close(hs[1], torch.cat([first, X.T]).T, rtol=0, atol=1e-12)
    model = GCN(3, 2, [4, 4], "sum", "none", residual="sum").double().eval()
    hs = model.embeddings(X, EDGES)
    second = (model.layers[1].weight @ hs[1].T @ a + model.layers[1].bias[:, None]).relu().T + hs[1]
    torch.testing.assert_close(hs[2], second, rtol=0, atol=1e-12)


@pytest.mark.parametrize("aggregate, combine", CELLS)
def test_no_cell_tells_twins_apart(aggregate: str, combine: str) -> None:
    layer, ones = layer_of(aggregate, combine), torch.ones(6, 3).double()
    assert (layer(ones, both_ways(RING)) - layer(ones, both_ways(TRIANGLES))).abs().max() <= 1e-12


def test_which_multisets_are_told_apart() -> None:
    """A star's centre hears {a} or {a, a}; {a, b} or {a, a, b}; {1, 3} or {2, 2}."""

    def heard(aggregate: str, *values: float) -> float:
        layer = GraphConvolution(1, 1, aggregate, "none").double()  # type: ignore[arg-type]
        layer.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.zeros(1)})
        x = torch.tensor([0.0, *values]).double()[:, None]
        edges = torch.tensor([[i, 0] for i in range(1, len(x))]).T
        return float(layer(x, edges)[0, 0])

    table = {
        (aggregate, pair): heard(aggregate, *pair[0]) != heard(aggregate, *pair[1])
        for aggregate in ("sum", "mean", "max")
        for pair in (((1.0,), (1.0, 1.0)), ((1.0, 2.0), (1.0, 1.0, 2.0)), ((1.0, 3.0), (2.0, 2.0)))
    }
    assert list(table.values()) == [True, True, False, False, True, False, False, False, True]
