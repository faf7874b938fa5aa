"""MixHop, MoNet and an LSTM over neighbours: PyTorch Geometric, the text's form, names and order."""

import contracts
import pytest
import torch
from graphs import G4, RING, adjacency, both_ways, text_operator
from torch import Tensor
from torch_geometric.nn import GMMConv, MixHopConv, SAGEConv

from modules.graph.convolution import GraphConvolution, propagation_matrix
from modules.graph.encoding import within
from modules.graph.gcn import GCN
from modules.graph.mixhop import MixHop, MixHopConvolution, higher_order
from modules.graph.mixture import MixtureConvolution, MoNet, degree_coordinates, relative_positions

EDGES, N = both_ways(G4), 9  # the last node is isolated
GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(N, 3, dtype=torch.float64, generator=GENERATOR)
PULL = torch.randn(N, 15, dtype=torch.float64, generator=GENERATOR)
PLACES = torch.randperm(N, generator=GENERATOR)
ORDER = torch.randperm(EDGES.shape[1], generator=GENERATOR)


def moved(x: Tensor) -> Tensor:
    """Rows where node n is called PLACES[n]."""
    other = torch.empty_like(x)
    other[PLACES] = x
    return other


# --- Powers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("powers", [(0, 1, 2), (2,), (3, 0, 1), (0,)])
def test_mixhop_is_pytorch_geometrics_and_powers_of_a_matrix(powers: tuple[int, ...]) -> None:
    layer = contracts.exact(MixHopConvolution(3, 5, powers), scale=0.7)
    peer = MixHopConv(3, 5, list(powers)).double()
    weights = dict(zip(powers, layer.weight.chunk(len(powers)), strict=True))
    peer.load_state_dict({"bias": layer.bias} | {f"lins.{p}.weight": w for p, w in weights.items()})
    y = layer(X, EDGES)
    assert (y - peer(X, EDGES)).abs().max() <= 1e-12
    s = text_operator(adjacency(EDGES, N), "gcn")
    text = torch.cat([w @ X.T @ torch.linalg.matrix_power(s, p) for p, w in weights.items()])
    assert (y.T - text - layer.bias[:, None]).abs().max() <= 1e-12
    pull = PULL[:, : 5 * len(powers)]
    for other in (
        layer(X, propagation_matrix(EDGES, N, "gcn", torch.float64)),
        layer(X.to_sparse_csr(), EDGES),
        layer(X, EDGES, torch.ones(EDGES.shape[1], dtype=torch.float64)),
    ):
        assert (other - y).abs().max() <= 1e-12
        for a, b in zip(*(torch.autograd.grad((z * pull).sum(), [layer.weight], retain_graph=True)
                          for z in (other, y)), strict=True):  # fmt: skip
            assert (a - b).abs().max() <= 1e-10
    again = layer(moved(X), PLACES[EDGES][:, ORDER])
    assert (again[PLACES] - y).abs().max() <= 1e-12


