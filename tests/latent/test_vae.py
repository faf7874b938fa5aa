"""The VAE against exact answers: closed forms, linear-Gaussian models, and known numbers.

A linear-Gaussian VAE (no hidden layer) has an exact log p(x) = N(b, WWᵀ + σ²I), so it referees
every bound. Its reconstruction term is quadratic in the noise, so the two-point noise ±1 gives the
expectation exactly.
"""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence

from modules.base import Latent, Sampler
from modules.latent.bounds import CHUNK, gaussian_kl, gaussian_log_prob, reparameterize
from modules.latent.vae import VAE, kl_weight


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def linear_vae(w: Tensor, variance: float, mean: Tensor, q_variance: Tensor, beta: float = 1.0) -> VAE:
    """p(x|z) = N(w z, variance I) with q(z|x) = N(mean, q_variance) for every x; float64."""
    d, k = w.shape
    vae = VAE((d,), k, [], decoder="gaussian", sigma=math.sqrt(variance), beta=beta).double()
    vae.decoder_log_var.fill_(math.log(variance))  # in float64, without float32's rounding
    with torch.no_grad():
        vae.decoder[0].weight.copy_(w)
        vae.decoder[0].bias.zero_()
        vae.encoder[0].weight.zero_()
        vae.encoder[0].bias.copy_(torch.cat([mean, q_variance.log()]))
    return vae


def two_points(batch: int, k: int) -> Tensor:
    """Noise whose averages of products up to the second order are those of N(0, I): (2ᵏ, batch, k)."""
    corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * k).reshape(-1, 1, k)
    return corners.expand(-1, batch, -1)


def exact_log_prob(vae: VAE, x: Tensor) -> Tensor:
    w, b = vae.decoder[0].weight, vae.decoder[0].bias
    covariance = w @ w.T + vae.decoder_log_var.exp() * torch.eye(len(w), dtype=w.dtype)
    return MultivariateNormal(b, covariance).log_prob(x)


