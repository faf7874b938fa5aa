"""Graph attention in the text's form, beside PyTorch Geometric's layers, and as self-attention."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from graphs import G4, adjacency, both_ways
from torch import Tensor
from torch_geometric.nn import GATConv, GATv2Conv, TransformerConv
from torch_geometric.utils import add_self_loops

from modules.graph.attention import GraphAttention, Score

EDGES = both_ways(G4)
X = torch.randn(8, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def layer_of(score: Score, heads: int = 2, **options) -> GraphAttention:
    layer = GraphAttention(3, 4, heads, score, **options).double()
    generator = torch.Generator().manual_seed(1)
    for parameter in layer.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return layer


def text_form(h: Tensor, omega: Tensor, beta: Tensor, phi: Tensor, a: Tensor, slope: float) -> Tensor:
    """H (D, N), one head, before the last activation: (D', N); φ (2D',), the sender first."""
    mapped = beta[:, None] + omega @ h  # H' (D', N)
    N, width = h.shape[1], len(beta)
    scores = torch.empty(N, N, dtype=h.dtype)
    for m in range(N):
        for n in range(N):
            scores[m, n] = phi @ torch.cat([mapped[:, m], mapped[:, n]])
    scores = F.leaky_relu(scores, slope)
    heard = (a + torch.eye(N)) > 0
    assert width == omega.shape[0]
    return mapped @ scores.masked_fill(~heard, -torch.inf).softmax(0)  # columns


@pytest.mark.parametrize("slope", [0.0, 0.2])
@pytest.mark.parametrize("edges, n", [(EDGES, 8), (EDGES[:, 2:], 8), (torch.tensor([[0], [1]]), 3)])
def test_additive_is_the_texts_matrix_form(slope: float, edges: Tensor, n: int) -> None:
    layer, x = layer_of("additive", slope=slope), X[:n]
    y = layer(x, edges)
    for head in range(2):
        rows = slice(4 * head, 4 * head + 4)
        phi = torch.cat([layer.sender[head], layer.receiver[head]])
        a = adjacency(edges, n)
        dense = text_form(x.T, layer.weight[rows], layer.bias[rows], phi, a, slope).T
        assert (y[:, rows] - dense).abs().max() <= 1e-12


def test_the_texts_notebook_prints_these_numbers() -> None:
    draw = np.random.RandomState(1).normal
    x, omega, beta, phi = (torch.tensor(draw(size=s)) for s in ((4, 8), (4, 4), (4, 1), (8, 1)))
    layer = GraphAttention(4, 4, slope=0.0).double()
    layer.load_state_dict({"weight": omega, "bias": beta[:, 0], "sender": phi[:4].T, "receiver": phi[4:].T})
    layer.recording = True
    y = layer(x.T, EDGES).relu().T
    expected = [
        [0.028, 0.370, 0, 0.970, 0, 0, 0.698], [0, 0, 0, 0, 1.184, 0, 2.654, 0],
        [1.130, 0.564, 0, 1.298, 0.268, 0, 0, 0.779], [0.825, 0, 0, 1.175, 0, 0, 0, 0],
    ]  # fmt: skip
    expected[0] = [0, *expected[0]]
    torch.testing.assert_close(y, torch.tensor(expected).double(), rtol=0, atol=6e-4)
    # every score of node 5 was below 0: a ReLU makes them alike
    assert layer.weights is not None and layer.edges is not None
    at = layer.weights[layer.edges[1] == 4, 0]
    torch.testing.assert_close(at, torch.full((6,), 1 / 6).double())


def test_by_hand() -> None:
    edges = both_ways([(0, 1), (1, 2), (1, 3), (2, 3)])
    layer = GraphAttention(2, 1, 2).double()
    state = {"weight": torch.eye(2), "bias": torch.zeros(2), "receiver": torch.tensor([[-0.2], [0.1]]),
             "sender": torch.tensor([[0.3], [-0.1]])}  # fmt: skip
    layer.load_state_dict(state)
    x = torch.arange(8.0, dtype=torch.float64).reshape(4, 2)
    expected = [[1.2913, 1.9800], [4.2344, 3.7725], [4.6798, 4.8362], [4.5043, 4.7351]]
    torch.testing.assert_close(layer(x, edges), torch.tensor(expected).double(), rtol=0, atol=1e-4)
    layer.load_state_dict(state | {"receiver": state["sender"], "sender": state["receiver"]})
    expected = [[0.9600, 2.0997], [2.3731, 4.3882], [3.4804, 5.1638], [3.4804, 5.0533]]
    torch.testing.assert_close(layer(x, edges), torch.tensor(expected).double(), rtol=0, atol=1e-4)


@pytest.mark.parametrize("join", ["concat", "mean"])
def test_pytorch_geometrics_layers(join: str) -> None:
    """GATConv of [x, 1] with the weight [Ω β]; GATv2Conv; TransformerConv on a graph with loops."""
    concat = join == "concat"
    layer = layer_of("additive", join=join)
    peer = GATConv(4, 4, 2, concat=concat, bias=False).double()
    peer.load_state_dict({
        "lin.weight": torch.cat([layer.weight, layer.bias[:, None]], 1), "att_src": layer.sender[None],
        "att_dst": layer.receiver[None],
    })  # fmt: skip
    ones = torch.cat([X, torch.ones(8, 1).double()], 1)
    torch.testing.assert_close(layer(X, EDGES), peer(ones, EDGES), rtol=0, atol=1e-12)
    layer = layer_of("dynamic", join=join)
    v2 = GATv2Conv(3, 4, 2, concat=concat).double()
    v2.load_state_dict({
        "lin_l.weight": layer.weight, "lin_l.bias": layer.bias, "lin_r.weight": layer.own,
        "lin_r.bias": torch.zeros(8), "att": layer.sender[None],
        "bias": torch.zeros(8 if concat else 4),
    })  # fmt: skip
    torch.testing.assert_close(layer(X, EDGES), v2(X, EDGES), rtol=0, atol=1e-12)
    layer = layer_of("dot", join=join)
    dot = TransformerConv(3, 4, 2, concat=concat, root_weight=False).double()
    zeros = {f"lin_{name}.bias": torch.zeros(8) for name in ("key", "query")}
    dot.load_state_dict({
        "lin_key.weight": layer.key, "lin_query.weight": layer.query, "lin_value.weight": layer.weight,
        "lin_value.bias": layer.bias, **zeros,
    }, strict=False)  # fmt: skip
    torch.testing.assert_close(layer(X, EDGES), dot(X, add_self_loops(EDGES)[0]), rtol=0, atol=1e-12)


def test_on_a_complete_graph_dot_is_self_attention() -> None:
    edges = torch.tensor([(i, j) for i in range(8) for j in range(8) if i != j]).T
    layer = layer_of("dot", heads=1)
    q, k, v = X @ layer.query.T, X @ layer.key.T, X @ layer.weight.T + layer.bias
    expected = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    torch.testing.assert_close(layer(X, edges), expected, rtol=0, atol=1e-12)
    # static: all receivers rank the senders alike; dynamic: they do not
    for score, alike in (("additive", True), ("dynamic", False)):
        layer = layer_of(score, heads=1)  # type: ignore[arg-type]
        layer.recording = True
        layer(X, edges)
        assert layer.weights is not None and layer.edges is not None
        table = torch.zeros(8, 8).double()
        table[layer.edges[0], layer.edges[1]] = layer.weights[:, 0]
        torch.testing.assert_close(table.sum(0), torch.ones(8).double())
        rankings = {tuple(column.argsort().tolist()) for column in table.T}
        assert (len(rankings) == 1) is alike


def test_equal_scores_are_the_mean_of_node_and_neighbours() -> None:
    layer = layer_of("additive")
    layer.sender.data.zero_()
    layer.receiver.data.zero_()
    a = adjacency(EDGES, 8) + torch.eye(8)
    expected = (a / a.sum(0)).T @ (X @ layer.weight.T + layer.bias)
    torch.testing.assert_close(layer(X, EDGES), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(layer(X.to_sparse_csr(), EDGES), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("score", ["additive", "dynamic", "dot"])
def test_names_do_not_matter_and_weights_are_dropped_in_training_alone(score: Score) -> None:
    layer = layer_of(score, dropout=0.5).eval()
    places = torch.randperm(8, generator=torch.Generator().manual_seed(2))
    moved = torch.empty_like(X)
    moved[places] = X
    torch.testing.assert_close(layer(moved, places[EDGES])[places], layer(X, EDGES), rtol=0, atol=1e-12)
    torch.manual_seed(0)
    assert not torch.equal(layer.train()(X, EDGES), layer.eval()(X, EDGES))
    layer(X, EDGES).square().sum().backward()
    assert all(p.grad is not None and bool(p.grad.any()) for p in layer.parameters())


def test_refusals() -> None:
    with pytest.raises(ValueError, match="choose one of additive, dynamic, dot"):
        GraphAttention(3, 4, score="cosine")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="names node 7"):
        layer_of("dot")(X[:7], EDGES)
