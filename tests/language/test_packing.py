"""Near-orthogonal directions: how many random ones, and a million by construction."""

import math

import pytest
import torch
from scipy.stats import beta

from modules.language import packing


def test_random_directions_follow_the_beta_distribution():
    assert packing.violation(1000, 0.087) == pytest.approx(0.0058810, abs=5e-8)
    for n, epsilon in ((10, 0.5), (100, 0.3), (1000, 0.05)):
        assert packing.violation(n, epsilon) == pytest.approx(beta.sf(epsilon**2, 0.5, (n - 1) / 2), abs=1e-9)
    assert 1 / packing.violation(1000, 0.087) == pytest.approx(170, abs=0.5)
    assert math.cos(math.radians(85)) == pytest.approx(0.0871557, abs=5e-8)
    pairs = [m * (m - 1) / 2 * packing.violation(1000, 0.087) for m in (18, 19)]
    assert pairs[0] < 1 < pairs[1]  # 18 vectors expect less than one violation
    assert math.pow(2, 7.5) == pytest.approx(181.02, abs=5e-3)  # fewer than 1,000 orthogonal ones


@pytest.mark.parametrize("n", [100, 300, 1000])
def test_measured_violations(n):
    cosines = packing.random_cosines(n, 600)
    assert cosines.std().item() == pytest.approx(1 / math.sqrt(n), rel=0.02)
    p = packing.violation(n, 0.087)
    measured = (cosines.abs() > 0.087).double().mean().item()
    assert measured == pytest.approx(p, abs=5 * math.sqrt(p / len(cosines)))


def test_the_field_is_a_field():
    x = torch.arange(1, 1024)
    power, result = torch.tensor(1), set()
    for _ in range(1023):
        result.add(int(power))
        power = packing.products(power, torch.tensor(2))
    assert len(result) == 1023  # x generates all of GF(2^10) but 0: the polynomial is primitive
    a, b, c = (torch.randint(1024, (200,), generator=torch.Generator().manual_seed(s)) for s in range(3))
    assert torch.equal(packing.products(a, b), packing.products(b, a))
    assert torch.equal(packing.products(a, b ^ c), packing.products(a, b) ^ packing.products(a, c))
    traces = packing.trace(torch.arange(1024))
    assert set(traces.tolist()) == {0, 1} and int(traces.sum()) == 512
    assert len(packing.products(x, x).unique()) == 1023


def test_a_million_directions_no_two_closer_than_86_degrees():
    values, counts = packing.spectra(10).abs().unique(return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {0: 261_888, 32: 698_368, 64: 87_296}
    assert math.degrees(math.acos(64 / 1024)) == pytest.approx(86.42, abs=5e-3)


def test_the_transform_gives_the_inner_products_of_the_vectors():
    m = 5
    everything = torch.cartesian_prod(torch.arange(2**m), torch.arange(2**m))
    vectors = packing.family(everything[:, 0], everything[:, 1], m)
    gram = vectors @ vectors.T
    assert torch.allclose(gram.diagonal(), torch.ones(1024, dtype=torch.float64))
    off = gram - torch.eye(1024)
    assert off.abs().max().item() == pytest.approx(packing.spectra(m).abs().max().item() / 2**m)
    with_zero = off[everything[:, 1] == 0][:1]  # α = β = 0 against all: rows of the spectrum, reordered
    other = everything[:, 1] != 0
    torch.testing.assert_close(
        with_zero[0, other].sort().values,
        (packing.spectra(m).double().flatten() / 2**m).sort().values,
    )


def test_hadamard_is_the_matrix():
    from scipy.linalg import hadamard

    x = torch.randn(3, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(packing.hadamard(x), x @ torch.tensor(hadamard(16)).double())


def test_refusals():
    with pytest.raises(ValueError, match="m is 4"):
        packing.products(torch.tensor(1), torch.tensor(1), 4)