def f64(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


# --- KL -------------------------------------------------------------------------------------------

KNOWN_KL = [  # mean, variance, KL to N(0, 1)
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


@pytest.mark.parametrize(("mean", "variance", "answer"), KNOWN_KL)
def test_kl_is_the_known_one_and_torchs(mean, variance, answer):
    mean, variance = f64(*mean), f64(*variance)
    ours = gaussian_kl(mean, variance.log())
    reference = kl_divergence(Normal(mean, variance.sqrt()), Normal(torch.zeros_like(mean), 1.0))
    assert torch.allclose(ours, reference, atol=1e-12)
    assert ours.sum().item() == pytest.approx(answer, abs=1e-6)


def test_kl_against_monte_carlo():
    torch.manual_seed(0)
    mean, log_var = f64(1.0, -2.0), f64(0.5, 2.0).log()
    z = reparameterize(mean, log_var, torch.randn(200_000, 2, dtype=torch.float64))
    draws = (gaussian_log_prob(z, mean, log_var) - gaussian_log_prob(z, 0 * mean, 0 * log_var)).sum(-1)
    error = draws.std() / math.sqrt(len(draws))
    assert abs(draws.mean() - gaussian_kl(mean, log_var).sum()) < 4 * error


def test_printed_kl_of_bb_is_wrong():
    """½(log σ² + σ² + μ² − 1), as printed, is negative for N(0, ½): no KL can be."""
    mean, log_var = f64(0.0), f64(0.5).log()
    printed = 0.5 * (log_var + log_var.exp() + mean**2 - 1)
    assert printed.item() == pytest.approx(-0.596574, abs=1e-6)
    assert gaussian_kl(mean, log_var).item() == pytest.approx(0.096574, abs=1e-6)


# --- Reparameterisation ---------------------------------------------------------------------------


def test_density_of_a_reparameterised_draw():
    """In the noise: log N(z; μ, σ²) = log p(ε) − Σ log σ_j."""
    torch.manual_seed(0)
    mean, log_var = torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    noise = torch.randn(5, 3, dtype=torch.float64)
    z = reparameterize(mean, log_var, noise)
    ours = gaussian_log_prob(z, mean, log_var).sum(-1)
    change = gaussian_log_prob(noise, 0 * mean, 0 * mean).sum(-1) - 0.5 * log_var.sum(-1)
    reference = Independent(Normal(mean, (0.5 * log_var).exp()), 1).log_prob(z)
    assert torch.allclose(ours, change, atol=1e-12)
    assert torch.allclose(ours, reference, atol=1e-12)


def test_noise_scale_is_sigma_not_variance():
    """The gradient: g = μ + ε σ, where [BB] prints ε σ²."""
    assert reparameterize(f64(0.0), f64(4.0).log(), f64(1.0)).item() == pytest.approx(2.0)


@pytest.mark.parametrize(("at", "truth", "variance"), [(0.75, 0.0, 0.5), (0.3, 0.9, 0.5)])
def test_pathwise_gradient(at, truth, variance):
    """Gradient in μ of the ELBO with analytic KL, x = z + N(0,1), x = 1.5, q variance ½."""
    torch.manual_seed(0)
    n = 100_000
    vae = linear_vae(f64(1.0).view(1, 1), 1.0, f64(at), f64(0.5))
    mean = torch.full((n, 1), at, dtype=torch.float64, requires_grad=True)
    vae.encode_parameters = lambda x: (mean, torch.full_like(mean, math.log(0.5)))
    vae.elbo(torch.full((n, 1), 1.5, dtype=torch.float64)).sum().backward()
    gradients = mean.grad.squeeze()
    assert abs(gradients.mean() - truth) < 4 * math.sqrt(variance / n)
    assert gradients.var().item() == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("decoder", ["bernoulli", "gaussian"])
def test_gradients_against_finite_differences(decoder):
    """With the noise held fixed, autograd equals central differences in every parameter."""
    torch.manual_seed(0)
    noise = {"sigma": 0.7, "learn_sigma": True} if decoder == "gaussian" else {}
    vae = VAE((4,), 2, [3], "tanh", decoder, **noise).double()
    x = torch.bernoulli(torch.full((5, 4), 0.5, dtype=torch.float64))
    noise = torch.randn(3, 5, 2, dtype=torch.float64)

    def loss() -> Tensor:
        return -vae.elbo_terms(x, noise=noise).elbo(beta=1.5).mean()

    loss().backward()
    step = 1e-5
    for parameter in vae.parameters():
        flat = parameter.data.view(-1)
        for i in range(0, len(flat), 3):
            old = flat[i].item()
            flat[i] = old + step
            up = loss().item()
            flat[i] = old - step
            down = loss().item()
            flat[i] = old
            assert parameter.grad.view(-1)[i].item() == pytest.approx((up - down) / (2 * step), abs=1e-6)


# --- The bound ------------------------------------------------------------------------------------

O24 = [  # q's mean and variance, reconstruction, KL, ELBO
    (0.4, 0.2, -1.338939, 0.484719, -1.823657),
    (0.0, 1.0, None, 0.0, -3.418939),
    (0.0, 0.2, None, None, -2.223657),
    (0.5, 0.25, None, None, -1.862086),
]


@pytest.mark.parametrize(("mean", "variance", "rec", "kl", "elbo"), O24)
def test_elbo_of_known_guesses(mean, variance, rec, kl, elbo):
    """x = 2z + N(0,1), x = 1, log p = −1.823657."""
    vae, x = linear_vae(f64(2.0).view(1, 1), 1.0, f64(mean), f64(variance)), f64(1.0).view(1, 1)
    parts = vae.elbo_terms(x, noise=two_points(1, 1))
    assert exact_log_prob(vae, x).item() == pytest.approx(-1.823657, abs=1e-6)
    assert parts.elbo().item() == pytest.approx(elbo, abs=1e-6)
    if rec is not None:
        assert parts.reconstruction.item() == pytest.approx(rec, abs=1e-6)
    if kl is not None:
        assert parts.kl.sum().item() == pytest.approx(kl, abs=1e-6)
    # ELBO + KL(q ‖ posterior) = log p
    gap = kl_divergence(Normal(f64(mean), f64(variance).sqrt()), Normal(f64(0.4), f64(0.2).sqrt()))
    assert (parts.elbo() + gap).item() == pytest.approx(-1.823657, abs=1e-6)


def test_beta_below_one_is_no_bound():
    """The exact posterior with β = ½ gives −1.581298, above log p."""
    vae, x = linear_vae(f64(2.0).view(1, 1), 1.0, f64(0.4), f64(0.2)), f64(1.0).view(1, 1)
    parts = vae.elbo_terms(x, noise=two_points(1, 1))
    assert parts.elbo(0.5).item() == pytest.approx(-1.581298, abs=1e-6)
    assert parts.elbo(0.5) > exact_log_prob(vae, x)
    assert parts.elbo(4.0) < parts.elbo(1.0) < exact_log_prob(vae, x) + 1e-9


def test_linear_reconstruction_closed_form():
    """E_q log p(x|z) = −½ d log 2πσ² − (‖x − Wm‖² + tr W diag(v) Wᵀ) / 2σ²."""
    torch.manual_seed(0)
    w, mean, v = torch.randn(3, 2, dtype=torch.float64), f64(0.3, -1.0), f64(0.4, 1.7)
    vae, x = linear_vae(w, 0.6, mean, v), torch.randn(1, 3, dtype=torch.float64)
    closed = -1.5 * math.log(2 * math.pi * 0.6) - ((x[0] - w @ mean).square().sum() + (w**2 @ v).sum()) / 1.2
    parts = vae.elbo_terms(x, noise=two_points(1, 2))
    assert parts.reconstruction.item() == pytest.approx(closed.item(), abs=1e-9)


def test_both_estimators_agree_in_mean():
    """The mean of log p(x,z) − log q(z|x) is that of the form with the KL in closed form."""
    torch.manual_seed(0)
    vae = linear_vae(torch.randn(3, 2, dtype=torch.float64), 0.6, f64(0.3, -1.0), f64(0.4, 1.7))
    x = torch.randn(1, 3, dtype=torch.float64)
    weights = vae.log_weights(x, 100_000).squeeze()
    exact = vae.elbo_terms(x, noise=two_points(1, 2)).elbo()
    assert abs(weights.mean() - exact) < 4 * weights.std() / math.sqrt(len(weights))


def test_mean_field_gap():
    """The best diagonal q misses a correlated posterior by .087177 nats."""
    w = f64(1, 1, 0, 1, 1, 0).view(3, 2)
    x = f64(1, 2, -1).view(1, 3)
    best = linear_vae(w, 0.5, f64(-0.5714285714, 1.4285714286), f64(0.2, 0.2))
    assert exact_log_prob(best, x).item() == pytest.approx(-4.953642, abs=1e-6)
    assert best.elbo_terms(x, noise=two_points(1, 2)).elbo().item() == pytest.approx(-5.040818, abs=1e-6)
    # an encoder that answers short of the best
    encoder = linear_vae(w, 0.5, 0.9 * f64(-0.5714285714, 1.4285714286), f64(0.3, 0.3))
    assert encoder.elbo_terms(x, noise=two_points(1, 2)).elbo().item() == pytest.approx(-5.178210, abs=1e-6)


# --- Importance weighting -------------------------------------------------------------------------

O44 = {  # samples: (O25's model, O24's model), q = prior
    1: (-2.543939, -3.418939),
    2: (-2.099515, -2.302251),
    5: (-1.909696, -1.932968),
    10: (-1.865017, -1.869874),
    50: (-1.834921, -1.832047),
    500: (-1.828693, -1.824481),
}


@pytest.mark.parametrize("samples", O44)
@pytest.mark.parametrize("model", [0, 1])
def test_iwae_with_the_prior_as_guess(samples, model):
    """L_S for S = 1 ... 500 when q is the prior, within 4 standard errors."""
    torch.manual_seed(samples)
    w, x = [(1.0, 1.5), (2.0, 1.0)][model]
    vae, repeats = linear_vae(f64(w).view(1, 1), 1.0, f64(0.0), f64(1.0)), 200_000 // samples
    bounds = vae.iwae(f64(x).expand(repeats, 1), samples)
    error = bounds.std() / math.sqrt(repeats)
    assert abs(bounds.mean() - O44[samples][model]) < 4 * error + 1e-6


def test_iwae_with_the_exact_posterior_has_no_variance():
    vae, x = linear_vae(f64(2.0).view(1, 1), 1.0, f64(0.4), f64(0.2)), f64(1.0).expand(50, 1)
    for samples in (1, 7):
        assert torch.allclose(vae.iwae(x, samples), exact_log_prob(vae, x), atol=1e-12)


def test_elbo_below_iwae_below_log_prob():
    """For a linear-Gaussian VAE with a wrong encoder, on average over the noise."""
    torch.manual_seed(0)
    vae = linear_vae(torch.randn(5, 2, dtype=torch.float64), 0.5, f64(0.2, -0.3), f64(0.6, 1.4))
    x = exact_samples(vae, 4)
    truth = exact_log_prob(vae, x)
    elbo = vae.elbo_terms(x, noise=two_points(4, 2)).elbo()
    averages = [
        torch.stack([vae.iwae(x, s) for _ in range(400)]).mean(0) for s in (5, 50)
    ]  # standard errors below the differences asked for
    assert (elbo < averages[0]).all()
    assert (averages[0] < averages[1]).all()
    assert (averages[1] < truth).all()
    assert (truth - averages[1] < 0.5 * (truth - elbo)).all()


def exact_samples(vae: VAE, n: int) -> Tensor:
    return vae.sample(n, generator=seeded(3)).double()


def test_iwae_survives_tiny_weights():
    """Weights of log w about −2000 and far below leave logsumexp finite."""
    vae = linear_vae(f64(1.0).view(1, 1), 1.0, f64(0.0), f64(1.0))
    bound = vae.iwae(f64(300.0).view(1, 1), 20)
    assert torch.isfinite(bound).all()
    assert bound.item() < -2000


@pytest.mark.parametrize(("samples", "mean", "deviation"), [(1, 0.902, 1.786), (5, 0.122, 0.710)])
def test_iwae_encoder_gradient(samples, mean, deviation):
    """The encoder's signal fades with S faster than its noise, which is not "higher variance"."""
    torch.manual_seed(0)
    n = 100_000
    vae = linear_vae(f64(1.0).view(1, 1), 1.0, f64(0.3), f64(0.8))
    mu = torch.full((n, 1), 0.3, dtype=torch.float64, requires_grad=True)
    vae.encode_parameters = lambda x: (mu, torch.full_like(mu, math.log(0.8)))
    vae.iwae(torch.full((n, 1), 1.5, dtype=torch.float64), samples).sum().backward()
    assert mu.grad.mean().item() == pytest.approx(mean, rel=0.1)
    assert mu.grad.std().item() == pytest.approx(deviation, rel=0.1)


def test_chunks_change_nothing(monkeypatch):
    """The memory bound is no approximation: any chunk size gives the same numbers of the same noise."""
    torch.manual_seed(0)
    vae, x = VAE((6,), 2, [5]).double(), torch.bernoulli(torch.full((7, 6), 0.5, dtype=torch.float64))
    noise = torch.randn(11, 7, 2, dtype=torch.float64)
    largest = 0

    def weights() -> Tensor:
        nonlocal largest
        used = torch.zeros(7, dtype=torch.long)

        def serve(s, b, generator):
            nonlocal largest
            largest = max(largest, s * b * 6)
            start = int((used < 11).nonzero()[0])  # the first row that lacks samples
            out = noise[used[start] : used[start] + s, start : start + b]
            used[start : start + b] += s
            return out

        vae._noise = serve
        return vae.log_weights(x, 11)

    whole = weights()
    assert largest == 11 * 7 * 6
    monkeypatch.setattr("modules.latent.bounds.CHUNK", 40)
    largest = 0
    assert torch.allclose(weights(), whole, atol=1e-12)
    assert largest <= 40
    assert CHUNK >= 784 * 128  # a test batch of digits goes through in one piece


# --- Bernoulli and Gaussian decoders --------------------------------------------------------------


def test_zero_logits_cost_log_two_a_pixel():
    """784 log 2 = 543.427390 nats; an untrained net is within 2 %, its KL below .2."""
    torch.manual_seed(0)
    vae, x = VAE(), torch.bernoulli(torch.full((64, 784), 0.13))
    untrained = vae.elbo_terms(x)
    assert -untrained.reconstruction.mean().item() == pytest.approx(784 * math.log(2), rel=0.02)
    assert untrained.kl.sum(-1).mean() < 0.2
    with torch.no_grad():
        vae.decoder[-1].weight.zero_()
        vae.decoder[-1].bias.zero_()
    exact = vae.double().elbo_terms(x.double()).reconstruction
    assert torch.allclose(-exact, torch.full_like(exact, 543.427390), atol=1e-6)


def test_likelihood_sums_over_pixels_and_loss_averages_over_the_batch():
    torch.manual_seed(0)
    vae, x = VAE((6,), 2, [5]).double(), torch.bernoulli(torch.full((4, 6), 0.5, dtype=torch.float64))
    noise = torch.randn(1, 4, 2, dtype=torch.float64)
    one = -vae.elbo_terms(x, noise=noise).elbo().mean()
    twice = -vae.elbo_terms(torch.cat([x, x]), noise=torch.cat([noise, noise], 1)).elbo().mean()
    assert torch.allclose(one, twice, atol=1e-12)


@pytest.mark.parametrize("extreme", [200.0, -200.0])
def test_bernoulli_never_underflows(extreme):
    vae = VAE((3,), 1, []).double()
    with torch.no_grad():
        vae.decoder[0].weight.zero_()
        vae.decoder[0].bias.fill_(extreme)
    x = f64(1, 0, 1).view(1, 3)
    wrong = (x == float(extreme < 0)).sum().item()
    assert vae.log_likelihood(x, torch.zeros(1, 1, dtype=torch.float64)).item() == pytest.approx(
        -200.0 * wrong
    )


def test_bernoulli_sums_to_one():
    """Σ over all x of exp log p(x|z) = 1."""
    torch.manual_seed(0)
    vae = VAE((4,), 2, [3]).double()
    everything = torch.cartesian_prod(*[f64(0, 1)] * 4)  # (16, 4)
    z = torch.randn(1, 2, dtype=torch.float64).expand(16, 2)
    assert vae.log_likelihood(everything, z).exp().sum().item() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("variance", "answer"), [(0.1, -132.1655), (0.5, 458.7341)])
def test_gaussian_likelihood_keeps_its_constants(variance, answer):
    """For d = 784, squared error 10. Without log 2πσ² the weight of the KL is silently another."""
    x = torch.zeros(784, dtype=torch.float64)
    mean = torch.full_like(x, math.sqrt(10 / 784))
    log_var = f64(math.log(variance))
    assert -gaussian_log_prob(x, mean, log_var).sum().item() == pytest.approx(answer, abs=1e-4)
    vae = linear_vae(mean.view(784, 1), variance, f64(0.0), f64(1.0))
    assert -vae.log_likelihood(x.view(1, -1), f64(1.0).view(1, 1)).item() == pytest.approx(answer, abs=1e-4)


@pytest.mark.parametrize(
    ("event", "k", "hidden", "count"),
    [
        (784, 20, [400], 652_824),
        (784, 50, [200, 200], 425_284),
        (784, 2, [256], 404_244),
        (64, 2, [64], 8_772),
    ],
)
def test_parameter_counts(event, k, hidden, count):
    assert VAE((event,), k, hidden).num_parameters == count


# --- Training -------------------------------------------------------------------------------------


def spectrum_data() -> Tensor:
    """Six points with covariance diag(4, 1, ¼) exactly."""
    axes = (3 * f64(4.0, 1.0, 0.25)).sqrt().diag()
    return torch.cat([axes, -axes])


def train_linear(beta: float, sigma: float, learn_sigma: bool, k: int) -> VAE:
    """Full-batch Adam on the exact bound (two-point noise is exact for a linear decoder)."""
    torch.manual_seed(0)
    vae = VAE((3,), k, [], decoder="gaussian", sigma=sigma, learn_sigma=learn_sigma).double()
    x, noise = spectrum_data(), two_points(6, k)
    optimizer = torch.optim.Adam(vae.parameters(), 0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1500)
    for _ in range(1500):
        optimizer.zero_grad()
        (-vae.elbo_terms(x, noise=noise).elbo(beta).mean()).backward()
        optimizer.step()
        schedule.step()
    return vae


def test_trained_linear_vae_is_probabilistic_pca():
    """With σ² learned on the spectrum (4, 1, ¼), K = 1, the bound reaches −4.479959 and touches."""
    vae, x = train_linear(1.0, 1.0, True, 1), spectrum_data()
    elbo = vae.elbo_terms(x, noise=two_points(6, 1)).elbo().mean()
    assert elbo.item() == pytest.approx(-4.479959, abs=1e-3)
    assert elbo.item() == pytest.approx(exact_log_prob(vae, x).mean().item(), abs=1e-3)
    assert vae.decoder_log_var.exp().item() == pytest.approx(0.625, abs=5e-3)  # the mean of the dropped λ
    assert vae.decoder[0].weight.norm().item() == pytest.approx(1.837117, abs=5e-3)


@pytest.mark.parametrize(
    ("beta", "weights", "kls"),
    [(1.0, (3.5, 0.5), (1.039721, 0.346574)), (4.5, (1.75, 0.0), (0.287682, 0.0))],
)
def test_beta_decides_which_directions_survive(beta, weights, kls):
    """σ² = ½; a direction is kept iff λ > β σ², then w² = λ − βσ² and KL = ½ log(λ / βσ²)."""
    vae = train_linear(beta, math.sqrt(0.5), False, 2)
    gram = vae.decoder[0].weight.square().sum(1)[:2]  # the two large axes of x
    kl = vae.elbo_terms(spectrum_data(), noise=two_points(6, 2)).kl.mean(0)
    assert torch.allclose(gram, f64(*weights), atol=5e-3)
    assert kl.sum().item() == pytest.approx(sum(kls), abs=5e-3)


@pytest.mark.parametrize("decoder", ["bernoulli", "gaussian"])
def test_one_batch_is_overfitted_and_every_parameter_moves(decoder):
    torch.manual_seed(0)
    vae = VAE((16,), 3, [32], decoder=decoder, learn_sigma=decoder == "gaussian")
    x = torch.bernoulli(torch.full((8, 16), 0.5))
    optimizer = torch.optim.Adam(vae.parameters(), 1e-2)
    first = vae.step((x, torch.zeros(8)), "train")
    first.backward()
    assert torch.isfinite(first)
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in vae.parameters())
    for _ in range(300):
        optimizer.zero_grad()
        loss = vae.step((x, torch.zeros(8)), "train")
        loss.backward()
        optimizer.step()
    assert loss < 0.6 * first


