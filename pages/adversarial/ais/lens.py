"""The likelihood of a generator of points by annealed importance sampling, beside brute force.

    log Z_β = log ∫ p(z) p(x|z)^β dz,   at β = 1 log p(x)

Brute force: the mean of p(x|z)^β over MANY draws of the prior, possible as x has two numbers alone.

Shapes: x (2,); made points (C, 2) of C chains; F = T + 1 frames, the first before anything has moved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from modules.adversarial import ais
from modules.adversarial.gan import GAN

REACH, SIDE = 4.0, 41  # of the plane
MANY, CLOUD = 100_000, 4_000
STEP, STEPS = 0.2, 10  # of the leapfrog


@dataclass(frozen=True)
class Run:
    """Chains at every β.

    Attributes:
        betas: (F,). samples: (F, C, 2), what g makes of the chains. log_z, error: (F,), AIS's and its
            standard error. brute, brute_error: (F,), of MANY draws. plain, plain_error: of the draws that the
            chains begin at, alone.
        moved: share of moves that were accepted; None where there were none.
        share: of all weight that the heaviest chain has at the end.
    """

    betas: list[float]
    samples: Tensor
    log_z: list[float]
    error: list[float]
    brute: list[float]
    brute_error: list[float]
    plain: float
    plain_error: float
    moved: float | None
    share: float


def draws(model: GAN, n: int, seed: int) -> Tensor:
    """n draws of the prior, (n, K)."""
    return model.noise(n, torch.Generator().manual_seed(seed))


@torch.no_grad()
def cloud(model: GAN) -> Tensor:
    """CLOUD made points (CLOUD, 2)."""
    return model.decode(draws(model, CLOUD, 1))


@torch.no_grad()
def density(model: GAN, sd: float) -> Tensor:
    """p(x) on the plane by brute force, (SIDE, SIDE), rows upwards: the mean of CLOUD Gaussians."""
    side = torch.linspace(-REACH, REACH, SIDE)
    gap = (side[:, None] - cloud(model).T[:, None, :]).square() / (2 * sd**2)  # (2, SIDE, CLOUD)
    across, up = (-gap).exp()
    return up @ across.T / (CLOUD * 2 * math.pi * sd**2)


@lru_cache(maxsize=1)  # it takes longer than the chains, and is the same for all of them
@torch.no_grad()
def crowd(model: GAN) -> Tensor:
    """MANY made points (MANY, 2), for brute force."""
    return model.decode(draws(model, MANY, 2))


def brute_force(
    result: Tensor, x: Tensor, sd: float, betas: Sequence[float]
) -> tuple[list[float], list[float]]:
    """log Z_β and its standard error of a `crowd`, at each β."""
    fits = ais.log_likelihood(lambda known: known, x[None], result[:, None], sd)  # (MANY, 1)
    results = [ais.estimate(beta * fits.double()) for beta in betas]
    return [float(value) for value, _ in results], [float(error) for _, error in results]


def run(model: GAN, x: float, y: float, sd: float, chains: int, count: int, seed: int) -> Run:
    """AIS at a point."""
    generator, at = torch.Generator().manual_seed(seed), point(x, y)
    path = list(
        ais.anneal(model.decode, at[None], model.latent_dim, sd, chains=chains, count=count, step=STEP,
                   steps=STEPS, generator=generator)
    )  # fmt: skip
    with torch.no_grad():
        result = torch.stack([model.decode(step.z[:, 0]) for step in path])
        plain, plain_error = ais.estimate(ais.log_likelihood(model.decode, at[None], path[0].z, sd))
    results = [ais.estimate(step.log_weights) for step in path]
    betas = [step.beta for step in path]
    brute, brute_error = brute_force(crowd(model), at, sd, betas)
    moved = [step.acceptance for step in path if step.acceptance is not None]
    return Run(
        betas, result, [float(v) for v, _ in results], [float(e) for _, e in results], brute, brute_error,
        float(plain), float(plain_error), sum(moved) / len(moved) if moved else None,
        float(path[-1].log_weights.softmax(0).max()),
    )  # fmt: skip


def captions(result: Run) -> list[str]:
    """A sentence for every β."""
    return [
        f"β = {beta:.3f}: log Z is {value:.2f} ± {error:.2f} by AIS, {brute:.2f} ± {off:.2f} by brute force."
        for beta, value, error, brute, off in zip(
            result.betas, result.log_z, result.error, result.brute, result.brute_error, strict=True
        )
    ]


def numbers(result: Run) -> list[dict[str, str]]:
    """Numbers of the parts of the GAN at every β."""
    return [{"z": f"β = {beta:.2f}"} for beta in result.betas]


def equations(result: Run) -> list[str]:
    """Equation of what each β adds, LaTeX."""
    texts = [r"\log Z_0=\log\int p(z)\,dz=0"]
    for before, beta, last, value in zip(
        result.betas, result.betas[1:], result.log_z, result.log_z[1:], strict=False
    ):
        texts.append(rf"\log Z_{{{beta:.3f}}}=\log Z_{{{before:.3f}}}+({value - last:.3f})={value:.3f}")
    return texts


def verdict(result: Run) -> str:
    """Check whether AIS lies within two of its standard errors of brute force."""
    both = math.hypot(result.error[-1], result.brute_error[-1])
    return "yes" if abs(result.log_z[-1] - result.brute[-1]) <= 2 * both else "no"


def point(x: float, y: float) -> Tensor:
    """(2,)."""
    return torch.tensor([x, y])


def notice(result: Run, chains: int, sd: float) -> str:
    """Sentences that hold of this run."""
    moved = f"{result.moved:.0%} of their moves were accepted; " if result.moved is not None else ""
    return (
        f"A generator has no density by itself: p(x) is that of its samples with Gaussian noise of deviation "
        f"{sd:g}, and depends on it. Brute force averages {MANY:,} draws, which is feasible in the plane but "
        f"not for pictures. {chains} chains are annealed from the prior to the posterior; {moved}the "
        f"largest importance weight is {result.share:.0%} of their sum. The standard error does not reflect "
        "modes that no chain has found."
    )
