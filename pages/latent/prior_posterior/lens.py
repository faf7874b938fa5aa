"""Samples of the prior against samples of the aggregated posterior: where a decoder was trained, and where
not.

    q(z) = 1/N Σ_n q(z|x_n),   KL(q(z) ‖ p(z)) = E log q(z) − log p(z)

is what the prior misses, and what the bound could gain by a better prior for the same encoder. Samples are
judged by a classifier of digits: the Fréchet distance of its features, and the share it is sure of. As draws
of q(z) are noisy copies of training digits, the distance to the nearest of these is given beside it.

References: Hoffman, Johnson 2016, ELBO surgery; Tomczak & Welling 2018, arXiv:1705.07120; [UDL] §17.8.2.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.scores import frechet_distance
from modules.latent.vae import VAE

SOURCES = ("prior", "aggregated posterior")
JUDGED, SURE = 250, 0.9  # samples, as many as there are digits held out; and how sure it must be


def fits(entry: Experiment) -> bool:
    """Check whether q(z|x) is the encoder's Gaussian and a code alone makes a black and white small digit,
    whatever the prior."""
    return surfaces.of_digits(entry, "threshold") and surfaces.keeps(
        entry, VAE, "encode_parameters", "outputs", "decode", "unpack"
    )


@torch.no_grad()
def aggregated(model: VAE, x: Tensor) -> AggregatedPosterior:
    """q(z) over x (N, D)."""
    return AggregatedPosterior(*model.encode_parameters(x))


@torch.no_grad()
def codes(model: VAE, q: AggregatedPosterior, count: int, seed: int) -> dict[str, Tensor]:
    """(count, K) codes of either source."""
    draw = [torch.Generator().manual_seed(seed) for _ in SOURCES]
    return {
        "prior": model.sample_prior(count, generator=draw[0]),
        "aggregated posterior": q.sample(count, generator=draw[1]),
    }


@torch.no_grad()
def distance(model: VAE, q: AggregatedPosterior, samples: int = 1000, seed: int = 0) -> tuple[float, float]:
    """KL(q(z) ‖ p(z)) by draws of q(z), nats, and its standard error."""
    z = q.sample(samples, generator=torch.Generator().manual_seed(seed))
    log_ratio = torch.cat([q.log_prob(part) for part in z.split(250)]) - log_prior(model, z)
    return log_ratio.mean().item(), (log_ratio.std() / samples**0.5).item()


def log_prior(model: VAE, z: Tensor) -> Tensor:
    """log p(z) (N,), nats, of the model's own prior."""
    return model.prior.log_prob(z)


@dataclass(frozen=True)
class Judged:
    """Verdict of a classifier on pictures.

    Attributes:
        frechet: distance of its features to those of test digits.
        sure: share whose class it gives more than `SURE`.
        nearest: mean number of pixels that differ from the nearest training digit.
    """

    frechet: float
    sure: float
    nearest: float


@torch.no_grad()
def features(reader: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Features that the classifier's last layer reads of x (N, 64), (N, F), and its probabilities (N, C)."""
    h = x.reshape(-1, 1, 8, 8)
    for layer in list(reader.layers)[:-1]:
        h = layer(h)
    return h.flatten(1), reader.layers[-1](h).softmax(-1)


@torch.no_grad()
def judged(reader: Any, x: Tensor, test: Tensor, train: Tensor) -> Judged:
    """Bits x (N, 64) against test and training digits, bits too."""
    result, belief = features(reader, x)
    real, _ = features(reader, test)
    sure = (belief.max(1).values > SURE).float().mean().item()
    apart = torch.cdist(x, train, p=1).min(1).values.mean().item()
    return Judged(frechet_distance(result, real).item(), sure, apart)


@torch.no_grad()
def bits(model: VAE, z: Tensor, seed: int) -> Tensor:
    """Draws of p(x|z), (N, 64)."""
    return torch.bernoulli(model.decode(z).flatten(1), generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def spread(model: VAE, spreads: list[float], count: int, seed: int) -> Tensor:
    """(len(spreads), count, K) codes of the prior, the same draws at every spread."""
    each = [
        model.sample_prior(count, temperature=s, generator=torch.Generator().manual_seed(seed))
        for s in spreads
    ]
    return torch.stack(each)


@torch.no_grad()
def sureness(reader: Any, model: VAE, z: Tensor, seed: int) -> list[float]:
    """Share of pictures that the classifier is sure of, for each row of codes z (S, N, K)."""
    shares = []
    for row in z:
        _, belief = features(reader, bits(model, row, seed))
        shares.append((belief.max(1).values > SURE).float().mean().item())
    return shares


@torch.no_grad()
def plane(q: AggregatedPosterior) -> latent.Plane:
    """The plane of the two principal axes of the mean codes."""
    return latent.plane_of(q.mean)