def test_warmup_schedule_and_what_is_reported():
    """0 at the start, β at the end and after; what is measured is always the bound, β = 1."""
    assert [kl_weight(2.0, e, 4) for e in (0, 1, 2, 4, 9)] == [0.0, 0.5, 1.0, 2.0, 2.0]
    assert kl_weight(3.0, 0, 0) == 3.0
    vae, x = VAE((8,), 2, [4], beta=5.0).double(), torch.zeros(4, 8, dtype=torch.float64)
    for split, beta in (("train", 5.0), ("val", 1.0)):
        loss = vae.step((x, None), split)
        measured = {name: vae.meters[f"{split}_{name}"].compute().item() for name in ("elbo", "rec", "kl")}
        assert measured["elbo"] == pytest.approx(measured["rec"] + measured["kl"], rel=1e-6)
        assert loss.item() == pytest.approx(measured["rec"] + beta * measured["kl"], rel=1e-6)


def test_test_split_measures_iwae_with_its_number_of_samples():
    """Cards hold bounds as losses: positive for binary data, IWAE below −ELBO, S beside it."""
    torch.manual_seed(0)
    vae, x = VAE((30,), 4, [8], iwae_samples=17), torch.bernoulli(torch.full((64, 30), 0.5))
    vae.step((x, None), "train")
    assert vae.meters["train_iwae"].update_count == 0
    with torch.no_grad():
        vae.step((x, None), "test")
    measured = {
        name: vae.meters[f"test_{name}"].compute().item() for name in ("elbo", "iwae", "iwae_samples")
    }
    assert measured["iwae_samples"] == 17
    assert 0 < measured["iwae"] < measured["elbo"]