def test_one_power_is_a_convolution_and_a_masked_edge_sends_nothing() -> None:
    layer = contracts.exact(MixHopConvolution(3, 5, (1,)))
    plain = GraphConvolution(3, 5, "gcn").double()
    plain.load_state_dict(layer.state_dict())
    mask = torch.rand(EDGES.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    for given in (None, mask):
        assert (layer(X, EDGES, given) - plain(X, EDGES, given)).abs().max() <= 1e-12
    alone = contracts.exact(MixHopConvolution(3, 5, (2,)))
    x = X.clone().requires_grad_()
    alone(x, EDGES, torch.zeros_like(mask))[0].sum().backward()
    assert x.grad.abs().sum(1).nonzero()[:, 0].tolist() == [0]
    with pytest.raises(ValueError, match="edge by edge"):
        alone(X, propagation_matrix(EDGES, N, "gcn", torch.float64), mask)


def test_a_net_of_powers_and_one_of_the_first_power() -> None:
    plain, one = GCN(3, 2, hidden=[4]).double().eval(), MixHop(3, 2, hidden=[4], powers=[1]).double().eval()
    one.load_state_dict(plain.state_dict())
    assert (one(X, EDGES) - plain(X, EDGES)).abs().max() <= 1e-12
    model = contracts.exact(MixHop(3, 2, hidden=[4, 5], powers=[0, 2]))
    assert [h.shape[1] for h in model.embeddings(X, EDGES)] == [3, 8, 10, 2]
    ones = torch.ones(EDGES.shape[1], dtype=torch.float64)
    assert (model(X, EDGES) - model(X, EDGES, ones)).abs().max() <= 1e-12
    for wrong, text in (([1, 1], "each may come once"), ([-1], "powers is"), ([], "powers is")):
        with pytest.raises(ValueError, match=text):
            MixHop(3, 2, powers=wrong)


def test_walks_of_one_length_lose_neighbours() -> None:
    """GR-O32: of the direct neighbours Min[A² + I, 1] keeps 0 of 6, 0 of 12, 20 of 22."""
    path = [(0, 1), (1, 2), (2, 3)]
    for pairs, n, kept, exact, near in ((path, 4, 0, 8, 14), (RING, 6, 0, 18, 30), (G4, 8, 20, 50, 52)):
        a = adjacency(both_ways(pairs), n).long()
        assert int((higher_order(a, 2) * a).sum()) == kept
        assert int(higher_order(a, 2).sum()) == exact and int(within(a, 2).sum()) == near
        assert torch.equal(higher_order(a, 1), a + torch.eye(n, dtype=torch.long))


# --- Mixtures -----------------------------------------------------------------------------------------


def mixture(dimensions: int = 2, kernels: int = 3) -> MixtureConvolution:
    return contracts.exact(MixtureConvolution(3, 5, dimensions, kernels), scale=0.7)


@pytest.mark.parametrize("dimensions, kernels", [(2, 3), (1, 1), (3, 4)])
def test_monet_is_pytorch_geometrics(dimensions: int, kernels: int) -> None:
    layer = mixture(dimensions, kernels)
    peer = GMMConv(3, 5, dimensions, kernels).double()
    peer.load_state_dict({
        "g": layer.weight.flatten(0, 1).T, "root.weight": layer.own, "bias": layer.bias, "mu": layer.mean,
        "sigma": layer.deviation,
    })  # fmt: skip
    u = torch.randn(
        EDGES.shape[1], dimensions, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    y, theirs = layer(X, EDGES, u), peer(X, EDGES, u)
    assert (y - theirs).abs().max() <= 1e-12
    for ours, other in ((layer.mean, peer.mu), (layer.deviation, peer.sigma)):
        (a,) = torch.autograd.grad((y * PULL[:, :5]).sum(), ours, retain_graph=True)
        (b,) = torch.autograd.grad((theirs * PULL[:, :5]).sum(), other, retain_graph=True)
        assert (a - b).abs().max() <= 1e-10
    again = layer(moved(X), PLACES[EDGES][:, ORDER], u[ORDER])
    assert (again[PLACES] - y).abs().max() <= 1e-12
    assert (layer(X.to_sparse_csr(), EDGES, u) - y).abs().max() <= 1e-12
    with pytest.raises(ValueError, match="u has 1 rows"):
        layer(X, EDGES, u[:1])


def test_a_gaussian_by_hand_and_one_place_for_all_is_a_mean() -> None:
    layer = mixture(1, 1)
    layer.mean.data, layer.deviation.data = torch.tensor([[1.0]]).double(), torch.tensor([[2.0]]).double()
    assert layer.kernels(torch.tensor([[1.0], [3.0]]).double())[:, 0].tolist() == pytest.approx(
        [1, 0.60653066]
    )
    mean = SAGEConv(3, 5).double()
    mean.load_state_dict({
        "lin_l.weight": layer.weight[0], "lin_l.bias": layer.bias, "lin_r.weight": layer.own
    })  # fmt: skip
    here = torch.ones(EDGES.shape[1], 1).double()
    assert (layer(X, EDGES, here) - mean(X, EDGES)).abs().max() <= 1e-12


def test_coordinates() -> None:
    """By degrees, and by places: those do not notice when all nodes move together."""
    edges = torch.tensor([[0, 1, 2, 0], [1, 0, 1, 2]])  # two end at node 1
    u = degree_coordinates(edges, 3, torch.float64)
    half = 0.5**0.5
    assert u.flatten().tolist() == pytest.approx([1, half, half, 1, 1, half, 1, 1])
    places = torch.randn(N, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    layer = mixture()
    y = layer(X, EDGES, relative_positions(places, EDGES))
    assert (layer(X, EDGES, relative_positions(places + 3, EDGES)) - y).abs().max() <= 1e-12
    assert (layer(X, EDGES, relative_positions(2 * places, EDGES)) - y).abs().max() > 1e-3
    assert torch.equal(relative_positions(places, EDGES)[0], places[EDGES[0, 0]] - places[EDGES[1, 0]])


def test_sharp_kernels_on_a_grid_are_a_convolution() -> None:
    """A matrix for each place: columns of a 3 × 3 kernel of one row, over a line of pixels."""
    line = both_ways([(i, i + 1) for i in range(5)])
    places = torch.arange(6.0, dtype=torch.float64)[:, None]
    layer = mixture(1, 2)
    layer.mean.data, layer.deviation.data = (
        torch.tensor([[-1.0], [1.0]]).double(),
        torch.full((2, 1), 0.05).double(),
    )
    y = layer(X[:6], line, relative_positions(places, line))[1:5]
    kernel = torch.stack([layer.weight[0] / 2, layer.own, layer.weight[1] / 2], 2)  # two neighbours, a mean
    conv = torch.nn.functional.conv1d(X[:6].T[None], kernel, layer.bias)[0].T
    assert (y - conv).abs().max() <= 1e-12


def test_the_net_is_its_layers() -> None:
    model = contracts.exact(MoNet(3, 2, hidden=[4], kernels=2))
    u = degree_coordinates(EDGES, N, torch.float64)
    h = model.layers[0](X, EDGES, u).relu()
    assert (model(X, EDGES) - model.layers[1](h, EDGES, u)).abs().max() <= 1e-12
    assert (model(moved(X), PLACES[EDGES])[PLACES] - model(X, EDGES)).abs().max() <= 1e-12


# --- An LSTM over the neighbours ------------------------------------------------------------------------


def reader(combine: str = "separate") -> GraphConvolution:
    return contracts.exact(GraphConvolution(3, 5, "lstm", combine), scale=0.7)


def sage(layer: GraphConvolution) -> SAGEConv:
    peer = SAGEConv(3, 5, aggr="lstm").double()
    state = {f"aggr_module.lstm.{k}": v for k, v in layer.reader.state_dict().items()}
    peer.load_state_dict(
        state | {"lin_l.weight": layer.weight, "lin_l.bias": layer.bias, "lin_r.weight": layer.own}
    )
    return peer


def test_an_lstm_is_that_of_sage_where_all_have_as_many_neighbours() -> None:
    layer, ring = reader(), both_ways(RING)
    peer, ring = sage(layer), ring[:, ring[1].argsort(stable=True)]
    y, theirs = layer(X[:6], ring), peer(X[:6], ring)
    assert (y - theirs).abs().max() <= 1e-12
    ours = torch.autograd.grad((y * PULL[:6, :5]).sum(), layer.reader.weight_hh_l0)[0]
    other = torch.autograd.grad((theirs * PULL[:6, :5]).sum(), peer.aggr_module.lstm.weight_hh_l0)[0]
    assert (ours - other).abs().max() <= 1e-10


def test_each_node_reads_its_own_neighbours_and_stops() -> None:
    for combine in ("sum", "diagonal", "separate", "none"):
        layer = reader(combine)
        y = layer(X, EDGES)
        for n in range(N):
            senders = EDGES[0][EDGES[1] == n]
            g = layer.reader(X[senders][None])[0][0, -1] if len(senders) else torch.zeros(3).double()
            own = {"sum": 1.0, "diagonal": 1 + getattr(layer, "epsilon", 0)}.get(combine, 0.0)
            expected = layer.weight @ (g + own * X[n]) + layer.bias
            if combine == "separate":
                expected = expected + layer.own @ X[n]
            assert (y[n] - expected).abs().max() <= 1e-12


def test_an_lstm_minds_the_order_of_edges_not_the_names() -> None:
    layer = reader()
    y = layer(X, EDGES)
    assert (layer(moved(X), PLACES[EDGES])[PLACES] - y).abs().max() <= 1e-12
    assert (layer(X, EDGES.flip(1)) - y).abs().max() > 1e-3
    far = torch.cat([EDGES, torch.tensor([[i for i in range(9)], [8] * 9])], 1)  # a node with eight senders
    assert (layer(X, far)[:8] - y[:8]).abs().max() <= 1e-12  # others do not read on
    assert (layer(X, EDGES, torch.ones(EDGES.shape[1]).double()) - y).abs().max() <= 1e-12
    assert layer(X, EDGES[:, :0]).shape == (N, 5)
    with pytest.raises(ValueError, match="'lstm'"):
        propagation_matrix(EDGES, N, "lstm")
    model = contracts.exact(GCN(3, 2, hidden=[4], propagation="lstm", combine="separate"))
    assert model(X, EDGES).shape == (N, 2)
