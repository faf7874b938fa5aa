"""Explanations: PyTorch Geometric's objective and masks, fields of nodes, gradients, a planted answer."""

import pytest
import torch
from graphs import both_ways
from torch import Tensor, nn
from torch_geometric.explain import ExplainerConfig, GNNExplainer, ModelConfig
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import GCNConv, GINConv, GraphConv
from torchmetrics.functional.classification import binary_auroc

from modules.graph.convolution import GraphConvolution, propagation_matrix
from modules.graph.explainer import (
    Penalties,
    auc,
    best,
    edge_numbers,
    explain,
    frozen,
    gradients,
    logits,
    objective,
    predicted,
    reaching,
)
from modules.graph.gcn import GCN
from modules.graph.gin import GIN
from modules.graph.pooled_gcn import PooledGCN

HOUSE = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4)]
TREE = [(4, 5), (5, 6), (6, 7), (7, 8)]
EDGES = both_ways([*HOUSE, *TREE])
N = 9


def data(d: int = 3) -> Tensor:
    return torch.randn(N, d, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def masked(seed: int = 0) -> Tensor:
    """A mask, equal in both directions."""
    each = torch.rand(
        len(HOUSE) + len(TREE), dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    return each[edge_numbers(EDGES)]


def network(kind: str) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        made = {
            "gin": lambda: GIN(3, 2, width=5, layers=2),
            "pooled": lambda: PooledGCN(3, 3, hidden=[5, 5], propagation="mean"),
            "gcn": lambda: GCN(3, 3, hidden=[5]),
            "concat": lambda: GCN(
                3, 4, hidden=[5, 5], propagation="sum", combine="separate", residual="concat"
            ),
        }
        model = made[kind]().double()
        for parameter in model.parameters():
            if parameter.dim() == 1:
                nn.init.normal_(parameter)
    return model.eval()


# --- A mask of edges in the layers ------------------------------------------------------------------------


@pytest.mark.parametrize(("propagation", "combine"), [
    ("gcn", "sum"), ("sum", "diagonal"), ("mean", "separate"), ("max", "separate"), ("average", "sum"),
])  # fmt: skip
def test_a_mask_of_ones_changes_nothing_and_zeros_are_no_edges(propagation: str, combine: str) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = GraphConvolution(3, 4, propagation, combine).double()
    x, ones = data(), torch.ones(EDGES.shape[1], dtype=torch.float64)
    plain = layer(x, EDGES)
    assert torch.equal(layer(x, EDGES, None), plain) and torch.equal(layer(x, EDGES, ones), plain)
    if propagation == "max":
        return
    gone = ones.clone()
    gone[-8:] = 0
    s = propagation_matrix(EDGES, N, propagation, torch.float64, layer.hears_itself).to_dense()
    for m, n in EDGES[:, -8:].T.tolist():
        s[n, m] = 0
    assert torch.allclose(layer(x, EDGES, gone), layer(x, s.to_sparse_csr()), atol=1e-12)
    with pytest.raises(ValueError, match="edge by edge"):
        layer(x, propagation_matrix(EDGES, N, propagation, torch.float64), ones)


def test_the_mask_is_that_of_pytorch_geometric() -> None:
    """Its `set_masks` weighs messages before they are summed, and leaves those to oneself whole."""
    x, mask, d = data(), masked(), 4
    with torch.random.fork_rng():
        torch.manual_seed(0)
        ours = {"gcn": GraphConvolution(3, d, "gcn"), "gin": GraphConvolution(3, d, "sum", "diagonal"),
                "separate": GraphConvolution(3, d, "mean", "separate")}  # fmt: skip
    for name, layer in ours.items():
        layer.double()
        nn.init.normal_(layer.bias, generator=torch.Generator().manual_seed(2))
        if name == "gcn":
            peer: nn.Module = GCNConv(3, d).double()
            peer.lin.weight.data, peer.bias.data = layer.weight.data, layer.bias.data
        elif name == "gin":
            layer.epsilon.data.fill_(0.3)
            linear = nn.Linear(3, d).double()
            linear.weight.data, linear.bias.data = layer.weight.data, layer.bias.data
            peer = GINConv(linear, eps=0.3)
        else:
            peer = GraphConv(3, d, aggr="mean").double()
            peer.lin_rel.weight.data, peer.lin_rel.bias.data = layer.weight.data, layer.bias.data
            peer.lin_root.weight.data = layer.own.data
        wrapped = nn.ModuleList([peer])
        set_masks(wrapped, mask.logit(), EDGES, apply_sigmoid=True)
        expected = peer(x, EDGES)
        clear_masks(wrapped)
        assert torch.allclose(layer(x, EDGES, mask), expected, atol=1e-10), name


@pytest.mark.parametrize("kind", ["gin", "pooled", "gcn", "concat"])
def test_networks_pass_the_mask_on_and_stay_as_they_were(kind: str) -> None:
    model, x = network(kind), data()
    ones = torch.ones(EDGES.shape[1], dtype=torch.float64)
    assert torch.allclose(model(x, EDGES, edge_mask=ones), model(x, EDGES), atol=1e-12)
    assert not torch.allclose(model(x, EDGES, edge_mask=masked()), model(x, EDGES), atol=1e-3)


# --- The objective -----------------------------------------------------------------------------------------


def test_the_objective_is_that_of_pytorch_geometric() -> None:
    peer = GNNExplainer(edge_size=0.02, edge_ent=0.7, node_feat_size=0.4, node_feat_ent=0.3)
    generator = torch.Generator().manual_seed(0)
    edges, features, answer = (torch.randn(k, dtype=torch.float64, generator=generator) for k in (12, 3, 4))
    peer.edge_mask, peer.node_mask = nn.Parameter(edges), nn.Parameter(features[None])
    peer.hard_edge_mask = torch.tensor([True] * 9 + [False] * 3)
    peer.hard_node_mask = torch.ones(1, 3, dtype=torch.bool)
    peer.connect(ExplainerConfig("model", "common_attributes", "object"),
                 ModelConfig("multiclass_classification", "graph", "raw"))  # fmt: skip
    expected = peer._loss(answer[None], torch.tensor([2]))
    cost = Penalties(0.02, 0.7, 0.4, 0.3)
    assert objective(answer, 2, edges[:9], features, cost).item() == pytest.approx(expected.item(), abs=1e-6)


def test_a_fit_by_pytorch_geometric_finds_the_same_mask() -> None:
    """Both fit a mask of one network, ours one number for both directions: where the graph and the start are
    symmetric so is theirs."""
    model, x = network("pooled"), data()
    ours = explain(model, x, EDGES, target=1, features=False, steps=60, lr=0.05)
    layers = []
    for layer in model.layers:
        peer = GraphConv(3 if not layers else 5, 5, aggr="mean").double()
        peer.lin_rel.weight.data, peer.lin_rel.bias.data = layer.weight.data, layer.bias.data
        peer.lin_root.weight.data = layer.weight.data
        layers.append(peer)

    class Twin(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            for layer in self.layers:
                x = layer(x, edge_index).relu()
            return model.head(x.mean(0, keepdim=True))

    start = ours.edges[0].logit()
    twin, expected = Twin(), Penalties()
    edges = start.clone().requires_grad_()
    adam = torch.optim.Adam([edges], lr=0.05)
    peer = GNNExplainer(edge_size=expected.size, edge_ent=expected.entropy)
    peer.connect(ExplainerConfig("model", None, "object"),
                 ModelConfig("multiclass_classification", "graph", "raw"))  # fmt: skip
    peer.hard_edge_mask = torch.ones(EDGES.shape[1], dtype=torch.bool)
    losses = []
    for _ in range(61):
        peer.edge_mask = edges
        set_masks(twin, edges, EDGES, apply_sigmoid=True)
        loss = peer._loss(twin(x, EDGES), torch.tensor([1]))
        losses.append(loss.item())
        (grad,) = torch.autograd.grad(loss, edges)
        shared = torch.zeros(int(edge_numbers(EDGES).max()) + 1, dtype=grad.dtype)
        edges.grad = shared.index_add(0, edge_numbers(EDGES), grad)[edge_numbers(EDGES)]
        adam.step()
    assert ours.loss.tolist() == pytest.approx(losses, abs=1e-6)


# --- Explanations ------------------------------------------------------------------------------------------


def test_the_field_of_a_node_is_where_gradients_can_be() -> None:
    model, x = network("concat"), data()
    for node in range(N):
        field = reaching(model, EDGES, N, node)
        weight = torch.ones(EDGES.shape[1], dtype=torch.float64, requires_grad=True)
        (grad,) = torch.autograd.grad(logits(model, x, EDGES, node, weight).square().sum(), weight)
        assert not (grad[~field] != 0).any()
        found = explain(model, x, EDGES, node, steps=2)
        both = torch.zeros(10, dtype=torch.bool).index_put((edge_numbers(EDGES)[field],), torch.tensor(True))
        assert torch.equal(found.edges[-1] > 0, both[edge_numbers(EDGES)])
    assert int(reaching(model, EDGES, N, 8).sum()) < EDGES.shape[1]
    K, step = len(model.layers), torch.arange(40)
    path = torch.cat([torch.stack([step, step + 1]), torch.stack([step + 1, step])], 1)
    assert int(reaching(model, path, 41, 20).sum()) == 2 * (2 * K - 1)  # to nodes at most K − 1 hops away
    assert reaching(network("gin"), EDGES, N).all()


def test_explanations_are_symmetric_reproducible_and_leave_the_network() -> None:
    model, x = network("gin"), data()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.train()
    state = torch.get_rng_state()
    one, again, other = (explain(model, x, EDGES, steps=5, seed=s) for s in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state) and model.training
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert torch.equal(one.edges, again.edges) and not torch.equal(one.edges, other.edges)
    flip = [EDGES.T.tolist().index([b, a]) for a, b in EDGES.T.tolist()]
    assert torch.equal(one.edges, one.edges[:, flip]) and one.edges.shape == (6, 20)
    assert one.features.shape == (6, 3) and (one.features != one.features[0]).any()
    with frozen(model):
        weighed = logits(model, x * one.features[3], EDGES, None, one.edges[3]).softmax(0)
    assert one.probability[3].item() == pytest.approx(weighed[one.target].item(), abs=1e-12)
    assert one.loss[-1] < one.loss[0]
    assert (explain(model, x, EDGES, features=False, steps=1).features == 1).all()


def test_arguments_out_of_range() -> None:
    model, x = network("gin"), data()
    with pytest.raises(ValueError, match="steps"):
        explain(model, x, EDGES, steps=0)
    with pytest.raises(ValueError, match="direction"):
        explain(model, x, EDGES[:, :10], steps=1)


def test_a_graph_without_edges() -> None:
    model, none = network("gin"), EDGES[:, :0]
    found = explain(model, data(), none, steps=2)
    assert found.edges.shape == (3, 0) and best(none, torch.zeros(0), 3).shape == (0,)
    assert gradients(model, data(), none)[0].shape == (0,)


@pytest.mark.parametrize("node", [None, 3])
def test_gradients_are_those_of_small_steps(node: int | None) -> None:
    model, x = network("gin" if node is None else "concat"), data()
    found, features = gradients(model, x, EDGES, node, target=0)

    def score(x: Tensor, weight: Tensor) -> Tensor:
        answer = logits(model, x, EDGES, node, weight)
        return answer[0] - answer[1:].logsumexp(0)

    ones, h = torch.ones(EDGES.shape[1], dtype=torch.float64), 1e-6
    with torch.no_grad():
        for e in (0, 7, 12):
            step = h * (edge_numbers(EDGES) == edge_numbers(EDGES)[e])
            slope = (score(x, ones + step) - score(x, ones - step)) / (2 * h)
            assert found[e].item() == pytest.approx(abs(slope.item()), rel=1e-4, abs=1e-7)
        step = torch.zeros_like(x)
        step[3, 1] = h
        slope = (score(x + step, ones) - score(x - step, ones)) / (2 * h)
        assert features[3, 1].item() == pytest.approx(abs(slope.item()), rel=1e-4, abs=1e-7)


def test_the_best_edges() -> None:
    scores = masked()
    for k in (0, 1, 4, 10, 99):
        keep = best(EDGES, scores, k)
        assert keep.sum() == 2 * min(k, 10)
        assert not keep.any() or keep.all() or scores[keep].min() >= scores[~keep].max()
    assert best(EDGES, torch.zeros(20), 3).sum() == 6  # of equal ones three, not all


@pytest.mark.parametrize("node", [None, 3])
def test_graphs_that_keep_some_edges_are_answered_as_one_union(node: int | None) -> None:
    model, x = network("gin" if node is None else "concat"), data()
    kept = torch.stack([best(EDGES, masked(), k) for k in range(11)])
    found = predicted(model, x, EDGES, kept, node)
    for row, keep in zip(found, kept, strict=True):
        assert torch.allclose(row, logits(model, x, EDGES[:, keep], node).softmax(0), atol=1e-12)


def test_the_area_is_that_of_torchmetrics() -> None:
    scores, truth = (masked() * 5).round(), masked(1) > 0.4
    expected = binary_auroc(scores / 5, truth.long())
    assert auc(scores, truth) == pytest.approx(expected.item(), abs=1e-6)
    assert torch.tensor(auc(scores, torch.zeros(20, dtype=torch.bool))).isnan()


def test_a_planted_answer_is_found() -> None:
    """A network by hand: whether node 0 has the feature of node 3 within two hops. The mask keeps the way."""
    model = GCN(2, 2, hidden=[2], propagation="sum", combine="none", dropout=0.0).double()
    with torch.no_grad():
        model.layers[0].weight.copy_(torch.eye(2))
        model.layers[1].weight.copy_(torch.tensor([[0.0, 0.0], [0.0, 8.0]]))
        model.layers[1].bias.copy_(torch.tensor([4.0, 0.0]))
    x = torch.zeros(N, 2, dtype=torch.float64)
    x[:, 0], x[3, 1] = 1, 1
    found = explain(model, x, EDGES, 0, cost=Penalties(size=0.1, entropy=0.1))
    every = torch.ones(1, 20, dtype=torch.bool)
    assert found.target == 1 and predicted(model, x, EDGES, every, 0)[0, 1] > 0.95
    way = {tuple(pair) for pair in EDGES[:, best(EDGES, found.edges[-1], 2)].T.tolist()}
    assert way == {(0, 1), (1, 0), (1, 3), (3, 1)}
    assert found.features[-1][1] > 0.7 > 0.3 > found.features[-1][0]