# --- Surfaces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", ["bernoulli", "gaussian"])
def test_surfaces(decoder):
    torch.manual_seed(0)
    vae = VAE((1, 4, 4), 3, [8], decoder=decoder, **({"sigma": 0.5} if decoder == "gaussian" else {}))
    assert isinstance(vae, Latent)
    assert isinstance(vae, Sampler)
    x = vae.sample(5, generator=seeded(1))
    assert x.shape == (5, 1, 4, 4)
    assert torch.equal(x, vae.sample(5, generator=seeded(1)))
    assert not torch.equal(x, vae.sample(5, generator=seeded(2)))
    assert vae.encode(x).shape == (5, 3)
    assert vae.decode(vae.encode(x)).shape == x.shape
    assert vae.decode(torch.zeros(2, 7, 3)).shape == (2, 7, 1, 4, 4)
    assert torch.equal(vae.posterior(x).mean, vae.encode(x))
    assert vae.prior.event_shape == (3,)
    assert vae.elbo(x).shape == vae.iwae(x, samples=2).shape == (5,)
    if decoder == "bernoulli":
        assert set(x.unique().tolist()) <= {0.0, 1.0}


def test_sampling_honours_n_below_any_batch_size_and_the_number_of_weights():
    vae = VAE((6,), 2, [4])
    assert vae.sample(1, generator=seeded(0)).shape == (1, 6)
    assert vae.log_weights(torch.zeros(9, 6), 3).shape == (3, 9)


