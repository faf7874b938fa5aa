r"""Information of each code of a model of sprites about the five factors, and what that has cost.

    share    I(z_j; v) / H(v), from 0 to 1, each z_j cut into bins of equally many pictures
    MIG      mean over the factors v of the largest share less the second largest
    TC       KL(q(z) ‖ Π_j q(z_j)), with the exact mixture q(z) over all pictures, by draws

All 3,528 pictures are encoded, which is all there is to know of the codes; what is rebuilt is held out.

References: Chen, Li, Grosse & Duvenaud 2018, arXiv:1802.04942; Kim & Mnih 2018, arXiv:1802.05983;
[UDL] §17.8.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.sprites import FACTORS, Sprites, everything
from lab.lenses import latent, stock
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.bounds import gaussian_kl, reparameterize
from modules.latent.information import entropy
from modules.latent.scores import information_table
from modules.latent.vae import VAE

VALUES = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
NAMES = list(FACTORS)
BINS = 20
CHUNKS, CHUNK = 16, 16  # draws for TC: small pieces stay in the processor's cache
READINGS = ("draws", "means")
TITLES = {"vae": "VAE", "beta4": "β = 4", "tcvae": "TC-VAE", "factorvae": "FactorVAE"}


def title(name: str) -> str:
    """Title of a model on the page; an own run keeps its name."""
    base, _, run = name.partition("-sprites")
    return TITLES.get(base, name) if not run else name


@dataclass(frozen=True)
class Scores:
    """One model; its K dimensions with the most KL first.

    Attributes:
        order: the dimensions in that order. kl: (K,) nats, means over the pictures.
        shares: (K, V) I(z_j; v)/H(v). entropies: (V,) H(v), nats.
        tc: total correlation, nats.
        distortion: −E log p(x|z) of held-out pictures, nats.
    """

    order: list[int]
    kl: Tensor
    shares: Tensor
    entropies: Tensor
    tc: float
    distortion: float

    @property
    def gaps(self) -> Tensor:
        """(V,) the largest share of a factor less the second largest."""
        best = self.shares.topk(2, dim=0).values
        return best[0] - best[1]

    @property
    def mig(self) -> float:
        return self.gaps.mean().item()

    @property
    def floor(self) -> Tensor:
        """(V,) the share that a code independent of v would be counted to have, to first order."""
        values = torch.tensor(list(FACTORS.values()), dtype=torch.float64)
        return (BINS - 1) * (values - 1) / (2 * values.prod()) / self.entropies

    def best_factor(self, row: int) -> int:
        """The factor of which a row tells the largest share."""
        return int(self.shares[row].argmax())

    def owner(self, factor: int) -> int:
        """The row that tells the largest share of a factor."""
        return int(self.shares[:, factor].argmax())


@torch.no_grad()
def read(model: VAE, x: Tensor, reading: str) -> Tensor:
    """Codes (N, K) of x: a draw each of q(z|x), of a fixed seed, or its mean."""
    mean, log_var = model.encode_parameters(x)
    if reading == "means":
        return mean
    return reparameterize(mean, log_var, torch.randn(mean.shape, generator=torch.Generator().manual_seed(0)))


@dataclass(frozen=True)
class Price:
    """Scores of a model that are the same however its codes are read; see `Scores`."""

    order: list[int]
    kl: Tensor
    entropies: Tensor
    tc: float
    distortion: float


@torch.no_grad()
def price(model: VAE) -> Price:
    """Over all pictures."""
    x, factors = everything()
    mean, log_var = model.encode_parameters(x)
    kl = gaussian_kl(mean, log_var).mean(0)
    order = kl.argsort(descending=True).tolist()
    entropies = torch.stack([entropy(f.bincount().double() / len(f)) for f in factors.T])
    return Price(order, kl[order], entropies, total_correlation(mean, log_var), distortion(model))


def scores(model: VAE, reading: str, known: Price | None = None) -> Scores:
    """Over all pictures; `known` is the price of the model, where it is there."""
    known = known or price(model)
    x, factors = everything()
    shares = information_table(read(model, x, reading), factors, BINS)[known.order] / known.entropies
    return Scores(known.order, known.kl, shares, known.entropies, known.tc, known.distortion)


def total_correlation(mean: Tensor, log_var: Tensor) -> float:
    """Total correlation of the codes of all data, by CHUNKS · CHUNK draws."""
    codes, generator = AggregatedPosterior(mean, log_var), torch.Generator().manual_seed(0)
    parts = [codes.decomposition(CHUNK, generator)["total_correlation"] for _ in range(CHUNKS)]
    return torch.stack(parts).mean().item()


@torch.no_grad()
def distortion(model: VAE) -> float:
    """−E log p(x|z) over the held-out pictures, 4 draws each."""
    x, _ = stock.examples(Sprites, "test")
    noise = latent.normal_noise(4, model.latent_dim, 0).to(x).expand(-1, len(x), -1)
    return -model.elbo_terms(x, noise=noise).reconstruction.mean().item()


def turned(model: VAE, z: Tensor, order: Sequence[int]) -> Tensor:
    """(K, C, H, W): a code (K,) decoded with one dimension at a time at each of VALUES."""
    return latent.decoded(model, latent.traverse(z, VALUES, list(order)))


def sentence(result: Scores, row: int, name: str, motion: Sequence[float]) -> str:
    """Say in numbers what a row does."""
    factor = result.best_factor(row)
    columns, rows, ink = motion
    return (
        f"{name}, {result.kl[row]:.2f} nats, tells {result.shares[row, factor]:.0%} of the {NAMES[factor]}; "
        f"from −2 to 2 the ink moves by {columns:.1f} columns and {rows:.1f} rows, its amount {ink:.1f}-fold."
    )


def gap_equation(result: Scores, row: int) -> str:
    """The gap of the factor that this row tells most of, LaTeX."""
    factor = result.best_factor(row)
    best = result.shares[:, factor].topk(2).values
    return (
        rf"\frac{{I(z_{{(1)}};v)-I(z_{{(2)}};v)}}{{H(v)}}={best[0]:.3f}-{best[1]:.3f}={result.gaps[factor]:.3f}"
        rf"\quad(v=\text{{{NAMES[factor]}}}),\qquad \mathrm{{MIG}}={result.mig:.3f}"
    )
