"""Frequencies of a graph, free filters, and polynomials of them."""

import pytest
import torch
from graphs import G4, adjacency, both_ways
from torch_geometric.nn import ChebConv

from modules.graph import encoding, spectral

A = adjacency(both_ways(G4), 8)
X = torch.randn(8, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_frequencies_of_figure_13_4() -> None:
    values, vectors = spectral.frequencies(A)
    expected = [0, 0.52268, 1.36882, 1.79017, 3.35306, 3.84901, 4.92371, 6.19255]
    torch.testing.assert_close(values, torch.tensor(expected).double(), rtol=0, atol=1e-5)
    torch.testing.assert_close(vectors @ values.diag() @ vectors.T, spectral.laplacian(A))
    assert bool((vectors.gather(0, vectors.abs().argmax(0, keepdim=True)) > 0).all())
    values, _ = spectral.frequencies(A, normalised=True)
    assert float(values[-1]) == pytest.approx(1.71739, abs=1e-5) and abs(float(values[0])) < 1e-12


def test_free_filters() -> None:
    _, vectors = spectral.frequencies(A)
    torch.testing.assert_close(spectral.filtered(X, vectors, torch.ones(8).double()), X)
    gains = torch.randn(8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    operator = spectral.filtered(torch.eye(8).double(), vectors, gains)
    assert bool((operator.abs() > 1e-6).all())  # every node hears every other


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("largest", [2.0, 1.7173883])
def test_polynomials(K: int, largest: float) -> None:
    """Beside the eigenbasis, PyTorch Geometric's layer, and the distance that they reach."""
    theta = torch.randn(K, dtype=torch.float64, generator=torch.Generator().manual_seed(K))
    found = spectral.chebyshev(X, A, theta, largest)
    values, vectors = spectral.frequencies(A, normalised=True)
    scaled = 2 * values / largest - 1
    before, now, gains = torch.ones_like(scaled), scaled, theta[0] * torch.ones_like(scaled)
    for k in range(1, K):
        gains = gains + theta[k] * now
        before, now = now, 2 * scaled * now - before
    torch.testing.assert_close(found, spectral.filtered(X, vectors, gains), rtol=0, atol=1e-12)
    layer = ChebConv(3, 3, K, bias=False).double()
    for k, lin in enumerate(layer.lins):
        lin.weight.data = theta[k] * torch.eye(3).double()
    peer = layer(X, both_ways(G4), lambda_max=torch.tensor(largest, dtype=torch.float64))
    torch.testing.assert_close(found, peer, rtol=0, atol=1e-12)
    operator = spectral.chebyshev(torch.eye(8).double(), A, theta, largest)
    far = encoding.distances(A.long()) > K - 1
    assert float(operator[far].abs().max() if far.any() else 0) <= 1e-14


def test_kipfs_first_order() -> None:
    d = A.sum(0)
    kipf = torch.eye(8).double() + A / (d[:, None] * d).sqrt()
    found = spectral.chebyshev(X, A, torch.tensor([1.0, -1.0]).double())
    torch.testing.assert_close(found, kipf @ X, rtol=0, atol=1e-14)


def test_isolated_nodes_have_no_infinite_frequency() -> None:
    a = torch.zeros(3, 3).double()
    assert spectral.frequencies(a, normalised=True)[0].tolist() == [1, 1, 1]
    assert spectral.frequencies(a)[0].tolist() == [0, 0, 0]
