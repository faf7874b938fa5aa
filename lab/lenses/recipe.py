"""The recipe of DCGAN, line by line, on the small digits: what is played with a line left out.

Shapes: pictures (N, 1, 8, 8) from 0 to 1.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from lab.lenses import stock
from lab.seeding import seeded
from modules.adversarial.dcgan import DCGAN
from modules.mlp import mlp

PLAIN, CONNECTED = "all of it", "G fully connected, of equal size"
SWITCHES: dict[str, dict[str, Any]] = {
    PLAIN: {}, "no batch norm": {"batch_norm": False}, "ReLU in D, not leaky": {"negative_slope": 0.0},
    "pooling, not strides": {"strided": False}, "torch's first weights": {"init_std": None},
    "no batch norm, torch's first weights": {"batch_norm": False, "init_std": None},
    "β₁ = 0.9": {"momentum": 0.9}, CONNECTED: {"connected": True},
}  # fmt: skip
LATENT, CHANNELS, RATE, BATCH = 32, (32, 16), 1e-3, 64
NETWORKS: dict[str, Any] = {"image_shape": (1, 8, 8), "latent_dim": LATENT, "channels": CHANNELS}


def game(
    settings: dict[str, Any], seed: int, remake: Callable[[DCGAN], nn.Module] | None = None
) -> tuple[DCGAN, dict[str, torch.optim.Optimizer]]:
    """A game, of small digits unless said, with other settings than the recipe's, and its optimizers.

    Args:
        settings: of DCGAN, "momentum", Adam's β₁, and "connected", whether G has no convolutions.
        remake: gives another generator in place of the model's.
    """
    settings = dict(settings)
    momentum = settings.pop("momentum", 0.5)
    if settings.pop("connected", False):
        remake = fully_connected

    def build() -> DCGAN:
        model = DCGAN(**NETWORKS | {"ema": 0.0} | settings)
        if remake is not None:
            model.set_networks(remake(model), model.discriminator)
        return model

    model = seeded(build, seed)
    optimizers: dict[str, torch.optim.Optimizer] = {
        name: torch.optim.Adam(parameters, lr=RATE, betas=(momentum, 0.999), fused=True)
        for name, parameters in model.players().items()
    }
    return model, optimizers


def fully_connected(model: DCGAN) -> nn.Sequential:
    """A generator of as many layers and about as many parameters as the model's, first weights alike."""
    learnt = (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)
    depth = sum(isinstance(layer, learnt) for layer in model.generator.modules())
    total = sum(p.numel() for p in model.generator.parameters())
    outputs = math.prod(model.event_shape)
    h = width(model.latent_dim, outputs, depth, total)
    result = nn.Sequential(
        *mlp([model.latent_dim, *[h] * (depth - 1), outputs], nn.ReLU),
        nn.Unflatten(1, model.event_shape), nn.Tanh(),
    )  # fmt: skip
    return result.apply(initialize_he)


def initialize_he(module: nn.Module) -> None:
    """He's first weights: without batch norm small ones would leave hardly anything of z."""
    if isinstance(module, nn.Linear):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)


def width(inputs: int, outputs: int, depth: int, parameters: int) -> int:
    """Units of each hidden layer of a fully connected network of `depth` layers that has as many parameters,
    or a little fewer."""

    def size(h: int) -> int:
        sizes = [inputs, *[h] * (depth - 1), outputs]
        return sum((a + 1) * b for a, b in pairwise(sizes))

    h = 1
    while size(h + 1) <= parameters:
        h += 1
    return h


def digits() -> tuple[Tensor, Tensor]:
    """Small digits to train on, and held-out ones: (N, 1, 8, 8) each."""
    return stock.digits("train")[0], stock.digits(*stock.HELD_OUT)[0]
