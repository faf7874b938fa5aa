"""Information, the five forms of the bound, the grid, worked examples: exact numbers, and misprints.

`LV-E…` names an erratum: the printed form is evaluated beside the right one.
"""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from modules.latent import exponential_gaussian as eg
from modules.latent.elbo import (
    FORMS,
    Grid,
    LinearGaussianPosterior,
    gaussian_entropy,
    gaussian_kl,
    log_normal,
)
from modules.latent.information import (
    Tables,
    cross_entropy,
    entropy,
    jensen_gap,
    kl,
    mutual_information,
)
from modules.latent.linear_vae import (
    directions,
    effective_variance,
    encoder_at,
    gaussian_nll,
    ppca_log_likelihood,
)
from modules.latent.taxonomy import KINDS, NONE, PROPERTIES, TABLE, VAE_OR_FLOW, YES, with_properties


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor | float, b: Tensor | float, atol: float = 1e-6) -> None:
    ours, known = (torch.as_tensor(v, dtype=torch.float64) for v in (a, b))
    torch.testing.assert_close(ours, known, rtol=0, atol=atol)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- information --------------------------------------------------------------------------------------


def test_surprise_by_hand() -> None:
    p, q = f64(0.5, 0.3, 0.2), f64(0.2, 0.2, 0.6)
    close(entropy(p), 1.029653)
    close(cross_entropy(p, q), 1.389715)
    close(kl(p, q), 0.360062)
    close(kl(q, p), 0.394816)
    narrow, wide = f64(0.5, 0.5, 0.0), f64(0.25, 0.25, 0.5)
    close(kl(narrow, wide), math.log(2))
    assert kl(wide, narrow).item() == math.inf
    close(kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)), 0.5)
    close(kl_divergence(Normal(2.0, 3.0), Normal(5.0, 3.0)), 0.5)  # x -> 3x + 2: unchanged


def test_convexity_has_the_primed_pair() -> None:
    """LV-E26, [BB] lemma 6.2(4): the last term must be KL(P′ ‖ Q′)."""
    p = q = p2 = f64(0.5, 0.5)
    q2 = f64(0.1, 0.9)
    mixed = kl(0.5 * p + 0.5 * p2, 0.5 * q + 0.5 * q2)
    close(mixed, 0.087177)
    printed, right = 0.5 * kl(p, q) + 0.5 * kl(p, q), 0.5 * kl(p, q) + 0.5 * kl(p2, q2)
    assert printed == 0 < mixed <= right


def test_jensen() -> None:
    die = torch.arange(1, 7).double()
    weights = torch.full((6,), 1 / 6, dtype=torch.float64)
    close((weights @ die).log(), 1.252763)
    close(weights @ die.log(), 1.096542)
    close(jensen_gap(die, weights), 1.252763 - 1.096542)
    assert jensen_gap(torch.full((6,), 3.0, dtype=torch.float64), weights).item() == pytest.approx(
        0, abs=1e-15
    )
    u = (torch.arange(100_000).double() + 0.5) / 100_000
    even = torch.full_like(u, 1e-5)
    close((even @ u).log(), -0.693147)
    close(even @ u.log(), -1.0, 1e-4)
    z = torch.linspace(-12, 12, 20_001, dtype=torch.float64)
    normal = log_normal(z, 0.3, 0.49).exp()
    close(jensen_gap(z.exp(), normal / normal.sum()), 0.49 / 2)


BINARY = Tables(f64(0.7, 0.3), f64(0.5, 0.5), f64([[0.9, 0.1], [0.4, 0.6]]), f64([[0.8, 0.2], [0.1, 0.9]]))


def test_two_kls() -> None:
    result = BINARY.two_kls()
    close(BINARY.elbo(), f64(-0.460291, -1.058066))
    close(result["negative_elbo"], 0.639624)
    close(result["joint"], 0.028759)
    close(result["marginal"], 0.005630)
    close(result["posterior"], 0.023129)
    close(result["entropy"], 0.610864)
    close(result["information"], 0.229052)
    close(result["aggregated"], 0.016289)
    close(result["rate"], 0.245341)
    close(result["joint"], result["marginal"] + result["posterior"], 1e-12)
    close(result["rate"], result["information"] + result["aggregated"], 1e-12)


