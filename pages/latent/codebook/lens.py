"""Inside a VQ-VAE: the grid of codes of one picture, the book, who is nearest to what, and both priors.

References: van den Oord, Vinyals & Kavukcuoglu 2017, arXiv:1711.00937; [UDL] notes of ch. 17.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.latent.vq_vae import VQVAE, nearest_code, perplexity

MAP = 81  # points along a side of the slice
SAVED = {  # of a price, and why it is not as much
    "less than a third": "Codes follow each other as strokes do: a prior that knows that guesses many.",
    "between a third and a half": "How much is saved hangs on how well codes tell their neighbours.",
    "more than half": "A code tells only so much of its neighbours: strokes still surprise.",
}
SAVINGS = list(SAVED)


def fits(entry: Experiment) -> bool:
    """Check whether it is a VQ-VAE of black and white small digits."""
    return surfaces.is_a(entry, VQVAE) and surfaces.of_digits(entry, "threshold")


@dataclass(frozen=True)
class Reading:
    """One picture as the model reads it.

    Attributes:
        codes: (P,) the nearest code of each place.
        distances: (P, K) ‖z_e − e_k‖² of each place to each code.
        rebuilt: (H, W).
    """

    codes: Tensor
    distances: Tensor
    rebuilt: Tensor


@torch.no_grad()
def read(model: VQVAE, x: Tensor) -> Reading:
    """Read x (1, D) by the encoder and the codebook."""
    features = model.features(x)[0]  # (P, E)
    codes = nearest_code(model.codebook, features)
    distances = (features[:, None] - model.codebook).square().sum(-1)
    return Reading(codes, distances, latent.pictures_of(model, model.decode(codes[None]))[0])


@torch.no_grad()
def swapped(model: VQVAE, codes: Tensor, place: int) -> Tensor:
    """(K, H, W): the codes (P,) decoded with each code of the book in turn at one place."""
    every = codes.repeat(model.codes, 1)
    every[:, place] = torch.arange(model.codes)
    return latent.pictures_of(model, model.decode(every))


@torch.no_grad()
def usage(model: VQVAE, x: Tensor) -> tuple[Tensor, float]:
    """Use of each code over all places of x (N, D), (K,), and the perplexity of that."""
    counts = model.encode(x).flatten().bincount(minlength=model.codes)
    return counts, perplexity(counts.float()).item()


@dataclass(frozen=True)
class Slice:
    """A plane through the codes, and which code is nearest to each of its points.

    Attributes:
        axis: (M,) coordinates along both sides.
        owner: (M, M) number of the nearest code, among all K in all E dimensions; rows run upwards.
        book: (K, 2) where the codes fall on the plane.
        features: (N, 2) where the z_e fall, and `chosen` (N,) their codes.
        share: of the codes' variance that the plane holds.
    """

    axis: Tensor
    owner: Tensor
    book: Tensor
    features: Tensor
    chosen: Tensor
    share: float


@torch.no_grad()
def cut(model: VQVAE, x: Tensor) -> Slice:
    """The plane of the two principal axes of what the encoder says of x (N, D)."""
    features = model.features(x).flatten(0, 1)  # (N·P, E)
    plane = latent.plane_of(features)
    spots, dots = plane.place(model.codebook), plane.place(features)
    reach = 1.05 * max(float(dots.abs().max()), 1e-3)
    axis = torch.linspace(-reach, reach, MAP)
    v, u = torch.meshgrid(axis, axis, indexing="ij")
    owner = nearest_code(model.codebook, plane.code(torch.stack([u, v], -1)))
    return Slice(axis, owner, spots, dots, nearest_code(model.codebook, features), plane.share)


@torch.no_grad()
def draws(model: VQVAE, count: int, seed: int) -> dict[str, Tensor]:
    """Codes (count, P) from the uniform prior and from the learned one."""
    generator = torch.Generator().manual_seed(seed)
    uniform = torch.randint(model.codes, (count, model.places), generator=generator)
    return {"uniform": uniform, "learned": model.code_prior.sample(count, generator=generator).long()}


@torch.no_grad()
def prices(model: VQVAE, codes: Tensor) -> tuple[float, float]:
    """Mean −log p(k) of codes (N, P) under the uniform prior and the learned one, nats."""
    uniform, learned = (-model.code_log_prob(codes, prior).mean().item() for prior in ("uniform", "learned"))
    return uniform, learned


def farther(distances: Tensor) -> dict[int, str]:
    """Say why a code is not the one that stands there: code -> a sentence. distances: (K,), squared."""
    text = "Code {} lies {:.3f} from what the encoder says there: another is nearer."
    return {code: text.format(code, d) for code, d in enumerate(distances.tolist())}


def saving(uniform: float, learned: float) -> str:
    """Share of the uniform prior's price that the learned one saves, in the words of SAVINGS."""
    share = 1 - learned / uniform
    return SAVINGS[(share > 1 / 3) + (share > 1 / 2)]
