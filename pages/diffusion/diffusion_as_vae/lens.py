"""A diffusion model as a VAE: codes x_1 … x_T of the data's own size, an encoder without parameters; its
bound beside a VAE's on the same digit, and on Gaussian data, where everything is known.

Both decoders give masses of the 17 grey levels, so that both bounds are bits of the same picture. A density's
nats could not be compared with them.

Shapes: pictures (1, 1, 8, 8) in [0, 1]; F values of T.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import bound_terms as terms
from modules.diffusion import bound, samplers
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import Schedule, linear
from modules.latent.vae import VAE
from pages.diffusion.diffusion_as_vae.room import BEST, POSTERIOR, STEPS, VARIANCES

RUNGS = 5
MEAN, VARIANCE = 1.0, 0.25  # of the Gaussian data
ENTROPY = 0.5 * math.log(2 * math.pi * math.e * VARIANCE)
DRAWS = 500  # of z
NEAR = 0.01  # nats

# --- A digit ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """−ELBO in bits: the picture given the code next to it, the codes given those above, the last code."""

    picture: float
    codes: float
    last: float

    @property
    def total(self) -> float:
        return self.picture + self.codes + self.last


def diffusion(model: GaussianDiffusion, T: int, variance: str, x: Tensor) -> Parts:
    """L_0, Σ L_{t−1} and L_T of a picture by a chain of T steps, one draw of noise for each."""
    results = terms.schedule_of("linear", T)
    square = terms.variance(model, results, "fitted" if variance == BEST else variance)
    result = terms.terms(model, results, x, square)
    return Parts(float(result.terms[0]), float(result.terms[1:].sum()), result.prior)


@dataclass(frozen=True)
class Autoencoded:
    """
    Attributes:
        parts: `codes` is 0: one code has none above it, and its KL to the prior is `last`.
        mean, deviation: (K,) of q(z | x). again: (8, 8) decoded from the mean.
    """

    parts: Parts
    mean: Tensor
    deviation: Tensor
    again: Tensor


@torch.no_grad()
def autoencoded(model: VAE, x: Tensor) -> Autoencoded:
    """−ELBO of a picture by a VAE with a Gaussian decoder, of which the mass of each grey level counts."""
    result = model.elbo_terms(x.flatten(1), DRAWS, torch.Generator().manual_seed(0))
    mean, sigma = model.outputs(result.z)[:, 0], float((0.5 * model.decoder_log_var).exp())
    inside = 2 * x.flatten(1) - 1  # bins are those of [−1, 1], where σ is twice as large
    mass = bound.log_bin(inside.expand_as(mean), 2 * mean - 1, 2 * sigma, terms.LEVELS).sum(-1)
    parts = Parts(-float(mass.mean()) / math.log(2), 0.0, float(result.kl.sum()) / math.log(2))
    again = model.decode(result.mean).reshape(8, 8)
    return Autoencoded(parts, result.mean[0], (0.5 * result.log_var[0]).exp(), again)


def ladder(model: GaussianDiffusion, T: int, x: Tensor, seed: int = 0) -> Tensor:
    """One way up the chain, (RUNGS + 1, 8, 8) at t = 0, T/5, …, T, in [0, 1] to be drawn."""
    trajectory = climbed(model, terms.schedule_of("linear", T), x, seed)
    return model.postprocess(torch.cat(trajectory[:: T // RUNGS])).squeeze(1).clamp(0, 1)


def climbed(model: GaussianDiffusion, chain: Schedule, x: Tensor, seed: int = 0) -> list[Tensor]:
    """x_t of t = 0 … T by the encoder's own steps, in the model's units."""
    generator, trajectory = torch.Generator().manual_seed(seed), [model.preprocess(x)]
    for beta in chain.beta[1:].tolist():
        noise = torch.randn(x.shape, generator=generator)
        trajectory.append(math.sqrt(1 - beta) * trajectory[-1] + math.sqrt(beta) * noise)
    return trajectory


@dataclass(frozen=True)
class Digit:
    """
    Attributes:
        ladders: (F, RUNGS + 1, 8, 8). diffusion: by T.
    """

    ladders: Tensor
    diffusion: list[Parts]
    vae: Autoencoded


def digit(model: GaussianDiffusion, vae: VAE, image: str, variance: str) -> Digit:
    """Both models on a picture of `bound_terms`, for every T."""
    x = terms.picture(image)
    return Digit(
        torch.stack([ladder(model, T, x) for T in STEPS]),
        [diffusion(model, T, variance, x) for T in STEPS],
        autoencoded(vae, x),
    )


@dataclass(frozen=True)
class Chains:
    """
    Attributes:
        codes: (F, RUNGS + 1, S, S) the picture and x_t at T/5 … T, as the fixed encoder draws them.
        reconstructions: (F, RUNGS + 1, S, S) at the same t, as the decoder draws them from the same x_T.
        bits: (F, RUNGS) of the terms of each fifth of the chain. parts: by T.
        mean, deviation: (K,) of the VAE's q(z | x). again: (S, S) decoded from the mean.
    """

    codes: Tensor
    reconstructions: Tensor
    bits: Tensor
    parts: list[Parts]
    mean: Tensor
    deviation: Tensor
    again: Tensor


@torch.no_grad()
def chains(model: GaussianDiffusion, vae28: VAE, image: str, variance: str) -> Chains:
    """Encoder and decoder of the chain on a picture of the model's size, for every T; and the VAE's code."""
    x = terms.picture(image, *terms.of_model(model))
    codes, results, bits, parts = [], [], [], []
    for T in STEPS:
        chain, at = terms.schedule_of("cosine", T), range(0, T + 1, T // RUNGS)  # as the network was trained
        up = climbed(model, chain, x)
        down = descended(model, chain, up[-1], variance)
        codes.append([up[t] for t in at])
        results.append([down[t] for t in at])
        square = terms.variance(model, chain, "fitted" if variance == BEST else variance, True)
        result = terms.terms(model, chain, x, square, clip=True)
        bits.append(result.terms.reshape(RUNGS, -1).sum(1))
        parts.append(Parts(float(result.terms[0]), float(result.terms[1:].sum()), result.prior))

    def drawn(rungs: list[list[Tensor]]) -> Tensor:
        return model.postprocess(torch.stack([torch.cat(each) for each in rungs]))[:, :, 0].clamp(0, 1)

    mean, log_var = vae28.encode_parameters((x > 0.5).float().flatten(1))
    again = vae28.decode(mean).reshape(x.shape[-2:])
    return Chains(
        drawn(codes), drawn(results), torch.stack(bits), parts, mean[0], (0.5 * log_var[0]).exp(), again
    )


def descended(
    model: GaussianDiffusion, chain: Schedule, x: Tensor, variance: str, seed: int = 0
) -> list[Tensor]:
    """x_t of t = 0 … T by the decoder's steps from x at T; it has β̃ where that is asked for, else β."""
    ask, generator = model.denoiser(), torch.Generator().manual_seed(seed)

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        result = ask(x, model.schedule.time_of(chain.alpha_bar[t.cpu()]).to(x))
        assert isinstance(result, tuple)
        return result

    times, square = list(range(chain.T, -1, -1)), "posterior" if variance == POSTERIOR else "beta"
    trajectory = samplers.ancestral(predict, chain, x, times, square, model.clip, generator)  # type: ignore[arg-type]
    return [state.x for state in trajectory][::-1]