def test_samples_follow_the_model():
    """The linear-Gaussian sampler has mean b and covariance WWᵀ + σ²I; without noise WWᵀ alone."""
    w = f64(1.0, 0.5, -0.5).view(3, 1)
    vae = linear_vae(w, 0.25, f64(0.0), f64(1.0))
    x = vae.sample(100_000, generator=seeded(0))
    assert torch.allclose(x.T.cov(), w @ w.T + 0.25 * torch.eye(3), atol=0.03)
    assert torch.allclose(vae.sample(100_000, mean=True, generator=seeded(0)).T.cov(), w @ w.T, atol=0.03)
    cold = vae.sample(100_000, temperature=0.5, mean=True, generator=seeded(0))
    assert torch.allclose(cold.T.cov(), 0.25 * w @ w.T, atol=0.02)


def test_trace_replays_to_the_same_bits():
    vae = VAE((6,), 2, [5, 4])
    one, two = vae.sample_trace(2, generator=seeded(4)), vae.sample_trace(2, generator=seeded(4))
    assert one.digest() == two.digest() != vae.sample_trace(2, generator=seeded(5)).digest()
    assert len(one) == 5  # z, two hidden layers, mean, x
    assert torch.equal(one.result, vae.sample(2, generator=seeded(4)))
    assert [step.values["h"].shape[1] for step in one if "h" in step.values] == [4, 5]


