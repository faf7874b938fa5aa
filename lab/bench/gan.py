"""An update of each network against a plain loop over the same two networks, optimizers and batches."""

import copy
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.bench.timing import Row, interleaved, paired_row
from lab.seeding import seeded
from modules.adversarial.base import BaseGAN
from modules.adversarial.dcgan import DCGAN
from modules.adversarial.gan import GAN


def measure(quick: bool = False) -> list[Row]:
    """Ratios ours / plain of so many batches."""
    batches, repeats = (1, 1) if quick else (20, 15)
    draw = torch.Generator().manual_seed(0)
    plane, pictures = torch.randn(256, 2, generator=draw), torch.rand(64, 1, 28, 28, generator=draw)
    points, grids = lambda: GAN(hidden=(128, 128), ema=0.0), lambda: DCGAN(ema=0.0)
    cases: list[tuple[str, Callable[[], BaseGAN], Tensor, int, str]] = [
        ("2-D GAN, 2 layers of 128, 256 points", points, plane, batches, "≤ 1.15"),
        ("DCGAN of 28 × 28, 64 pictures", grids, 2 * pictures - 1, max(1, batches // 10), "≤ 1.05"),
    ]
    rows = []
    for case, make, x, count, target in cases:
        model = seeded(make, 0)
        pairs = interleaved(repeated(ours(model, x), count), repeated(plain(model, x), count), repeats)
        rows.append(paired_row("gan", f"{case}: {count} batches", pairs, target, "a plain torch loop"))
    return rows


def repeated(batch: Callable[[], Any], count: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            batch()

    return run


def adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=2e-4, betas=(0.5, 0.999))


def ours(model: BaseGAN, x: Tensor) -> Callable[[], None]:
    """A batch of updates as the models make them: each loss in its order, lowered by its player alone."""
    model = copy.deepcopy(model)
    players = model.players()
    optimizers = {name: adam(parameters) for name, parameters in players.items()}

    def batch() -> None:
        for player, loss in model.updates(x):
            optimizers[player].zero_grad()
            loss.backward(inputs=players[player])  # type: ignore[no-untyped-call]
            optimizers[player].step()

    return batch


def plain(model: BaseGAN, x: Tensor) -> Callable[[], None]:
    """The same written out, with the non-saturating loss."""
    generator, discriminator = copy.deepcopy(model.generator), copy.deepcopy(model.discriminator)
    g_optimizer, d_optimizer = adam(generator.parameters()), adam(discriminator.parameters())

    def batch() -> None:
        with torch.no_grad():
            fake = generator(torch.randn(len(x), model.latent_dim))
        d_optimizer.zero_grad()
        (F.softplus(-discriminator(x)).mean() + F.softplus(discriminator(fake)).mean()).backward()
        d_optimizer.step()
        g_optimizer.zero_grad()
        F.softplus(-discriminator(generator(torch.randn(len(x), model.latent_dim)))).mean().backward()
        g_optimizer.step()

    return batch
