"""What every deep latent variable model promises, whatever its networks, prior, guesses or objective."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contracts
import pytest
import torch
from torch import Tensor

from modules.base import Latent, Sampler
from modules.latent.autoregressive_decoder import AutoregressiveVAE
from modules.latent.conditional import CVAE
from modules.latent.conv_vae import ConvVAE
from modules.latent.factor_vae import FactorVAE
from modules.latent.flow_posterior import FlowPosteriorVAE
from modules.latent.iwae import IWAE
from modules.latent.ladder import LadderVAE
from modules.latent.priors import LearnedPriorVAE
from modules.latent.tcvae import TCVAE
from modules.latent.vae import VAE
from modules.latent.variance import VarianceVAE
from modules.latent.vq_vae import VQVAE

SMALL: dict[str, Any] = {"event_shape": (1, 2, 2), "latent_dim": 2, "hidden": [8], "iwae_samples": 3}
IMAGE: dict[str, Any] = {"image_shape": (1, 2, 2), "channels": [4], "latent_dim": 2, "iwae_samples": 3}
LEVELS: dict[str, Any] = {
    "event_shape": (1, 2, 2),
    "latent_dims": [2, 1],
    "widths": [8, 4],
    "iwae_samples": 3,
}

BITS: dict[str, Callable[[], VAE]] = {
    "VAE": lambda: VAE(**SMALL),
    "IWAE": lambda: IWAE(**SMALL, train_samples=4),
    "IWAE, doubly": lambda: IWAE(**SMALL, train_samples=4, gradient="doubly"),
    "IWAE, resampled": lambda: IWAE(**SMALL, train_samples=4, gradient="doubly", resampled=2),
    "convolutions": lambda: ConvVAE(**IMAGE),
    "convolutions, hidden layer": lambda: ConvVAE(**IMAGE, hidden=[6]),
    "class": lambda: CVAE(**SMALL, num_classes=2),
    "mixture prior": lambda: LearnedPriorVAE(**SMALL, components=3),
    "VampPrior": lambda: LearnedPriorVAE(**SMALL, kind="vamp", components=3),
    "TC, stratified": lambda: TCVAE(**SMALL, beta=1.5, data_size=16),
    "TC, weighted": lambda: TCVAE(**SMALL, beta=1.5, data_size=16, sampler="weighted"),
    "factor": lambda: FactorVAE(**SMALL, discriminator=[5], gamma=0.5),
    "IAF posterior": lambda: FlowPosteriorVAE(**SMALL, flow_hidden=[6], context=3),
    "planar posterior": lambda: FlowPosteriorVAE(**SMALL, flow="planar", context=3),
    "ladder": lambda: LadderVAE(**LEVELS),
    "bottom-up": lambda: LadderVAE(**LEVELS, inference="bottom-up"),
    "three layers": lambda: LadderVAE(**LEVELS | {"latent_dims": [2, 2, 1], "widths": [8, 4, 0]}),
    "order 1": lambda: AutoregressiveVAE(**SMALL, kind="order1"),
    "MADE": lambda: AutoregressiveVAE(**SMALL, kind="made"),
    "PixelCNN": lambda: AutoregressiveVAE(**SMALL, kind="pixelcnn", channels=4, blocks=1),
    "GRU": lambda: AutoregressiveVAE(**SMALL, kind="gru"),
}
GREYS: dict[str, Callable[[], VAE]] = {
    "noise of each pixel": lambda: VarianceVAE(**SMALL, sigma=0.9, min_sigma=0.5),
    "noise from the network": lambda: VarianceVAE(**SMALL, sigma=0.9, min_sigma=0.5, variance="network"),
}
bits = pytest.mark.parametrize("name", BITS)
members = pytest.mark.parametrize("name", [*BITS, *GREYS])
STRINGS = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 4).view(16, 1, 2, 2)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_vae(name: str, scale: float = 0.6) -> VAE:
    """In float64, with random parameters of size: what is wrong shows."""
    return contracts.exact((BITS | GREYS)[name](), scale=scale)


def given(model: VAE, size: int) -> dict[str, Tensor]:
    return {"y": torch.arange(size) % 2} if isinstance(model, CVAE) else {}


def one_class(model: VAE, size: int) -> dict[str, Tensor]:
    return {"y": torch.ones(size, dtype=torch.long)} if isinstance(model, CVAE) else {}


@members
def test_surfaces_and_shapes(name: str) -> None:
    model = random_vae(name)
    k = model.latent_dim
    known, other = given(model, 16), given(model, 3)
    assert isinstance(model, Latent)
    assert isinstance(model, Sampler)
    z = model.encode(STRINGS, **known)
    assert z.shape == (16, k)
    assert model.decode(z, **known).shape == STRINGS.shape
    assert model.decode(z.view(1, 16, k), **known).shape == (1, *STRINGS.shape)
    assert model.prior.event_shape == (k,)
    assert model.prior.sample((5,)).shape == (5, k)
    assert model.prior.log_prob(z).shape == (16,)
    assert model.elbo(STRINGS, **known).shape == model.iwae(STRINGS, 2, **known).shape == (16,)
    assert model.log_prob_is(STRINGS, 2, proposal="prior", **known).shape == (16,)
    assert model.sample(3, generator=seeded(), **other).shape == (3, *model.event_shape)  # also below a batch
    assert model.log_weights(STRINGS[:3], 7, **other).shape == (7, 3)
    if name in BITS:
        assert (model.iwae(STRINGS, 50, seeded(), **known) < 0).all()  # of bits no density exceeds 1
        assert set(model.sample(9, generator=seeded()).unique().tolist()) <= {0.0, 1.0}


@bits
def test_density_sums_to_one_and_the_encoder_agrees_with_the_prior(name: str) -> None:
    """Both proposals weigh draws for the same integral: a term forgotten in one shows."""
    # an encoder that is not far off, so that so many draws suffice; told the class it is further off
    model = random_vae(name, scale=0.2 if name == "class" else 0.3)
    known = one_class(model, 16)
    with torch.no_grad():
        log_w = model.log_weights(STRINGS, 5000, seeded(), **known)
        by_prior = model.log_prob_is(STRINGS, 5000, seeded(1), proposal="prior", **known)
    by_encoder = log_w.logsumexp(0) - math.log(len(log_w))
    assert by_prior.exp().sum().item() == pytest.approx(1, abs=0.05)
    torch.testing.assert_close(by_encoder, by_prior, rtol=0, atol=0.12)
    elbo = log_w.mean(0)
    assert (elbo < by_encoder + 1e-9).all()
    with torch.no_grad():  # the split into reconstruction and KL estimates the same bound
        parts = model.elbo_terms(STRINGS, 5000, seeded(2), **known)
    error = log_w.std(0) / math.sqrt(len(log_w))
    assert ((parts.elbo() - elbo).abs() < 6 * error + 1e-6).all()


@bits
def test_samples_follow_the_density(name: str) -> None:
    model = random_vae(name)
    known = one_class(model, 16)
    if known:
        samples = model.sample(20_000, generator=seeded(), y=torch.ones(20_000, dtype=torch.long))
    else:
        samples = model.sample(20_000, generator=seeded())
    with torch.no_grad():
        table = model.log_prob_is(STRINGS, 5000, seeded(), proposal="prior", **known).exp()
    places = (samples.flatten(1) @ torch.tensor([8.0, 4, 2, 1], dtype=samples.dtype)).long()
    shares = places.bincount(minlength=16) / len(places)
    assert (shares - table).abs().max() < 0.02


@pytest.mark.parametrize("name", GREYS)
def test_gaussian_relatives_weigh_both_proposals_alike(name: str) -> None:
    model, x = (
        random_vae(name, scale=0.3),
        0.5 * torch.randn(6, 1, 2, 2, generator=seeded(), dtype=torch.float64),
    )
    with torch.no_grad():
        by_encoder = model.iwae(x, 20_000, seeded())
        by_prior = model.log_prob_is(x, 20_000, seeded(1), proposal="prior")
    torch.testing.assert_close(by_encoder, by_prior, rtol=0, atol=0.1)


@members
def test_every_parameter_learns(name: str) -> None:
    torch.manual_seed(0)
    model = random_vae(name).train()
    y = torch.arange(16) % 2
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step((STRINGS, y), "train"))


@members
def test_one_batch_is_overfitted(name: str) -> None:
    torch.manual_seed(3)
    model = (BITS | GREYS)[name]()
    x = STRINGS[[3, 12]].float().repeat(8, 1, 1, 1)
    batch = (x, torch.arange(16) % 2)
    first = model.step(batch, "val").item()
    assert math.isfinite(first)
    trained = [p for n, p in model.named_parameters() if not n.startswith("discriminator.")]
    optimizer = torch.optim.Adam(trained, 1e-2)
    price = model.beta
    for step in range(200):
        model.beta = 0.0 if step < 60 else price  # annealed: codes for two strings are soon given up
        optimizer.zero_grad()
        model.step(batch, "train").backward()
        optimizer.step()
    with torch.no_grad():
        loss = -model.iwae(x, 200, **given(model, 16)).mean().item()
    assert loss < 0.6 * first if name in BITS else loss < first - 1
    if name in BITS:
        assert loss > 0.99 * math.log(2) or isinstance(model, CVAE)  # two strings cost ln 2, no less


@members
def test_sampling_replays(name: str) -> None:
    model = random_vae(name)
    contracts.reproducible(lambda seed: model.sample(8, generator=seeded(seed)))
    contracts.trace_replays(lambda seed: model.sample_trace(2, generator=seeded(seed)))


@members
def test_survives_saving(name: str, tmp_path: Path) -> None:
    x = STRINGS.float()

    def call(model: VAE) -> Tensor:
        known = given(model, 16)
        z = model.encode(x, **known)
        return torch.cat([model.decode(z, **known).flatten(), model.elbo(x, 1, seeded(), **known)])

    contracts.survives_saving((BITS | GREYS)[name](), call, tmp_path)


@members
def test_measures(name: str) -> None:
    """The bound is reported at full price, whatever the objective; IWAE and its samples in the test alone."""
    torch.manual_seed(0)
    model, batch = random_vae(name), (STRINGS, torch.arange(16) % 2)
    for split in ("train", "test"):
        with torch.no_grad():
            model.step(batch, split)
    measured = {n: model.meters[n].compute().item() for n in model.meters if n.startswith("test")}
    assert measured["test_elbo"] == pytest.approx(measured["test_rec"] + measured["test_kl"], rel=1e-6)
    assert measured["test_iwae_samples"] == 3
    assert 0 <= measured["test_active"] <= model.latent_dim
    assert model.meters["train_iwae"].update_count == 0


def test_a_cold_prior_is_narrow() -> None:
    for name in ("VAE", "mixture prior", "ladder"):
        model = random_vae(name)
        with torch.no_grad():
            warm, cold = (model.sample_prior(4000, temperature=t, generator=seeded()) for t in (1.0, 0.1))
        assert cold.var(0).sum() < warm.var(0).sum()


# --- VQ-VAE has no draws to weigh ------------------------------------------------------------------


def test_vq_vae_offers_the_same() -> None:
    torch.manual_seed(0)
    model = VQVAE((1, 4, 4), channels=[4], codes=5, code_dim=3, prior_hidden=4)
    x = torch.bernoulli(torch.full((7, 1, 4, 4), 0.5))
    codes = model.encode(x)
    assert isinstance(model, Latent)
    assert isinstance(model, Sampler)
    assert codes.shape == (7, 4)
    assert model.decode(codes).shape == x.shape
    assert model.elbo(x).shape == model.iwae(x, 5).shape == model.log_prob_is(x, 5).shape == (7,)
    assert model.sample(2).shape == (2, 1, 4, 4)
    assert (model.elbo(x) < 0).all()