def test_bad_arguments_say_what_to_change():
    with pytest.raises(ValueError, match="choose bernoulli or gaussian"):
        VAE(decoder="poisson")
    with pytest.raises(ValueError, match="choose one of relu"):
        VAE(activation="swish")
    with pytest.raises(ValueError, match="sigma must be above 0"):
        VAE(sigma=0.0, decoder="gaussian")
    for noise in ({"sigma": 0.5}, {"learn_sigma": True}):
        with pytest.raises(ValueError, match="A Bernoulli decoder has no noise"):
            VAE(**noise)
    with pytest.raises(ValueError, match="x has 9 numbers"):
        VAE((4,), 1, []).encode(torch.zeros(2, 9))
    with pytest.raises(ValueError, match="at least 1"):
        VAE((4,), 1, []).iwae(torch.zeros(2, 4), samples=0)


def test_save_and_load(tmp_path):
    torch.manual_seed(0)
    vae, other = VAE((6,), 2, [5]), VAE((6,), 2, [5])
    torch.save(vae.state_dict(), tmp_path / "w.pt")
    other.load_state_dict(torch.load(tmp_path / "w.pt", weights_only=True))
    x = torch.ones(3, 6)
    assert torch.equal(vae.encode(x), other.encode(x))
    assert torch.equal(vae.sample(3, generator=seeded(0)), other.sample(3, generator=seeded(0)))
    assert vae.hparams["latent_dim"] == 2
