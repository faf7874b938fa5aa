"""Posterior collapse measured: what a code costs, what it saves, and what can be read from it.

    bound      −ELBO = −E log p(x|z) + KL,   the same at full price whatever a training paid for the KL
    use of z   −E log p(x|z′) + E log p(x|z), z′ the code of another example: 0 where nobody listens to z
    probe      the class read by a line from μ, and from z as it is drawn: noise hides what costs nothing

References: Bowman et al. 2016, arXiv:1511.06349; Chen et al. 2017, arXiv:1611.02731; [GM] §3.11.1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.two_chains import TwoChains
from lab.experiments import Experiment
from lab.lenses import latent, stock, surfaces
from lab.lenses.code_use import Swap, swap
from lab.lenses.latent import majority_accuracy, probe
from modules.latent.autoregressive_decoder import AutoregressiveVAE
from modules.latent.bounds import reparameterize
from modules.latent.vae import VAE

__all__ = [
    "DATA",
    "Dimensions",
    "Swap",
    "TwoChains",
    "Use",
    "beside",
    "chains",
    "cheapest",
    "code_costs",
    "decoded",
    "dimensions",
    "fits",
    "majority_accuracy",
    "short",
    "swap",
    "typed",
    "use",
]

DATA = {"Two chains": "datamodules.two_chains.TwoChains", "Digits": "datamodules.digits.Digits"}
LENGTH = 32  # bits in a string of the chains that ship
PLAIN = {"Two chains": "factorised-chains", "Digits": "vae-bits-digits"}


def fits(data: str) -> Callable[[Experiment], bool]:
    """Check whether an experiment trains the bound of a VAE at β = 1 on these bits, its encoder that of the
    others: the decoders and the cures are what is compared."""

    def one(entry: Experiment) -> bool:
        known = (
            surfaces.of_digits(entry, "threshold")
            if data == "Digits"
            else entry.datamodule == DATA[data] and surfaces.option(entry, "length", "data") == LENGTH
        )
        return (
            known
            and surfaces.keeps(entry, VAE, "objective", "encode_parameters", "sample_posterior", "prior")
            and surfaces.alike(entry, PLAIN[data], "latent_dim", "hidden", "decoder", "beta")
        )

    return one


def chains(split: str) -> tuple[Tensor, Tensor]:
    """Strings (N, 32) and the chain that each was drawn from (N,)."""
    x, y = stock.examples(TwoChains, split, most=2000, length=LENGTH)
    return x, y


def typed(text: str) -> Tensor:
    """A string of bits as typed, (1, 32); blanks do not count.

    Raises:
        ValueError: a character is no bit, or their number is not 32.
    """
    bits = "".join(text.split())
    wrong = next((c for c in bits if c not in "01"), None)
    if wrong is not None:
        raise ValueError(f"“{wrong}” is no bit: type 0 and 1 alone. The example is shown instead.")
    if len(bits) != LENGTH:
        raise ValueError(f"That is {len(bits)} bits: type {LENGTH}. The example is shown instead.")
    return torch.tensor([[float(c) for c in bits]])


@dataclass(frozen=True)
class Use(Swap):
    """As `Swap`; `from_mean`, `from_draw` are shares of the classes that a line reads from μ, and from a draw
    of z."""

    from_mean: float
    from_draw: float


@torch.no_grad()
def use(model: VAE, x: Tensor, y: Tensor, train_x: Tensor, train_y: Tensor, seed: int = 0) -> Use:
    """Over x (N, D) and their classes y (N,); the probes are fitted on the train_ ones."""
    generator = torch.Generator().manual_seed(seed)
    result, parts = swap(model, x, generator)
    mean, log_var = model.encode_parameters(train_x)
    noise = torch.randn(mean.shape, generator=generator)
    read = [probe(a, train_y, b, y) for a, b in
            ((mean, parts.mean), (reparameterize(mean, log_var, noise), parts.z[0]))]  # fmt: skip
    return Use(result.own, result.other, result.kl, result.active, *read)


@dataclass(frozen=True)
class Dimensions:
    """Contents of each dimension of a code, means over held-out data, the most costly first.

    Attributes:
        order: (K,) numbers of the dimensions, from 0.
        kl: (K,) E KL_j, nats; their sum is the model's KL.
        moved: (K,) Var_x μ_j(x), in units of the prior's variance.
        active: (K,) whether that is above `latent.MOVES` ([GM] §3.11.1).
    """

    order: list[int]
    kl: Tensor
    moved: Tensor
    active: Tensor

    @property
    def paid(self) -> float:
        return self.kl.sum().item()


@torch.no_grad()
def dimensions(model: VAE, x: Tensor) -> Dimensions:
    """Over x (N, D); exact, no draws."""
    mean, log_var = model.encode_parameters(x)
    kl = latent.gaussian_kl(mean, log_var).mean(0)
    order = kl.argsort(descending=True)
    result = kl, mean.var(0, unbiased=False), latent.active_units(mean)
    return Dimensions(order.tolist(), *(part[order] for part in result))


def cheapest(results: Sequence[Dimensions]) -> int:
    """Find where the most costly dimension costs least."""
    return min(range(len(results)), key=lambda i: float(results[i].kl[0]))


def beside(own: Tensor, others: Tensor) -> Tensor:
    """(1 + N, D): the reader's x (1, D), then the others (N, D)."""
    return torch.cat([own, others])


@torch.no_grad()
def decoded(model: VAE, x: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Draws of p(x|z) with the own code of x (N, D), and with another's; (N, D) each."""
    generator = torch.Generator().manual_seed(seed)
    z = model.elbo_terms(x, generator=generator).z[0]
    out = []
    for codes in (z, z.roll(1, dims=0)):
        if isinstance(model, AutoregressiveVAE):
            drawn, _ = model.generate(codes, lambda p: torch.bernoulli(p, generator=generator))
        else:
            drawn = torch.bernoulli(model.decode(codes).flatten(1), generator=generator)
        out.append(drawn)
    return out[0], out[1]


@torch.no_grad()
def code_costs(model: VAE, x: Tensor, others: Tensor) -> tuple[float, float, float]:
    """Costs of one x (1, D): −log p(x|z) at its own mean code, its mean at the codes of `others` (N, D), and
    its KL."""
    mean, log_var = model.encode_parameters(x)
    codes = torch.cat([mean, model.encode(others)])[:, None]  # (1 + N, 1, K)
    costs = -model.log_likelihood(x, codes)[:, 0]
    return costs[0].item(), costs[1:].mean().item(), latent.gaussian_kl(mean, log_var).sum().item()


def short(names: Sequence[str]) -> list[str]:
    """Names of experiments without their data."""
    return [name.replace("-chains", "").replace("-digits", "") for name in names]
