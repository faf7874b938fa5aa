"""What flows are used for: posteriors, unnormalised targets, anomalies; and flows on other spaces."""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

from modules.flow.coupling import RealNVP
from modules.flow.linear import Triangular
from modules.flow.other import ModularShift, moebius
from modules.flow.posterior import TOYS, elbo, flow_posterior, gaussian_start
from modules.flow.reverse_kl import TARGETS, fit, log_normaliser
from modules.flow.typicality import Detector, auroc


def f64(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


# --- Posteriors -----------------------------------------------------------------------------------


def test_the_reparameterised_gaussian_is_a_flow():
    for mean in ([0, 0], [3, -7]):
        z, log_q = gaussian_start(f64(mean), f64([0.5, 3]).log(), f64([0.3, -1.2]))
        assert log_q.item() == pytest.approx(-3.008342, abs=1e-6)
        torch.testing.assert_close(log_q, Normal(f64(mean), f64([0.5, 3])).log_prob(z).sum())


@pytest.mark.parametrize(("rho", "gap"), [(0.5, 0.143841), (0.9, 0.830366), (0.99, 1.958518)])
def test_one_autoregressive_layer_closes_the_gap_of_a_diagonal_posterior(rho, gap):
    target = torch.distributions.MultivariateNormal(f64([0, 0]), f64([[1, rho], [rho, 1]]))
    noise = torch.randn(200_000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    # the best diagonal q has the precisions of the target: variance 1 − ρ²
    zeros = torch.zeros(2, dtype=torch.float64)
    z, log_q = gaussian_start(zeros, torch.full((2,), 0.5 * math.log(1 - rho**2)).double(), noise)
    spread = (log_q - target.log_prob(z)).std().item()
    result = (log_q - target.log_prob(z)).mean().item()
    assert result == pytest.approx(gap, abs=5 * spread / 200_000**0.5)
    assert -0.5 * math.log(1 - rho**2) == pytest.approx(gap, abs=1e-6)
    layer = Triangular(2).double()
    with torch.no_grad():
        layer.log_scale.copy_(f64([0, 0.5 * math.log(1 - rho**2)]))
        layer.entries.fill_(rho)
    z, log_q = flow_posterior(layer, zeros, zeros, noise[:1000])
    torch.testing.assert_close(log_q, target.log_prob(z), rtol=0, atol=1e-9)


def test_the_exact_posterior_makes_the_bound_the_evidence():
    toy = TOYS["correlated"]
    assert toy.log_evidence() == pytest.approx(-1.526755, abs=1e-5)
    cov = (torch.eye(2, dtype=torch.float64) + torch.ones(2, 2, dtype=torch.float64) / 0.09).inverse()
    assert (cov[0, 1] / cov[0, 0]).item() == pytest.approx(-11.1111 / 12.1111, abs=1e-4)
    rho = (cov[0, 1] / cov[0, 0]).item()
    assert -0.5 * math.log(1 - rho**2) == pytest.approx(0.921568, abs=1e-5)
    root = torch.linalg.cholesky(cov)
    layer = Triangular(2).double()
    with torch.no_grad():
        layer.log_scale.copy_(root.diagonal().log())
        layer.entries.fill_(root[1, 0])
        layer.bias.copy_(cov @ f64([1, 1]) / 0.09)
    assert layer.log_det().item() == pytest.approx(-1.572555, abs=1e-5)
    noise = torch.randn(500, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    zeros = torch.zeros(2, dtype=torch.float64)
    terms = elbo(toy.log_joint, layer, zeros, zeros, noise)
    torch.testing.assert_close(terms, torch.full((500,), -1.526755).double(), rtol=0, atol=1e-5)
    # with the other sign before the sum it would exceed the evidence
    wrong = terms - 2 * layer.log_det()
    assert wrong.mean().item() == pytest.approx(1.618355, abs=1e-5)


@pytest.mark.parametrize(("name", "log_p"), [("banana", -1.5387), ("two modes", -1.8275)])
def test_the_evidence_of_bent_posteriors(name, log_p):
    assert TOYS[name].log_evidence() == pytest.approx(log_p, abs=1e-4)


# --- Unnormalised targets -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "log_z"), [("ring", 1.8775), ("sine", 2.0201)])
def test_the_mass_of_the_targets(name, log_z):
    assert log_normaliser(TARGETS[name]) == pytest.approx(log_z, abs=1e-4)


def test_reverse_kl_seeks_a_mode_and_forward_kl_covers_both():
    """FL-O39: the best Gaussian to ½ N(−3, 1) + ½ N(3, 1), by quadrature."""
    x = torch.linspace(-30, 30, 60_001, dtype=torch.float64)
    log_q = torch.logaddexp(Normal(-3.0, 1.0).log_prob(x), Normal(3.0, 1.0).log_prob(x)) - math.log(2)

    def reverse(mean: float, sd: float) -> float:
        log_p = Normal(mean, sd).log_prob(x)
        return torch.trapezoid(log_p.exp() * (log_p - log_q), x).item()

    def forward(mean: float, sd: float) -> float:
        return torch.trapezoid(log_q.exp() * (log_q - Normal(mean, sd).log_prob(x)), x).item()

    assert reverse(2.984306, 1.023369) == pytest.approx(0.688769, abs=1e-6)
    assert reverse(0.0, 2.743769) == pytest.approx(0.840621, abs=1e-6)
    assert forward(0.0, 10**0.5) == pytest.approx(0.461995, abs=1e-6)
    for step in (-1e-2, 1e-2):  # both are minima
        assert reverse(2.984306 + step, 1.023369) > reverse(2.984306, 1.023369)
        assert reverse(2.984306, 1.023369 + step) > reverse(2.984306, 1.023369)
        assert forward(step, 10**0.5) > forward(0.0, 10**0.5) < forward(0.0, 10**0.5 + step)


# --- Anomalies ------------------------------------------------------------------------------------


def test_the_peak_is_probable_and_not_typical():
    base = Normal(0.0, 1.0)
    draws = torch.randn(2000, 100, generator=torch.Generator().manual_seed(0))
    detector = Detector.from_clean(base.log_prob(draws).sum(-1), 0.05)
    assert detector.mean_nll == pytest.approx(50 * math.log(2 * math.pi * math.e), rel=0.01)
    peak = base.log_prob(torch.zeros(1, 100)).sum(-1)
    assert not detector.improbable(peak) and detector.untypical(peak)
    far = base.log_prob(torch.full((1, 100), 3.0)).sum(-1)
    assert detector.improbable(far) and detector.untypical(far)
    fresh = base.log_prob(torch.randn(2000, 100, generator=torch.Generator().manual_seed(1))).sum(-1)
    assert detector.improbable(fresh).float().mean().item() == pytest.approx(0.05, abs=0.02)
    assert detector.untypical(fresh).float().mean().item() == pytest.approx(0.05, abs=0.02)


def test_auroc_is_that_of_scikit_learn():
    from sklearn.metrics import roc_auc_score

    generator = torch.Generator().manual_seed(0)
    clean = torch.randint(6, (50,), generator=generator).float()  # with ties
    odd = torch.randint(3, 9, (30,), generator=generator).float()
    expected = roc_auc_score([0] * 50 + [1] * 30, torch.cat([clean, odd]))
    assert auroc(clean, odd) == pytest.approx(expected)
    assert auroc(clean, clean + 10) == 1 and auroc(clean, clean) == pytest.approx(0.5)


# --- Other spaces ---------------------------------------------------------------------------------


def test_finite_sets():
    values = torch.arange(4)
    for scale in (1, 3):
        layer = ModularShift(4, scale, 1)
        x = layer.generate(values)
        assert sorted(x.tolist()) == [0, 1, 2, 3]
        assert torch.equal(layer.normalize(x), values)
        p = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
        assert p[layer.normalize(values)].sum().item() == pytest.approx(1)  # pmf of x: no Jacobian
    for scale, images in ((0, 1), (2, 2)):
        assert len({(scale * v + 1) % 4 for v in range(4)}) == images
        with pytest.raises(ValueError, match="factor"):
            ModularShift(4, scale)


def test_the_circle():
    w = 0.4 + 0.3j
    theta = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000 * 2 * math.pi
    moved, slope = moebius(theta, w)
    assert slope.mean().item() == pytest.approx(math.log(1 - abs(w) ** 2), abs=1e-9)
    assert math.log(1 - abs(w) ** 2) == pytest.approx(-0.287682, abs=1e-6)
    assert slope.exp().mean().item() == pytest.approx(1, abs=1e-9)  # once around
    step = torch.remainder(moved.diff(), 2 * math.pi) / theta.diff()
    torch.testing.assert_close(step, ((slope[1:] + slope[:-1]) / 2).exp(), rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="unit circle"):
        moebius(theta, 1 + 1j)


def test_annealing_lets_the_target_count_by_and_by():
    """A constant target moves nothing but the loss: by its share, from 1 % to the whole."""
    flows = [RealNVP((2,), layers=2, hidden=[4]) for _ in range(2)]
    flows[1].load_state_dict(flows[0].state_dict())
    constant = lambda x: x.sum(1) * 0 + 10.0  # noqa: E731
    plain, annealed = (
        fit(f, constant, steps=8, batch=16, anneal=a) for f, a in zip(flows, (0, 5), strict=True)
    )
    missing = [(b - a) / 10 for a, b in zip(plain, annealed, strict=True)]
    assert missing == pytest.approx([0.99, 0.79, 0.59, 0.39, 0.19, 0, 0, 0], abs=1e-4)


def test_of_an_annealed_posterior_the_likelihood_alone_is_tempered():
    """log p(z) counts fully at every step, and a constant likelihood of e³ by its share."""
    flows = [RealNVP((2,), layers=2, hidden=[4]) for _ in range(2)]
    flows[1].load_state_dict(flows[0].state_dict())
    prior = TOYS["two modes"].log_prior
    plain, annealed = (
        fit(f, lambda z: prior(z) + 3, steps=8, batch=16, anneal=a, start=prior)
        for f, a in zip(flows, (0, 5), strict=True)
    )
    missing = [(b - a) / 3 for a, b in zip(plain, annealed, strict=True)]
    assert missing == pytest.approx([0.99, 0.79, 0.59, 0.39, 0.19, 0, 0, 0], abs=1e-4)
