"""Glows of digits: which rooms can show them, grey levels with the noise that makes them real numbers, and
what a Glow says of them.

Shapes: x (N, 1, H, W) grey levels; z (..., D).
"""

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import stock, surfaces
from modules.flow.dequantize import bits_per_dim
from modules.flow.glow import Glow

START = "glow-digits"
SIDE = 8
WHITE = 16  # the highest grey level of the small digits


def fits(entry: Experiment) -> bool:
    """True for a Glow of the small digits."""
    return any_size(entry) and entry.datamodule == "datamodules.digits.Digits"


def any_size(entry: Experiment) -> bool:
    """True for a Glow of all digits, small ones or MNIST's."""
    sides = {"datamodules.digits.Digits": SIDE, "datamodules.mnist.MNIST": 28}
    return (
        surfaces.is_a(entry, Glow)
        and surfaces.option(entry, "image_size", "data") == sides.get(entry.datamodule, 0)
        and surfaces.option(entry, "binarize", "data") == "levels"
        and surfaces.option(entry, "exclude", "data") is None
    )


def digits(split: str = "held out") -> tuple[Tensor, Tensor]:
    """Grey levels (N, 1, 8, 8), 0 to 16, and labels: `train`, or those of validation and test."""
    return stock.digits(*(stock.HELD_OUT if split == "held out" else (split,)), form="levels")


def white(model: Glow) -> int:
    """The highest grey level."""
    return model.num_categories - 1


def levels(picture: Tensor, white: int = WHITE) -> Tensor:
    """A picture (..., H, W) in [0, 1] as grey levels (N, 1, H, W)."""
    return (picture.reshape(-1, 1, *picture.shape[-2:]) * white).round()


def noise(x: Tensor, seed: int = 0) -> Tensor:
    """u in [0.02, 0.98) of the shape of x, the same for every picture: the noise of the pages."""
    generator = torch.Generator().manual_seed(seed)
    return (0.02 + 0.96 * torch.rand(x.shape[1:], generator=generator)).expand_as(x)


@torch.no_grad()
def log_prob(model: Glow, x: Tensor, draws: int = 4) -> Tensor:
    """(N,) the bound E_u log p(x + u), from the same `draws` of uniform noise for every x, nats."""
    rows = []
    for seed in range(draws):
        u = torch.rand(x.shape[1:], generator=torch.Generator().manual_seed(seed))
        rows.append(model.log_prob(x + u.clamp(max=1 - 1e-6)))
    return torch.stack(rows).mean(0)


def bits_of(model: Glow, log_p: float) -> float:
    """Bits per pixel."""
    return float(bits_per_dim(torch.tensor(log_p, dtype=torch.float64), model.event_dim))


@torch.no_grad()
def pictures(model: Glow, z: Tensor) -> Tensor:
    """z (..., D) -> grey levels (..., H, W)."""
    flat = model.decode(z.reshape(-1, z.shape[-1]))
    whole = flat.floor().clamp(0, model.num_categories - 1)
    return whole.reshape(*z.shape[:-1], *whole.shape[-2:])
