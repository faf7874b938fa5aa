"""Learned priors, classes, noise for each pixel, codes by optimisation: each against what can be solved."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.latent.aggregated import AggregatedPosterior
from modules.latent.bounds import gaussian_kl, gaussian_log_prob
from modules.latent.conditional import CVAE
from modules.latent.conv_vae import ConvVAE
from modules.latent.denoising import DenoisingAutoencoder
from modules.latent.flow_posterior import FlowPosteriorVAE
from modules.latent.priors import LearnedPriorVAE
from modules.latent.resynthesis import attribute_vector, map_projection
from modules.latent.vae import VAE
from modules.latent.variance import VarianceVAE

BITS = torch.tensor([[0, 1, 0, 0], [1, 1, 0, 1.0], [0, 0, 0, 1]], dtype=torch.float64)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- Priors ---------------------------------------------------------------------------------------


def test_one_standard_component_is_the_plain_prior():
    torch.manual_seed(0)
    model = LearnedPriorVAE(event_shape=(4,), latent_dim=2, hidden=[5], components=1).double()
    model.means.data.zero_()
    parts = model.elbo_terms(BITS, samples=40_000, generator=seeded())
    expected = gaussian_kl(parts.mean, parts.log_var).sum(-1)
    torch.testing.assert_close(parts.kl[:, 0], expected, rtol=0, atol=0.02)
    model.objective(BITS, model.elbo_terms(BITS)).backward()
    assert (model.means.grad != 0).all()
    assert (model.log_vars.grad != 0).all()


def test_vamp_prior_of_all_data_is_the_aggregated_posterior():
    torch.manual_seed(0)
    model = LearnedPriorVAE(event_shape=(4,), latent_dim=2, hidden=[5], kind="vamp", components=3).double()
    model.raw_inputs.data.copy_(BITS)
    z = torch.randn(7, 2, dtype=torch.float64)
    with torch.no_grad():
        aggregated = AggregatedPosterior(*model.encode_parameters(BITS)).log_prob(z)
        torch.testing.assert_close(model.prior_log_prob(z), aggregated)
        torch.testing.assert_close(model.prior.log_prob(z), aggregated)


def test_mixture_draws_and_clusters():
    model = LearnedPriorVAE(event_shape=(4,), latent_dim=1, hidden=[], components=2).double()
    with torch.no_grad():
        model.means.copy_(torch.tensor([[-5.0], [5.0]]))
        model.log_vars.fill_(math.log(0.25))
        model.logits.copy_(torch.tensor([0.0, math.log(3.0)]))
        z = model.sample_prior(40_000, generator=seeded())
    assert (z > 0).double().mean().item() == pytest.approx(0.75, abs=0.01)
    assert z[z > 0].std().item() == pytest.approx(0.5, abs=0.01)
    assert model.responsibilities(torch.tensor([[-5.0], [5.0]], dtype=torch.float64)).argmax(1).tolist() == [
        0,
        1,
    ]


# --- Conditions -----------------------------------------------------------------------------------


def test_a_constant_class_is_a_bias():
    """With c's weights folded into the first biases, outputs and bound are the VAE's."""
    torch.manual_seed(0)
    cvae = CVAE(event_shape=(4,), latent_dim=2, hidden=[5], num_classes=3).double()
    vae = VAE((4,), 2, [5]).double()
    with torch.no_grad():
        for plain, result in ((vae.encoder, cvae.encoder), (vae.decoder, cvae.decoder)):
            inputs = plain[0].in_features
            plain[0].weight.copy_(result[0].weight[:, :inputs])
            plain[0].bias.copy_(result[0].bias + result[0].weight[:, inputs + 1])  # class 1
            plain[2].load_state_dict(result[2].state_dict())
    y, noise = torch.ones(3, dtype=torch.long), torch.randn(2, 3, 2, dtype=torch.float64)
    a, b = cvae.elbo_terms(BITS, noise=noise, y=y), vae.elbo_terms(BITS, noise=noise)
    torch.testing.assert_close(a.elbo(), b.elbo())
    torch.testing.assert_close(cvae.decode(noise, y=y), vae.decode(noise))


def test_linear_conditional_model_touches_its_evidence():
    """x = c-dependent mean + z + N(0, 1): with the exact posterior the gap is 0 for every class."""
    cvae = CVAE(event_shape=(1,), latent_dim=1, hidden=[], decoder="gaussian", num_classes=2).double()
    with torch.no_grad():
        cvae.decoder[0].weight.copy_(torch.tensor([[1.0, -2.0, 3.0]]))  # z, class 0, class 1
        cvae.decoder[0].bias.zero_()
        cvae.encoder[0].weight.copy_(torch.tensor([[0.5, 1.0, -1.5], [0.0, 0.0, 0.0]]))
        cvae.encoder[0].bias.copy_(torch.tensor([0.0, math.log(0.5)]))
    x, y = torch.tensor([[0.7], [0.7]], dtype=torch.float64), torch.tensor([0, 1])
    corners = torch.tensor([-1.0, 1.0], dtype=torch.float64).view(2, 1, 1).expand(2, 2, 1)
    exact = gaussian_log_prob(x[:, 0], torch.tensor([-2.0, 3.0]).double(), torch.tensor(2.0).log().double())
    torch.testing.assert_close(cvae.elbo_terms(x, noise=corners, y=y).elbo(), exact)
    torch.testing.assert_close(cvae.class_log_weights(x[:1], 5, seeded())[0], exact, rtol=0, atol=1e-6)
    with torch.no_grad():
        cvae.encoder[0].bias[0] += 0.3
    assert (cvae.elbo_terms(x, noise=corners, y=y).elbo() < exact - 0.01).all()


def test_classes_are_asked_for_by_name():
    cvae = CVAE(event_shape=(4,), latent_dim=2, hidden=[5], num_classes=3)
    for y in (None, torch.tensor([0, 3, 1]), torch.tensor([0])):
        with pytest.raises(ValueError, match="whole numbers from 0 to 2"):
            cvae.encode(BITS.float(), y=y)
    assert torch.equal(
        cvae.sample(6, generator=seeded(0)),
        cvae.sample(6, y=torch.tensor([0, 1, 2, 0, 1, 2]), generator=seeded(0)),
    )


# --- Noise of each pixel --------------------------------------------------------------------------


def test_learned_noise_is_each_pixels_own_error():
    """With a decoder that cannot move, σ_d² is the pixel's mean squared error, but never below the floor."""
    torch.manual_seed(0)
    model = VarianceVAE(event_shape=(3,), latent_dim=1, hidden=[], sigma=0.5, min_sigma=0.1).double()
    with torch.no_grad():
        for parameter in (*model.decoder.parameters(), *model.encoder.parameters()):
            parameter.zero_()
    x = torch.randn(4000, 3, dtype=torch.float64) * torch.tensor([0.3, 1.0, 0.0], dtype=torch.float64)
    optimizer = torch.optim.Adam([model.raw], 0.05)
    for _ in range(400):
        optimizer.zero_grad()
        (-model.elbo(x).mean()).backward()
        optimizer.step()
    result = model.sigma(torch.zeros(1, 1, dtype=torch.float64))[0]
    expected = (x.square().mean(0) - 0.0).sqrt().clamp(min=0.1)
    assert result[:2].tolist() == pytest.approx(expected[:2].tolist(), rel=0.03)
    assert 0.1 <= result[2] < 0.12


