"""GAT: PyTorch Geometric's network with the same weights, its parameters by hand, refusals."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric.nn import GATConv

from modules.graph.gat import GAT

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 4, 0], [1, 0, 2, 1, 3, 2, 0, 4]])


def test_it_is_pytorch_geometrics_network() -> None:
    """Eight heads of three numbers side by side, then the mean of two heads; node 5 is alone."""
    torch.manual_seed(0)
    model = GAT(7, 4, hidden=[3], heads=[8, 2]).double().eval()
    first = GATConv(7, 3, heads=8).double().eval()
    last = GATConv(24, 4, heads=2, concat=False).double().eval()
    with torch.no_grad():
        for ours, theirs in zip(model.layers, (first, last), strict=True):
            theirs.lin.weight.copy_(ours.weight)
            theirs.att_src.copy_(ours.sender[None])
            theirs.att_dst.copy_(ours.receiver[None])
            theirs.bias.zero_()  # ours are 0 at the start, and stand inside the scores
        x = torch.randn(6, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        expected = last(F.elu(first(x, EDGES)), EDGES)
        torch.testing.assert_close(model(x, EDGES), expected, rtol=0, atol=1e-12)
        hs = model.embeddings(x, EDGES)
    assert [tuple(h.shape) for h in hs] == [(6, 7), (6, 24), (6, 4)]
    torch.testing.assert_close(hs[-1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("score", "count"),
    [  # of each layer: Ω, β, then the score's own
        ("additive", (64 * 5 + 64 + 2 * 64) + (7 * 64 + 7 + 2 * 7)),
        ("dynamic", (64 * 5 + 64 + 64 * 5 + 64) + (7 * 64 + 7 + 7 * 64 + 7)),
        ("dot", (64 * 5 + 64 + 2 * 64 * 5) + (7 * 64 + 7 + 2 * 7 * 64)),
    ],
)
def test_parameters(score: str, count: int) -> None:
    assert GAT(5, 7, score=score).num_parameters == count  # type: ignore[arg-type]


def test_dropout_is_of_training_alone() -> None:
    model, x = GAT(5, 3), torch.ones(6, 5)

    def twice() -> tuple[Tensor, Tensor]:
        return model(x, EDGES), model(x, EDGES)

    assert not torch.equal(*twice())
    model.eval()
    assert torch.equal(*twice())


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"heads is \[8\]: give one for each of 2 layers"):
        GAT(5, 3, heads=[8])
    with pytest.raises(ValueError, match=r"slope is 0\.5: scores of 'dot' have no activation"):
        GAT(5, 3, score="dot", slope=0.5)
    with pytest.raises(ValueError, match="dropout is 1"):
        GAT(5, 3, dropout=1.0)