def test_the_identity_needs_the_entropy_of_the_data() -> None:
    """LV-E1, [GM] 3.40–3.41: E[−ELBO] is the joint KL plus H(q_D), not the joint KL."""
    result = BINARY.two_kls()
    close(result["negative_elbo"], result["joint"] + result["entropy"], 1e-12)
    assert abs(result["negative_elbo"] - result["joint"]) > 0.6


def test_without_the_information_it_is_no_lower_bound() -> None:
    """LV-E2, [GM] problem 3.1(a): what is left without I_q exceeds −H(q_D), which no ELBO can."""
    result = BINARY.two_kls()
    printed = -result["negative_elbo"] + result["information"]
    close(printed, -0.410572)
    assert -result["negative_elbo"] < -result["entropy"] < printed


def test_a_decoder_that_ignores_z_reaches_the_entropy() -> None:
    """LV-E3, [GM] problem 3.1(c) "a Gaussian prior cannot reach −H": a free decoder can, q = prior."""
    data = f64(0.7, 0.3)
    free = Tables(data, f64(0.5, 0.5), data.expand(2, 2), f64([[0.5, 0.5], [0.5, 0.5]]))
    close(free.data @ free.elbo(), -entropy(data), 1e-12)
    # and a linear-Gaussian one on other data cannot: the gap is the KL to the best Gaussian
    z = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    width = z[1] - z[0]
    p = 0.5 * log_normal(z, -2.0, 0.25).exp() + 0.5 * log_normal(z, 2.0, 0.25).exp()
    best = log_normal(z, 0.0, 4.25)
    assert (p * (p.log() - best)).sum() * width > 0.5


def test_the_bound_cannot_tell_collapse_from_use() -> None:
    """Data 00 and 11: by an autoregressive decoder with z ignored, or by factors with z used."""
    data = f64(0.5, 0.5)  # of the two pictures that there are
    ignored = Tables(data, f64(0.5, 0.5), data.expand(2, 2), f64([[0.5, 0.5], [0.5, 0.5]]))
    used = Tables(data, f64(0.5, 0.5), torch.eye(2).double(), torch.eye(2).double())
    for tables, rate in ((ignored, 0.0), (used, math.log(2))):
        close(data @ tables.elbo(), -math.log(2), 1e-12)
        close(tables.two_kls()["rate"], rate, 1e-12)
        close(tables.two_kls()["information"], rate, 1e-12)
    close(mutual_information(f64([[0.25, 0.25], [0.25, 0.25]])), 0.0)


# --- the five forms -------------------------------------------------------------------------------------

ONE = LinearGaussianPosterior(f64([[2.0]]), 1.0)
X1 = f64([1.0])
QS = [  # mean, variance, ELBO, gap
    (0.4, 0.2, -1.823657, 0.0),
    (0.0, 1.0, -3.418939, 1.595281),
    (0.0, 0.2, -2.223657, 0.4),
    (0.5, 0.25, -1.862086, 0.038428),
]


@pytest.mark.parametrize(("mean", "variance", "elbo", "gap"), QS)
def test_five_forms_of_one_number(mean: float, variance: float, elbo: float, gap: float) -> None:
    m, v = f64([mean]), f64([[variance]])
    close(ONE.log_prob(X1), -1.823657)
    forms = ONE.forms(X1, m, v)
    assert "".join(forms) == FORMS
    for value in forms.values():
        close(value, elbo)
        close(value, forms["A"], 1e-12)
    close(ONE.gap(X1, m, v), gap)
    close(forms["C"] + ONE.gap(X1, m, v), ONE.log_prob(X1), 1e-12)
    # on a grid: the same, by sums
    grid = Grid.of(lambda z: log_normal(z, 0.0, 1.0) + log_normal(X1, 2 * z, 1.0), -10, 10)
    on_grid = grid.forms(log_normal(grid.z, mean, variance), log_normal(grid.z, 0.0, 1.0))
    for value in on_grid.values():
        close(value, elbo)
    close(grid.gap(log_normal(grid.z, mean, variance)), gap)


def test_parts_of_the_bound() -> None:
    m, v = f64([0.4]), f64([[0.2]])
    close(ONE.reconstruction(X1, m, v), -1.338939)
    close(ONE.rate(m, v), 0.484719)
    close(ONE.energy(X1, f64([0.5]), f64([[0.25]])), -2.587877)
    close(gaussian_entropy(f64([[0.25]])), 0.725791)
    posterior = ONE.posterior(X1)
    close(posterior[0], m)
    close(posterior[1], v)


