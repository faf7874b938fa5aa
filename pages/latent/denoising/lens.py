"""Three autoencoders of one shape: plain, denoising, variational. What each makes of a damaged digit, and of
codes from a prior that only one of them was trained with.

References: Vincent et al. 2010, Stacked Denoising Autoencoders; Bourlard & Kamp 1988; [GM] §1.5.3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from modules.latent.bounds import bernoulli_log_prob
from modules.latent.denoising import DenoisingAutoencoder, Kind, corrupt
from modules.latent.vae import VAE

MODELS = {"AE": "ae-digits", "DAE": "dae-digits", "VAE": "vae-bits-digits"}
REFEREE = "nade-digits"
KINDS: tuple[Kind, ...] = ("mask", "flip", "noise")
DOES = {"mask": "blacked out", "flip": "flipped", "noise": "of grey noise"}
LEVELS = [i / 20 for i in range(19)]
DRAWS = 5  # of the noise on the reader's digit; of codes, in each of two rows
SOURCES = ("N(0, I)", "fitted")
SPREADS = [i / 4 for i in range(9)]
JUDGED = 400  # draws whose cost is averaged


def fits(role: str) -> Callable[[Experiment], bool]:
    """Check whether an experiment trains that one of the three: of one shape, on black and white small
    digits."""

    def one(entry: Experiment) -> bool:
        if not surfaces.of_digits(entry, "threshold"):
            return False
        if not surfaces.alike(entry, MODELS[role], "latent_dim", "hidden", "activation"):
            return False
        if role == "VAE":
            return surfaces.keeps(
                entry, VAE, "networks", "prior", "sample_posterior", "encode_parameters", "outputs", "decode"
            )
        corruption = surfaces.option(entry, "corruption")
        return surfaces.is_a(entry, DenoisingAutoencoder) and (corruption > 0) == (role == "DAE")

    return one


def levels(x: Tensor, kind: Kind, seed: int) -> Tensor:
    """(F, N, D): x (N, D) damaged at each of LEVELS, by the same draws throughout."""
    return torch.stack([corrupt(x, kind, d, torch.Generator().manual_seed(seed)) for d in LEVELS])


@torch.no_grad()
def rebuilt(model: Any, x: Tensor) -> Tensor:
    """Rebuild x (..., D): the probability of each pixel at the (mean) code."""
    return model.decode(model.encode(x.flatten(0, -2))).reshape(x.shape)


def wrong(p: Tensor, x: Tensor) -> Tensor:
    """Mean number of pixels on the wrong side of a half: p (..., N, D) against bits x (N, D)."""
    return ((p > 0.5) != (x > 0.5)).sum(-1).float().mean(-1)


@dataclass(frozen=True)
class Healed:
    """One or more digits, damaged at F levels.

    Attributes:
        pictures: "x̃" and the models' names -> (F, N, D).
        wrong: the same -> (F,) mean pixels on the wrong side of a half.
        nats: models' names -> (F,) mean −log p(x|x̂).
    """

    pictures: dict[str, Tensor]
    wrong: dict[str, Tensor]
    nats: dict[str, Tensor]


@torch.no_grad()
def heal(models: Mapping[str, Any], x: Tensor, kind: Kind, seed: int) -> Healed:
    """Digits x (N, D), damaged and rebuilt."""
    given = levels(x, kind, seed)
    pictures = {"x̃": given, **{name: rebuilt(model, given) for name, model in models.items()}}
    nats = {
        name: -bernoulli_log_prob(x, pictures[name].logit(1e-6)).sum(-1).mean(-1) for name in models
    }  # fmt: skip
    return Healed(pictures, {name: wrong(p, x) for name, p in pictures.items()}, nats)


@torch.no_grad()
def drawn(model: Any, x: Tensor, source: str, count: int, seed: int) -> Tensor:
    """(S, count, D): decoded at each of SPREADS, from s · N(0, I), or from the Gaussian fitted to the codes
    of x (N, D), its deviations times s."""
    noise = torch.randn(count, model.latent_dim, generator=torch.Generator().manual_seed(seed))
    mean = torch.zeros(model.latent_dim)
    if source == "fitted":
        z = latent.codes(model, x)
        mean, noise = z.mean(0), noise @ torch.linalg.cholesky(z.T.cov()).T
    codes = mean + torch.tensor(SPREADS)[:, None, None] * noise
    return model.decode(codes.flatten(0, 1)).reshape(len(SPREADS), count, -1)


@torch.no_grad()
def judged(referee: Any, pictures: Tensor) -> Tensor:
    """Mean −log p of pictures (S, N, D), made black and white at a half, by a trained density: (S,)."""
    bits = (pictures > 0.5).float()
    return torch.stack([-referee.log_prob(one).mean() for one in bits])


def spread_of_codes(model: Any, x: Tensor) -> float:
    """Root mean square deviation of the codes of x (N, D) in a dimension."""
    return latent.codes(model, x).var(0).mean().sqrt().item()


def best(values: Mapping[str, Tensor], at: int) -> str:
    """The model with the least at a frame."""
    return min(MODELS, key=lambda name: float(values[name][at]))


def healing(result: Healed, kind: Kind, level: int) -> str:
    """Say what became of the reader's digit."""
    d = LEVELS[level]
    share = f"σ = {d:g}" if kind == "noise" else f"{d:.0%} {DOES[kind]}"
    each = ", ".join(f"{name} {float(result.wrong[name][level]):.1f}" for name in MODELS)
    return f"{share}: wrong pixels of yours, {float(result.wrong['x̃'][level]):.1f} as given; {each}."


def sheet(result: Mapping[str, Tensor], rows: Sequence[str]) -> Tensor:
    """(F, R, C, 8, 8): a row a name."""
    return torch.stack([result[name] for name in rows], 1).unflatten(-1, (8, 8))


def two_rows(result: Mapping[str, Tensor]) -> Tensor:
    """(S, 6, DRAWS, 8, 8): the first draws of each model in two rows."""
    parts = [result[name][:, : 2 * DRAWS].unflatten(1, (2, DRAWS)) for name in MODELS]
    return torch.cat(parts, 1).unflatten(-1, (8, 8))