WHERE = ["the first, with the least noise", "one between", "the last, with the most noise"]


def dearest(result: Chains, at: int) -> str:
    """Fifth of the chain that has the most bits, of WHERE."""
    place = int(result.bits[at].argmax())
    return WHERE[0] if not place else WHERE[2] if place == RUNGS - 1 else WHERE[1]


def chain_captions(result: Chains) -> list[str]:
    """Bits of the chain, T by T."""
    return [
        f"T = {T}: the codes of the chain are {T * result.again.numel():,} numbers, the VAE's "
        f"{len(result.mean)}; the bound is {parts.total:.0f} bits."
        for T, parts in zip(STEPS, result.parts, strict=True)
    ]


def fewer(result: Digit, at: int) -> str:
    """Whose bound is lower."""
    return "diffusion" if result.diffusion[at].total < result.vae.parts.total else "VAE"


def captions(result: Digit) -> list[str]:
    """Bits of both, T by T."""
    return [
        f"T = {T}: the chain's bound is {parts.total:.1f} bits, the VAE's {result.vae.parts.total:.1f}."
        for T, parts in zip(STEPS, result.diffusion, strict=True)
    ]


def equations(chains: list[Parts]) -> list[str]:
    """The sum of a chain's terms, T by T."""
    return [
        rf"L_0 + \sum_{{t=2}}^{{{T}}} L_{{t-1}} + L_T = {p.picture:.2f} + {p.codes:.2f} + {p.last:.4f} "
        rf"= {p.total:.2f}\ \text{{bits}}"
        for T, p in zip(STEPS, chains, strict=True)
    ]


