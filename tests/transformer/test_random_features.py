"""Random features against the kernels that they stand for, and against integrals for their variance."""

import itertools
import math

import pytest
import torch

from modules.transformer.random_features import (
    draws,
    features,
    log_features,
    rbf_features,
    rbf_kernel,
    rbf_variance,
    variance,
)

X, Y = torch.tensor([[0.5, -0.3, 0.2], [0.1, 0.4, -0.6]], dtype=torch.float64)
KINDS = ("positive", "hyperbolic", "trigonometric")


def quadrature(points: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Nodes (K, D) and weights (K,) of Gauss and Hermite: Σ w f(ω) is E f(ω) of a smooth f."""
    import numpy as np

    nodes, weights = np.polynomial.hermite_e.hermegauss(points)
    weights = weights / weights.sum()
    at = [list(each) for each in itertools.product(nodes, repeat=width)]
    of = [math.prod(each) for each in itertools.product(weights, repeat=width)]
    return torch.tensor(at, dtype=torch.float64), torch.tensor(of, dtype=torch.float64)


def moments(kind, make) -> tuple[float, float]:
    """Mean and variance of ψ(x)·ψ(y) of one draw, integrated over the draw."""
    omega, weight = quadrature(24, 3)
    products = torch.stack([(make(X, o[None]) * make(Y, o[None])).sum() for o in omega])
    mean = (weight * products).sum()
    return float(mean), float((weight * (products - mean) ** 2).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_mean_and_variance_of_a_draw(kind):
    mean, spread = moments(kind, lambda x, omega: features(x, omega, kind))
    wanted = (
        math.exp(float(X @ Y)) if kind != "trigonometric" else math.exp(-float((X - Y).square().sum()) / 2)
    )
    assert mean == pytest.approx(wanted, rel=1e-9)
    assert spread == pytest.approx(float(variance(X, Y, kind)), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_mean_and_variance_of_a_draw_for_the_rbf_kernel(kind):
    mean, spread = moments(kind, lambda x, omega: rbf_features(x, omega, 0.5, kind))
    assert mean == pytest.approx(float(rbf_kernel(X[None], Y[None], 0.5)), rel=1e-9)
    assert mean == pytest.approx(0.524663, abs=1e-6)
    assert spread == pytest.approx(float(rbf_variance(X, Y, 0.5, kind)), rel=1e-6)


def test_numbers_of_the_example():
    assert math.exp(float(X @ Y)) == pytest.approx(0.826959, abs=1e-6)
    plain, cosh = float(variance(X, Y, "positive")), float(variance(X, Y, "hyperbolic"))
    s = float((X + Y).square().sum())
    assert s == pytest.approx(0.53) and plain == pytest.approx(0.477973, abs=1e-6)
    assert cosh == pytest.approx(0.098318, abs=1e-6)
    assert cosh / plain == pytest.approx((1 - math.exp(-s)) / 2) == pytest.approx(0.205698, abs=1e-6)
    assert 2 * cosh / plain == pytest.approx(1 - math.exp(-s))  # at equally many features
    # e^{-2·.38 - 2·.53} (e^{1.06} - e^{.53}), which the integral above gives too
    assert float(rbf_variance(X, Y, 0.5)) == pytest.approx(0.192396, abs=1e-6)
    assert float(rbf_variance(X, Y, 0.5, "trigonometric")) == pytest.approx(0.262616, abs=1e-6)


def test_far_from_the_origin_positive_features_explode():
    x, y = torch.tensor([[1.0, 1, 1], [1, 1, 0.9]], dtype=torch.float64)
    assert float(rbf_variance(x, y, 0.5)) == pytest.approx(109_097, abs=1)
    assert float(rbf_variance(x, y, 0.5, "trigonometric")) == pytest.approx(4.95e-5, rel=1e-3)


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_the_printed_exponent_is_wrong_for_every_number_of_draws(gamma):
    omega, weight = quadrature(24, 3)
    products = [
        (rbf_features(X, o[None], gamma, printed=True) * rbf_features(Y, o[None], gamma, printed=True)).sum()
        for o in omega
    ]
    wrong = math.exp(-gamma * float(X @ X + Y @ Y) + gamma * float(X @ Y))
    assert float((weight * torch.stack(products)).sum()) == pytest.approx(wrong, rel=1e-6)
    if gamma == 0.5:
        assert wrong == pytest.approx(0.576950, abs=1e-6)


def test_mean_of_an_exponential():
    """E e^{Z·x} = e^{‖x‖²/2} (Lemma 4.2)."""
    omega, weight = quadrature(30, 3)
    assert float((weight * (omega @ X).exp()).sum()) == pytest.approx(math.exp(float(X @ X) / 2), rel=1e-12)


def test_orthogonal_draws():
    generator = torch.Generator().manual_seed(0)
    omega = draws(7, 3, generator, orthogonal=True, dtype=torch.float64)
    assert omega.shape == (7, 3)
    for part in omega.split(3):
        gram = part @ part.T
        torch.testing.assert_close(gram, gram.diagonal().diag(), atol=1e-12, rtol=0)
    many = draws(30_000, 3, generator, orthogonal=True, dtype=torch.float64)
    assert many.T.cov().sub(torch.eye(3)).abs().max() < 0.03  # each is N(0, I), for this seed
    assert float(many.norm(dim=1).square().mean()) == pytest.approx(3, abs=0.06)

    def error(orthogonal: bool) -> float:
        found = [
            float(features(X, o) @ features(Y, o)) - math.exp(float(X @ Y))
            for o in (draws(3, 3, generator, orthogonal, torch.float64) for _ in range(4000))
        ]
        return sum(e * e for e in found) / len(found)

    assert error(True) < 0.95 * error(False)  # for this seed


def test_edges():
    omega = draws(4, 2)
    assert features(torch.zeros(0, 2), omega, "hyperbolic").shape == (0, 8)
    far = torch.full((1, 2), 60.0)
    assert (features(far, omega) >= 0).all() and log_features(far, omega, "positive").isfinite().all()
    with pytest.raises(ValueError, match="choose one of positive, hyperbolic, trigonometric"):
        features(far, omega, "cosine")
    with pytest.raises(ValueError, match="choose positive or hyperbolic"):
        log_features(far, omega, "trigonometric")
    with pytest.raises(ValueError, match="gamma is 0"):
        rbf_features(far, omega, 0)
    with pytest.raises(ValueError, match="exponential"):
        rbf_features(far, omega, 1.0, "trigonometric", printed=True)
    with pytest.raises(ValueError, match="choose"):
        variance(far, far, "cosine")
    with pytest.raises(ValueError, match="count is 0"):
        draws(0, 2)
