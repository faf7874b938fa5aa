"""The recipe of DCGAN, line by line, on the small digits: what is played with a line left out.

Shapes: pictures (N, 1, 8, 8) from 0 to 1.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from datamodules.digits import Digits
from lab.seeding import seeded
from modules.adversarial.dcgan import DCGAN

PLAIN = "all of it"
SWITCHES: dict[str, dict[str, Any]] = {
    PLAIN: {}, "no batch norm": {"batch_norm": False}, "ReLU in D, not leaky": {"slope": 0.0},
    "pooling, not strides": {"strided": False}, "torch's first weights": {"init_sd": None},
    "no batch norm, torch's first weights": {"batch_norm": False, "init_sd": None},
    "β₁ = 0.9": {"momentum": 0.9},
}  # fmt: skip
LATENT, CHANNELS, RATE, BATCH = 32, (32, 16), 1e-3, 64
NETWORKS: dict[str, Any] = {"image_shape": (1, 8, 8), "latent_dim": LATENT, "channels": CHANNELS}


def game(
    settings: dict[str, Any], seed: int, remake: Callable[[DCGAN], nn.Module] | None = None
) -> tuple[DCGAN, dict[str, torch.optim.Optimizer]]:
    """A game, of small digits unless said, with other settings than the recipe's, and its optimizers.

    Args:
        settings: of DCGAN, and "momentum", Adam's β₁.
        remake: gives another generator in place of the model's.
    """
    settings = dict(settings)
    momentum = settings.pop("momentum", 0.5)

    def build() -> DCGAN:
        model = DCGAN(**NETWORKS | {"ema": 0.0} | settings)
        if remake is not None:
            model.enter(remake(model), model.discriminator)
        return model

    model = seeded(build, seed)
    optimizers: dict[str, torch.optim.Optimizer] = {
        name: torch.optim.Adam(parameters, lr=RATE, betas=(momentum, 0.999), fused=True)
        for name, parameters in model.players().items()
    }
    return model, optimizers


def digits() -> tuple[Tensor, Tensor]:
    """Small digits to train on, and held-out ones: (N, 1, 8, 8) each."""
    data = Digits()
    data.setup()
    known, held, test = (
        part[torch.arange(len(part))][0] for part in (data.train_set, data.val_set, data.test_set)
    )
    return known, torch.cat([held, test])
