"""A game stops for the generator, and goes on for the discriminator: what gradient would G still get?

    saturating       ∇_θ mean log(1 − D(g(z)))        per example D times the slope of f: falls as D wins
    non-saturating   ∇_θ mean −log D(g(z))            1 − D times it: does not
    critic           ∇_θ mean −f(g(z))                the slope of f itself, held near 1 by a penalty

All three are gradients of one frozen generator, at the same PROBED z; D of the first two goes on as the game
has left it, the critic begins anew. Noise, where there is some, is added to whatever D or the critic sees.

Shapes: small digits x (N, 1, 8, 8); F looks; histograms of the logit f (F, BINS).

References: Arjovsky & Bottou 2017, arXiv:1701.04862 (the experiment); [UDL] §15.2.2, figs 15.6–15.7.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lab.lenses import stock
from lab.lenses.games import RATE, network, playing
from lab.seeding import seeded
from modules.adversarial.gan import GAN, Discriminator
from modules.adversarial.losses import GANLoss, NonSaturating, Saturating, Wasserstein, gradient_penalty

LOSSES: dict[str, GANLoss] = {
    "saturating": Saturating(),
    "non-saturating": NonSaturating(),
    "critic": Wasserstein(),
}
BATCH, PROBED = 64, 512
LOOKS, BINS, REACH = 25, 31, 15.5  # of f; what lies beyond is counted in the outermost bars
PENALTY = 1.0
QUICK = 100  # turns of the game, and steps of D after it, that take a second
OPTIONS = ["less than a tenth", "a tenth to a half", "more than half"]


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        steps: of D since G was frozen.
        norms: ‖∇_θ L‖ by the names of LOSSES.
        real, fake: (BINS,) shares of f on digits and on what G makes.
    """

    steps: int
    norms: dict[str, float]
    real: Tensor
    fake: Tensor


def digits() -> Tensor:
    """Training digits (N, 1, 8, 8), 0 to 1."""
    return stock.digits("train")[0]


def gradient_norm(
    generator: nn.Module, discriminator: nn.Module, loss: GANLoss, z: Tensor, noise: Tensor | float = 0.0
) -> float:
    """‖∇_θ L‖ of the mean over z (B, K), over all weights of the generator."""
    of_fake = discriminator(generator(z) + noise)
    slopes = torch.autograd.grad(loss.generator(of_fake, of_fake), list(generator.parameters()))
    return float(torch.stack([slope.square().sum() for slope in slopes]).sum().sqrt())


def shares(f: Tensor) -> Tensor:
    """Shares of logits (N,) in BINS bars from −REACH to REACH."""
    inside = f.clamp(-REACH + 1e-3, REACH - 1e-3)
    return torch.histc(inside, BINS, -REACH, REACH) / len(f)


def settings(width: int) -> dict[str, Any]:
    """Settings of the two networks, D of two layers of so many units."""
    return {"loss": "non-saturating", "event_shape": (1, 8, 8), "discriminator_hidden": [width, width]}


def untrained(width: int) -> GAN:
    """The two networks before the game."""
    return seeded(lambda: network(settings(width)))


def game(turns: int, width: int, seed: int) -> Iterator[tuple[int, GAN]]:
    """The game until the generator is frozen: turns so far, and the model."""
    for done, model, _ in playing(digits(), settings(width), turns, seed, max(1, turns // 10), BATCH):
        yield done, model


def watching(
    turns: int, steps: int, width: int, noise: float, seed: int
) -> Iterator[tuple[float, list[Look]]]:
    """The game, then D and a critic alone: the share done, and all looks so far."""
    for done, now in game(turns, width, seed):
        model = now
        yield 0.9 * done / (turns + steps), []
    for done, looks in alone(model, digits(), steps, width, noise, seed):
        yield (turns + done) / (turns + steps), looks


def alone(
    model: GAN, x: Tensor, steps: int, width: int, noise: float, seed: int
) -> Iterator[tuple[int, list[Look]]]:
    """D of a game and a new critic of the same size go on against a generator that stands still."""
    generator = torch.Generator().manual_seed(seed + 1)
    dims = x[0].numel()
    critic = seeded(lambda: Discriminator(dims, [width, width], 1, False, False), seed + 1)
    discriminators = {"D": model.discriminator, "critic": critic}
    optimizers = {
        name: torch.optim.Adam(discriminator.parameters(), lr=RATE, betas=(0.5, 0.999), fused=True)
        for name, discriminator in discriminators.items()
    }
    probes = torch.Generator().manual_seed(7)
    z = model.noise(PROBED, probes)
    blur = noise * torch.randn(PROBED, *x.shape[1:], generator=probes)
    looks = list[Look]()
    every = max(1, steps // LOOKS)
    for done in range(steps + 1):
        if done:
            real = x[torch.randint(len(x), (BATCH,), generator=generator)]
            with torch.no_grad():
                fake = model.generator(model.noise(BATCH, generator))
            real, fake = (
                some + noise * torch.randn(some.shape, generator=generator) for some in (real, fake)
            )
            for name, discriminator in discriminators.items():
                loss = LOSSES["critic" if name == "critic" else "saturating"]
                value = loss.discriminator(discriminator(real), discriminator(fake))
                if name == "critic":
                    value = value + PENALTY * gradient_penalty(discriminator, real, fake, generator=generator)
                optimizers[name].zero_grad()
                value.backward()  # type: ignore[no-untyped-call]
                optimizers[name].step()
        if done % every == 0:
            looks = [*looks, look(model, critic, x[:PROBED], z, blur, done)]
            yield done, looks


def look(model: GAN, critic: nn.Module, x: Tensor, z: Tensor, blur: Tensor, done: int) -> Look:
    """The three gradients, and the output of D."""
    discriminators = {name: critic if name == "critic" else model.discriminator for name in LOSSES}
    norms = {
        name: gradient_norm(model.generator, discriminators[name], loss, z, blur)
        for name, loss in LOSSES.items()
    }
    with torch.no_grad():
        real, fake = model.discriminator(x + blur[: len(x)]), model.discriminator(model.generator(z) + blur)
    return Look(done, norms, shares(real), shares(fake))


def numbers(looks: list[Look]) -> list[dict[str, str]]:
    """Numbers of the parts of the GAN at every look."""
    return [{"G": "frozen", "D": f"step {one.steps:,}"} for one in looks]


def captions(looks: list[Look]) -> list[str]:
    """Caption of every look."""
    return [
        f"After {one.steps:,} more steps of D: saturating {one.norms['saturating']:.3g}, "
        f"non-saturating {one.norms['non-saturating']:.3g}, critic {one.norms['critic']:.3g}."
        for one in looks
    ]


def equations(looks: list[Look]) -> list[str]:
    """The norms with their gradients, LaTeX."""
    return [
        rf"\|\nabla_\theta\mathbb{{E}}\log(1-D)\|={one.norms['saturating']:.4f},\qquad "
        rf"\|\nabla_\theta\mathbb{{E}}(-\log D)\|={one.norms['non-saturating']:.4f},\qquad "
        rf"\|\nabla_\theta\mathbb{{E}}(-f)\|={one.norms['critic']:.4f}"
        for one in looks
    ]


def left(looks: list[Look]) -> str:
    """The one of OPTIONS that is left of the saturating gradient at the end."""
    share = looks[-1].norms["saturating"] / looks[0].norms["saturating"]
    return OPTIONS[0] if share < 0.1 else OPTIONS[1] if share <= 0.5 else OPTIONS[2]