# --- A Gaussian ---------------------------------------------------------------------------------


def left(schedule: Schedule) -> Tensor:
    """Var(x_0 | x_t) of the data N(1, ¼), (T + 1,)."""
    a = schedule.alpha_bar
    return VARIANCE * (1 - a) / (a * VARIANCE + 1 - a)


def expected(T: int, variance: str) -> Parts:
    """The exact denoiser's bound, averaged over the data, in nats of a density, closed form."""
    result = linear(T)
    t, error, a = torch.arange(2, T + 1), left(result), float(result.alpha_bar[-1])
    if variance == BEST:
        steps, first = bound.best_variance(result, t, error[t]), float(error[1])
    else:
        table = bound.variances(result, variance)  # type: ignore[arg-type]
        steps, first = table[t], float(table[1])
    prior = 0.5 * (a * (MEAN**2 + VARIANCE) - a - math.log1p(-a))
    picture = 0.5 * math.log(2 * math.pi * first) + float(error[1]) / (2 * first)
    return Parts(picture, float(bound.step_kl(result, t, error[t], 1, steps).sum()), prior)


def missed(T: int) -> float:
    """KL(q(x_T) ‖ N(0, 1)), what is left of the data at the end, nats."""
    a = float(linear(T).alpha_bar[-1])
    off = a * (VARIANCE - 1)  # q(x_T) has the variance 1 + off
    return 0.5 * (off + a * MEAN**2 - math.log1p(off))


def gaussian(variance: str) -> list[Parts]:
    """By T."""
    return [expected(T, variance) for T in STEPS]


def gaps() -> dict[str, Tensor]:
    """Bound less entropy by T, (F,), and what N(0, 1) misses of q(x_T)."""
    results = {
        name: torch.tensor([p.total - ENTROPY for p in gaussian(name)], dtype=torch.float64)
        for name in VARIANCES
    }
    return {**results, "KL at T": torch.tensor([missed(T) for T in STEPS], dtype=torch.float64)}


def gaussian_captions(results: list[Parts]) -> list[str]:
    """Caption of how far above the entropy each is."""
    return [
        f"T = {T}: the bound is {p.total:.6f} nats, the entropy {ENTROPY:.6f}."
        for T, p in zip(STEPS, results, strict=True)
    ]


def gaussian_equations(results: list[Parts]) -> list[str]:
    """Terms, and the gap."""
    return [
        rf"L_0 + \sum_{{t=2}}^{{{T}}} L_{{t-1}} + L_T = {p.picture:.4f} + {p.codes:.4f} + {p.last:.6f} "
        rf"= {p.total:.4f}"
        for T, p in zip(STEPS, results, strict=True)
    ]