def test_beta_below_one_is_no_bound() -> None:
    m, v = f64([0.4]), f64([[0.2]])
    close(ONE.elbo(X1, m, v, beta=0.5), -1.581298)
    assert ONE.elbo(X1, m, v, beta=0.5) > ONE.log_prob(X1)
    for beta in (1.0, 1.5, 4.0):
        assert ONE.elbo(X1, m, v, beta) <= ONE.log_prob(X1) + 1e-12
    # LV-E18, [UDL] 17.30 writes ELBO ≈ … with β: it is the ELBO only for β = 1
    assert abs(ONE.elbo(X1, m, v, 2.0) - ONE.elbo(X1, m, v)) > 0.4


def test_sampled_and_analytic_estimators_agree() -> None:
    w = f64([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    model, x = LinearGaussianPosterior(w, 0.5), f64(1.0, 2.0, -1.0)
    m, v = f64(0.1, 0.3), f64(0.4, 0.2).diag()
    z = m + torch.randn(200_000, 2, generator=seeded(), dtype=torch.float64) * v.diagonal().sqrt()
    log_w = model.log_weights(x, m, v, z)
    sampled = log_w.mean()
    assert abs(sampled - model.elbo(x, m, v)) < 4 * log_w.std() / math.sqrt(len(z))
    # [BB] approach 0 divides a sum of M terms by N: the factor is 1/M (LV-E25)
    assert abs(log_w.sum() / (2 * len(z)) - model.elbo(x, m, v)) > 1


def test_posterior_of_two_latents() -> None:
    w = f64([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    model, x = LinearGaussianPosterior(w, 0.5), f64(1.0, 2.0, -1.0)
    mean, covariance = model.posterior(x)
    close(model.log_prob(x), -4.953642)
    close(mean, f64(-0.571429, 1.428571))
    close(covariance, f64([[0.238095, -0.095238], [-0.095238, 0.238095]]))
    close(model.elbo(x, mean, f64(0.2, 0.2).diag()), -5.040818)
    close(model.elbo(x, mean, covariance.diagonal().diag()), -5.056941)
    close(model.elbo(x, mean, covariance), model.log_prob(x), 1e-12)
    # one affine autoregressive layer reaches the posterior; the wrong sign of log det does not
    root = f64([[0.487950, 0.0], [-0.195180, 0.447214]])
    close(root @ root.T, covariance, 1e-5)
    energy, log_det = model.energy(x, mean, root @ root.T), torch.linalg.slogdet(root).logabsdet
    base = gaussian_entropy(torch.eye(2).double())
    close(energy + base + log_det, -4.953642, 1e-5)
    assert abs(energy + base - log_det + 4.953642) > 1


def test_sign_and_direction_of_the_kl() -> None:
    """LV-E22, [BB] approach 2 prints + KL(p_Z ‖ q) in the bound: it then exceeds log p(x)."""
    model, x = LinearGaussianPosterior(f64([[1.0]]), 1.0), f64([1.5])
    mean, covariance = model.posterior(x)
    close(model.log_prob(x), -1.828012)
    reverse = gaussian_kl(f64([0.0]), f64([[1.0]]), mean, covariance)
    printed = model.reconstruction(x, mean, covariance) + reverse
    close(printed, -0.734262)
    assert printed > model.log_prob(x)
    close(model.reconstruction(x, mean, covariance) - model.rate(mean, covariance), model.log_prob(x), 1e-12)


GAUSSIAN_KLS = [
    ((0.0,), (1.0,), 0.0),
    ((1.0,), (1.0,), 0.5),
    ((1.0,), (0.25,), 0.818147),
    ((0.0,), (0.25,), 0.318147),
    ((0.0,), (0.5,), 0.096574),
    ((2.0,), (1.0,), 2.0),
    ((0.0,), (math.e,), 0.359141),
    ((1.0, -2.0), (0.5, 2.0), 2.75),
    ((0.5, -1.0, 2.0), (0.1, 1.0, 4.0), 4.133145),
]


@pytest.mark.parametrize(("mean", "variance", "known"), GAUSSIAN_KLS)
def test_kl_of_gaussians(mean: tuple[float, ...], variance: tuple[float, ...], known: float) -> None:
    m, v = torch.tensor(mean).double(), torch.tensor(variance).double()
    zeros, eye = torch.zeros_like(m), torch.eye(len(m)).double()
    close(gaussian_kl(m, v.diag(), zeros, eye), known)
    close(
        gaussian_kl(m, v.diag(), zeros, eye),
        kl_divergence(Normal(m, v.sqrt()), Normal(zeros, eye[0, 0])).sum(),
    )


def test_kl_of_correlated_gaussians_and_the_reverse() -> None:
    zeros, eye = f64(0.0, 0.0), torch.eye(2).double()
    close(gaussian_kl(zeros, f64([[1.0, 0.8], [0.8, 1.0]]), zeros, eye), 0.510826)
    zero, one = f64([0.0]), f64([[1.0]])
    close(gaussian_kl(zero, one, zero, f64([[0.5]])), 0.153426)
    close(gaussian_kl(zero, one, f64([1.0]), f64([[0.25]])), 2.806853)
    # LV-E23, [BB] ex. 6.8 has the sign of log σ²: −.596574 for (0, .5), and a KL is never negative
    close(0.5 * (math.log(0.5) + 0.5 - 1), -0.596574)


# --- the grid -------------------------------------------------------------------------------------------


def test_grid_posterior_of_a_gaussian() -> None:
    grid = Grid.of(lambda z: log_normal(z, 0.0, 1.0) + log_normal(X1, 2 * z, 1.0), -10, 10)
    close(grid.posterior.sum() * grid.width, 1.0, 1e-12)
    close(grid.log_prob, -1.823657)
    close(grid.posterior, log_normal(grid.z, 0.4, 0.2).exp(), 1e-9)


# --- exponential and Gaussian -----------------------------------------------------------------------------


def test_exponential_gaussian_bound() -> None:
    one = f64(1.0)
    close(eg.elbo(one, one, one), -1.418939)
    close(eg.log_evidence(one, one), -1.193147)
    x = f64(1.0, 2.0, 3.0)
    at, value = eg.optimum(x)
    close(at, 2 / x)
    close(value, f64(-1.168939, -1.918939, -3.168939))
    close(eg.elbo(at, at, x), value, 1e-12)
    close(eg.log_evidence(at, x), f64(-1.147874, -1.672754, -2.193107))
    for number, theta in ((1.0, 1.679567), (2.0, 0.657774), (3.0, 0.379770)):
        close(eg.maximum_likelihood(number), theta)
    for other in (0.9, 1.1):  # a maximum
        assert (eg.elbo(other * at, at, x) < value).all() and (eg.elbo(at, other * at, x) < value).all()


def test_exponential_gaussian_evidence_is_the_integral() -> None:
    theta, x = f64(0.7), f64(1.3)
    z = torch.linspace(0, 25, 400_001, dtype=torch.float64)
    p = theta * (-theta * z).exp() * log_normal(x, z, 1.0).exp()
    close(torch.trapezoid(p, z).log(), eg.log_evidence(theta, x), 1e-8)
    phi = f64(0.9)
    q = phi * (-phi * z).exp()
    close(torch.trapezoid(q * (p.log() - q.log()), z), eg.elbo(theta, phi, x), 1e-6)


def test_printed_exponential_bound_breaks() -> None:
    """LV-E20, [BB] ex. 6.7 takes E z² = 1/φ²; LV-E21: its optimum is the ELBO's, not maximum likelihood."""
    one = f64(1.0)
    close(eg.printed_elbo(one, one, one), -0.918939)
    assert eg.printed_elbo(one, one, one) > eg.log_evidence(one, one) > eg.elbo(one, one, one)
    best, _ = eg.optimum(one)
    assert eg.elbo(best, best, one) > eg.elbo(one, one, one)  # 2/x, not 1/x
    assert abs(float(best) - eg.maximum_likelihood(1.0)) > 0.3


def test_raising_the_bound_can_lower_the_evidence() -> None:
    """LV-E15, [UDL] 17.4 "increase the log-likelihood by improving the ELBO": not where it is loose."""
    phi, x = f64(1.0), f64(1.0)
    before, after = f64(1.68), f64(1.0)
    close(f64(eg.elbo(before, phi, x), eg.elbo(after, phi, x)), f64(-1.580145, -1.418939))
    close(f64(eg.log_evidence(before, x), eg.log_evidence(after, x)), f64(-1.143316, -1.193147))


def test_no_maximum_for_negative_x() -> None:
    x, theta = f64(-1.0), f64(1.0)
    values = eg.elbo(theta, f64(1.0, 10.0, 100.0, 1000.0), x)
    assert values[-1] != values.max() or (values.diff() > 0).all()
    best = torch.stack([eg.elbo(p, p, x) for p in f64(1.0, 10.0, 100.0, 1000.0)])
    assert (best.diff() > 0).all()
    for call in (lambda: eg.optimum(x), lambda: eg.maximum_likelihood(-1.0)):
        with pytest.raises(ValueError, match="x must be positive"):
            call()


# --- the linear VAE ---------------------------------------------------------------------------------------


def test_what_beta_keeps() -> None:
    values = f64(4.0, 1.0)
    kept, w2, rate = directions(values, 0.5)
    assert kept.tolist() == [True, True]
    close(w2, f64(3.5, 0.5))
    close(rate, f64(1.039721, 0.346574))
    kept, w2, rate = directions(values, 0.5, beta=4.5)
    assert kept.tolist() == [True, False]
    close(w2, f64(1.75, 0.0))
    close(rate, f64(0.287682, 0.0))
    assert directions(f64(1.0, 1.0), 0.5, beta=2.0).kl.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("beta", [0.25, 1.0, 2.0])
def test_what_beta_keeps_is_what_training_finds(beta: float) -> None:
    """The loss of a one-dimensional linear VAE, minimised by gradient: it lands on the formula."""
    for value in (4.0, 1.0, 0.4):
        at = torch.tensor([0.7, 0.3, -0.5], dtype=torch.float64, requires_grad=True)  # w, encoder, log v
        optimizer = torch.optim.LBFGS([at], max_iter=300, line_search_fn="strong_wolfe", tolerance_change=0)

        def loss(
            at: Tensor = at, optimizer: torch.optim.Optimizer = optimizer, value: float = value
        ) -> Tensor:
            optimizer.zero_grad()
            w, e, v = at[0], at[1], at[2].exp()
            error = value * (1 - w * e) ** 2 + w**2 * v  # E (x − w z)² with x of variance `value`
            rate = 0.5 * (v + e**2 * value - 1 - at[2])
            total = error / (2 * 0.5) + beta * rate
            total.backward()
            return total

        optimizer.step(loss)  # type: ignore[arg-type]
        result = directions(f64([value]), 0.5, beta)
        close(at[0].detach().square(), result.w2[0], 1e-3)


def test_best_encoder_at_weights() -> None:
    for beta, known in ((1, (0.4, 0.2)), (4, (0.25, 0.5)), (25, (0.068966, 0.862069))):
        close(f64(*encoder_at(2.0, 1.0, 1.0, beta)), f64(*known))


def test_the_noise_that_a_loss_really_has() -> None:
    assert effective_variance(784, 20, "sum", "sum") == 0.5
    assert effective_variance(784, 20, "mean", "sum") == pytest.approx(392)
    assert effective_variance(784, 20, "mean", "mean") == pytest.approx(19.6)
    close(gaussian_nll(10.0, 0.1, 784), -132.1655, 1e-4)
    close(gaussian_nll(10.0, 0.5, 784), 458.7341, 1e-4)


def test_linear_vae_reaches_ppca() -> None:
    close(ppca_log_likelihood(f64(4.0, 1.0, 0.25), 1), -4.479959)


# --- the map of models --------------------------------------------------------------------------------------


def test_no_family_has_all_six() -> None:
    assert len(PROPERTIES) == 6
    assert TABLE == {
        "GAN": ("✓", "✓", "✗", "✓", "?", "n/a"),
        "VAE": ("✓", "✗", "?", "✓", "?", "✗"),
        "flow": ("✓", "✗", "?", "✓", "?", "✓"),
        "diffusion": ("✗", "✓", "?", "✗", "✗", "✗"),
    }
    assert not [f for f, row in TABLE.items() if set(row) == {YES}] and TABLE["GAN"][-1] == NONE
    assert with_properties("efficient sampling", "efficient likelihood") == ["flow"]
    assert with_properties("sample quality") == ["GAN", "diffusion"]
    assert len(VAE_OR_FLOW) == 7


def test_sets_of_models_lie_in_each_other() -> None:
    assert all(kind.generative for kind in KINDS.values() if kind.probabilistic)
    latent_only = {name for name, kind in KINDS.items() if kind.latent and not kind.generative}
    assert latent_only == {"k-means", "PCA", "autoencoder"}
    assert KINDS["GAN"].generative and not KINDS["GAN"].probabilistic
    assert not KINDS["autoregressive"].latent and KINDS["autoregressive"].probabilistic
    assert [name for name, kind in KINDS.items() if not kind.normalised] == ["energy-based"]