@pytest.mark.parametrize("variance", ["pixel", "network"])
def test_noise_starts_where_it_is_told(variance):
    model = VarianceVAE(event_shape=(5,), latent_dim=2, hidden=[4], sigma=0.3, variance=variance).double()
    with torch.no_grad():
        if variance == "network":
            model.decoder[-1].weight.zero_()
            model.decoder[-1].bias[5:] = model.decoder[-1].bias[5:].mean()
    sigma = model.sigma(torch.zeros(1, 2, dtype=torch.float64))
    assert sigma.mean().item() == pytest.approx(0.3, rel=1e-6 if variance == "pixel" else 0.3)
    trace = model.sample_trace(4000, generator=seeded(0))
    rest = (trace[-1].values["x"] - trace[-2].values["mean"]) / trace[-1].values["sigma"]
    assert rest.std().item() == pytest.approx(1, abs=0.02)


# --- Convolutions ---------------------------------------------------------------------------------


def test_convolutions_keep_the_sides():
    model = ConvVAE(image_shape=(1, 8, 12), channels=[3, 5], latent_dim=2)
    assert model.decode(torch.zeros(3, 4, 2)).shape == (3, 4, 1, 8, 12)
    assert model.encode(torch.zeros(3, 96)).shape == (3, 2)
    with pytest.raises(ValueError, match="cannot be halved 3 times"):
        ConvVAE(image_shape=(1, 28, 28), channels=[2, 2, 2])


