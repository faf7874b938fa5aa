"""Lookup: printed examples, linear against convex, the limit of a sharp softmax, gradients."""

import math

import pytest
import torch

from modules.transformer.lookup import linear_weights, lookup, soft_weights

E = torch.eye(5, dtype=torch.float64)  # keys: rows e_1, …, e_5


def rand(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_printed_examples() -> None:  # TF-O2
    v = rand(5, 3)
    assert torch.equal(lookup(linear_weights(E[2:3], E), v)[0], v[2])
    torch.testing.assert_close(lookup(linear_weights(E[2:3] + 2 * E[4:5], E), v)[0], v[2] + 2 * v[4])
    weights = soft_weights(E[2:3], E)[0]
    assert weights[2].item() == pytest.approx(math.e / (math.e + 4)) == pytest.approx(0.404610, abs=1e-6)
    assert -(weights * weights.log()).sum().item() == pytest.approx(1.500223, abs=1e-6)
    assert soft_weights(10 * E[2:3], E)[0, 2].item() == pytest.approx(0.999818, abs=1e-6)


def test_linear_is_linear_and_soft_is_a_convex_mixture() -> None:
    keys, values, p, q = rand(6, 4), rand(6, 1, seed=1), rand(3, 4, seed=2), rand(3, 4, seed=3)

    def linear(x: torch.Tensor) -> torch.Tensor:
        return lookup(linear_weights(x, keys), values)

    torch.testing.assert_close(linear(2 * p - 3 * q), 2 * linear(p) - 3 * linear(q))
    for sharpness in (0.0, 0.5, 1.0, 30.0):
        weights = soft_weights(q, keys, sharpness)
        assert (weights >= 0).all() and torch.allclose(weights.sum(1), torch.ones(3, dtype=torch.float64))
        y = lookup(weights, values)
        assert (y >= values.min()).all() and (y <= values.max()).all()
        for a, row in zip(weights, q, strict=True):  # by hand
            e = [math.exp(sharpness * float(row @ key)) for key in keys]
            assert a.tolist() == pytest.approx([each / sum(e) for each in e])
    assert torch.allclose(soft_weights(q, keys, 0.0), torch.full((3, 6), 1 / 6, dtype=torch.float64))


def test_sharp_softmax_finds_one_key_and_shares_where_two_are_equal() -> None:
    q = torch.tensor([[1.0, 0.2], [1.0, 1.0]], dtype=torch.float64)
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    assert soft_weights(q, keys, 1e4)[0].tolist() == [1, 0, 0]
    assert soft_weights(q, keys, 1e4)[1].tolist() == [0.5, 0.5, 0]
    assert soft_weights(1e3 * q.float(), keys.float(), 1e4).isfinite().all()


def test_gradient_reaches_every_key_of_a_soft_lookup() -> None:
    q, keys, values = rand(1, 4), rand(5, 4, seed=1).requires_grad_(), rand(5, 2, seed=2)
    lookup(soft_weights(q, keys), values).sum().backward()
    assert keys.grad is not None and (keys.grad.abs().sum(1) > 0).all()


def test_no_negative_sharpness() -> None:
    with pytest.raises(ValueError, match="λ is 0"):
        soft_weights(E, E, -1.0)
