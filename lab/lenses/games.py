"""Games of two networks on points of the plane, played by one protocol; the caller watches and measures.

Two layers of 128 units, Adam at 10⁻³ with β₁ = ½, 256 examples a batch, no averaging.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lab.lenses.rewind import Optimizers, set_rate
from lab.seeding import seeded
from modules.adversarial.alternating import Update
from modules.adversarial.base import BaseGAN
from modules.adversarial.gan import GAN
from modules.adversarial.madgan import MADGAN
from modules.adversarial.tricks import TrickGAN
from modules.adversarial.veegan import VEEGAN

RATE, BATCH = 1e-3, 256
PENALISED = {"loss": "Wasserstein", "penalty": 1.0}
SLOW = {"g_steps": 5}

# name -> settings of the model; "rate" is of the generator alone
LOSSES: dict[str, dict[str, Any]] = {
    "saturating": {"loss": "saturating"},
    "non-saturating": {"loss": "non-saturating"},
    "least squares": {"loss": "least squares"},
    "hinge": {"loss": "hinge"},
    "hinge, spectral norm": {"loss": "hinge", "spectral": True},
    "relativistic": {"loss": "relativistic"},
    "energy": {"loss": "energy"},
    "f-divergence, Pearson": {"loss": "f-divergence", "loss_settings": {"divergence": "Pearson"}},
    "Wasserstein, clipped": {"loss": "Wasserstein", "clip": 0.1},
    "Wasserstein, penalty": PENALISED,
}
FAILURES: dict[str, dict[str, Any]] = {
    "G's rate × 10": {"rate": 10 * RATE}, "5 turns of G": SLOW, "D of 8 units": {"discriminator_hidden": [8]},
}  # fmt: skip
CURES: dict[str, dict[str, Any]] = {
    "minibatch std": {"minibatch_std": True}, "packs of 4": {"pack": 4}, "penalty": PENALISED,
}  # fmt: skip
# what else is said to help: name -> settings, "kind" among them where it is another game than `GAN`
TRICKS: dict[str, dict[str, Any]] = {
    "4 generators": {"kind": "MADGAN", "generators": 4},
    "noise found again": {"kind": "VEEGAN"},
    "mode seeking": {"kind": "tricks", "mode_seeking": 1.0},
    "best half": {"kind": "tricks", "top_share": 0.5},
    "labels of 0.9": {"kind": "tricks", "smoothing": 0.9},
    "old fakes too": {"kind": "tricks", "history": 2048},
    "noise on D's input": {"kind": "tricks", "instance_noise": 0.3},
    "orthogonal G": {"kind": "tricks", "orthogonal": 1e-3},
}
KINDS: dict[str, type[GAN]] = {"GAN": GAN, "MADGAN": MADGAN, "VEEGAN": VEEGAN, "tricks": TrickGAN}


def losses() -> list[str]:
    """Names of LOSSES, for a choice."""
    return list(LOSSES)


def playing(
    x: Tensor, settings: Mapping[str, Any], batches: int, seed: int, every: int, size: int = BATCH
) -> Iterator[tuple[int, GAN, torch.Generator]]:
    """Train a game on points x (N, 2), or on x of the settings' `event_shape`: batches so far, the game and
    its generator of random numbers, before the first batch and after each `every`; the caller may look,
    and should leave the generator alone.

    Args:
        size: examples a batch.
    """
    settings = dict(settings)
    rate = settings.pop("rate", RATE)
    model = seeded(lambda: network(settings), seed)
    optimizers = adams(model)
    set_rate(optimizers["generator"], rate)
    for done, generator in moves(model, optimizers, x, batches, seed, every, size):
        yield done, model, generator


def network(settings: Mapping[str, Any]) -> GAN:
    """The protocol's two networks, untrained; called where torch's generator is seeded."""
    given = {name: value for name, value in settings.items() if name != "kind"}
    return KINDS[settings.get("kind", "GAN")](hidden=(128, 128), ema=0.0, **given)


def adams(model: BaseGAN) -> dict[str, torch.optim.Optimizer]:
    """The protocol's optimizer for each player, new."""
    return {
        name: torch.optim.Adam(parameters, lr=RATE, betas=(0.5, 0.999), fused=True)
        for name, parameters in model.players().items()
    }


def take(
    updates: Iterable[Update], players: Mapping[str, list[nn.Parameter]], optimizers: Optimizers
) -> None:
    """Make updates one after the other; each moves the weights of one player alone."""
    for player, loss in updates:
        optimizers[player].zero_grad()
        loss.backward(inputs=players[player])  # type: ignore[no-untyped-call]
        optimizers[player].step()


def moves(
    model: BaseGAN, optimizers: Optimizers, x: Tensor, batches: int, seed: int,
    every: int, size: int,
) -> Iterator[tuple[int, torch.Generator]]:  # fmt: skip
    """Train any game on examples x (N, ...), an optimizer for each player: batches so far and the generator
    of random numbers, before the first batch and after each `every`."""
    players = model.players()
    generator = torch.Generator().manual_seed(seed)
    yield 0, generator
    model.train()
    for done in range(1, batches + 1):
        batch, given = model.unpack(x[torch.randint(len(x), (size,), generator=generator)])
        take(model.updates(batch, generator, **given), players, optimizers)
        if done % every == 0 or done == batches:
            yield done, generator
            model.train()  # whoever looks may have asked it for its running statistics