# --- Codes by optimisation ------------------------------------------------------------------------


def linear() -> tuple[VAE, Tensor]:
    """W = [[1, 1], [0, 1], [1, 0]], σ² = ½, x = (1, 2, −1): the posterior's mean is (−4/7, 10/7)."""
    w = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    vae = VAE((3,), 2, [], decoder="gaussian", sigma=math.sqrt(0.5)).double()
    vae.decoder_log_var.fill_(math.log(0.5))
    with torch.no_grad():
        vae.decoder[0].weight.copy_(w)
        vae.decoder[0].bias.zero_()
    return vae, torch.tensor([[1.0, 2.0, -1.0]], dtype=torch.float64)


@pytest.mark.parametrize("start", [None, torch.tensor([[3.0, -4.0]], dtype=torch.float64)])
def test_map_code_of_a_linear_model_is_the_posteriors_mean(start):
    vae, x = linear()
    exact = torch.tensor([[-0.571429, 1.428571]], dtype=torch.float64)
    torch.testing.assert_close(map_projection(vae, x, start), exact, rtol=0, atol=1e-5)
    assert vae.decoder[0].weight.grad is None  # nobody's gradients are left behind


def test_attribute_vector_finds_a_planted_shift():
    torch.manual_seed(0)
    truth = torch.tensor([1.0, -2.0, 0.5, 0.0])
    has = torch.arange(2000) % 2 == 0
    z = torch.randn(2000, 4) + has[:, None] * truth
    result = attribute_vector(z, has)
    assert torch.cosine_similarity(result, truth, dim=0) > 0.99
    with pytest.raises(ValueError, match="others that do not"):
        attribute_vector(z, torch.ones(2000, dtype=torch.bool))


# --- Autoencoders ---------------------------------------------------------------------------------


def test_linear_autoencoder_finds_the_subspace_and_not_the_weights():
    """Spectrum (4, 1, ¼), K = 1: W_dec W_enc = u uᵀ, residual 1.25; W_enc itself is no uᵀ."""
    torch.manual_seed(0)
    axes = (3 * torch.tensor([4.0, 1.0, 0.25], dtype=torch.float64)).sqrt().diag()
    x = torch.cat([axes, -axes])
    model = DenoisingAutoencoder((3,), 1, [], decoder="gaussian", corruption=0.0).double()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = model.step((x,), "train")
        value.backward()
        return value

    optimizer.step(loss)
    both = model.decoder[0].weight @ model.encoder[0].weight
    expected = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64).diag()
    torch.testing.assert_close(both.detach(), expected, rtol=0, atol=1e-4)
    assert model.error(x).mean().item() == pytest.approx(1.25, abs=1e-4)
    assert abs(model.encoder[0].weight.norm().item() - 1) > 0.01


@pytest.mark.parametrize(("kind", "share"), [("mask", 0.3), ("flip", 0.3), ("noise", 0.3)])
def test_damage(kind, share):
    model = DenoisingAutoencoder((4,), 2, [3], kind=kind, corruption=share)
    x = torch.ones(5000, 4)
    hurt = model.corrupt(x, seeded())
    if kind == "noise":
        assert (hurt - x).std().item() == pytest.approx(0.3, abs=0.01)
    else:
        assert (hurt == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
        assert set(hurt.unique().tolist()) == {0.0, 1.0}
        kept = model.corrupt(torch.zeros(5000, 4), seeded()).mean().item()
        assert kept == pytest.approx(0.3 if kind == "flip" else 0.0, abs=0.01)


def test_damage_is_for_training_alone_and_the_target_stays_clean():
    torch.manual_seed(0)
    model, x = DenoisingAutoencoder((4,), 2, [3], corruption=0.9), torch.ones(8, 4)
    model.corrupt = lambda x: 0 * x
    clean = model.error(x).mean().item()
    assert model.step((x,), "val").item() == pytest.approx(clean)
    of_damaged = F.binary_cross_entropy(model.reconstruct(0 * x), x, reduction="none").sum(-1).mean()
    assert model.step((x,), "train").item() == pytest.approx(of_damaged.item(), rel=1e-5)


def test_linear_gaussian_evidence_is_touched_by_one_affine_layer():
    """z = m + L ε, L Lᵀ the posterior's covariance: the bound is −4.953642; with + log det it is not."""
    vae, x = linear()
    l_factor = torch.tensor([[0.487950, 0.0], [-0.195180, 0.447214]], dtype=torch.float64)
    mean = torch.tensor([-4 / 7, 10 / 7], dtype=torch.float64)
    noise = torch.randn(9, 1, 2, dtype=torch.float64)
    z = mean + noise @ l_factor.T
    log_q = gaussian_log_prob(noise, 0 * noise, 0 * noise).sum(-1) - l_factor.slogdet().logabsdet
    log_w = vae.log_likelihood(x, z) + vae.prior.log_prob(z) - log_q
    torch.testing.assert_close(log_w, torch.full_like(log_w, -4.953642), rtol=0, atol=1e-5)
    covariance = vae.decoder[0].weight @ vae.decoder[0].weight.T + 0.5 * torch.eye(3, dtype=torch.float64)
    exact = MultivariateNormal(torch.zeros(3, dtype=torch.float64), covariance).log_prob(x).item()
    assert exact == pytest.approx(-4.953642, abs=1e-6)
    wrong = log_w + 2 * l_factor.slogdet().logabsdet
    assert abs(wrong.mean().item() + 4.953642) > 1


def test_one_masked_layer_closes_the_gap_of_a_diagonal_guess():
    """Of the same linear model: the best diagonal Gaussian has −5.040818, one IAF layer −4.953642."""
    torch.manual_seed(0)
    plain, x = linear()
    noise = torch.randn(8192, 2, dtype=torch.float64)
    noise = noise - noise.mean(0)  # exactly mean 0 and covariance I: exact for what is quadratic in the noise
    noise = (noise @ torch.linalg.cholesky(noise.T.cov(correction=0)).inverse().T)[:, None]
    for layers, answer in ((0, -5.040818), (1, -4.953642)):
        model = plain
        if layers:
            model = FlowPosteriorVAE(
                event_shape=(3,), latent_dim=2, hidden=[], decoder="gaussian", layers=1, context=1
            ).double()
            model.decoder.load_state_dict(plain.decoder.state_dict())
            model.decoder_log_var.copy_(plain.decoder_log_var)
        model.decoder.requires_grad_(False)
        learned = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.LBFGS(learned, max_iter=200, line_search_fn="strong_wolfe")

        def loss(model: VAE = model, optimizer: torch.optim.Optimizer = optimizer) -> Tensor:
            optimizer.zero_grad()
            value = -model.elbo_terms(x, noise=noise).elbo().mean()
            value.backward()
            return value

        optimizer.step(loss)
        with torch.no_grad():
            assert model.elbo_terms(x, noise=noise).elbo().item() == pytest.approx(answer, abs=4e-3)
            spread = model.log_weights(x, 5000, seeded()).std().item()
        assert spread < 0.1 if layers else spread > 0.3  # of the exact posterior all weights are p(x)
