"""Cost of a blind spot: stripes, pictures in which each pixel copies one that a single stack never sees.

The price comes from the data: no network pays less for x_i than H(x_i | the pixels that it reads).

Reference: van den Oord et al. 2016, arXiv:1606.05328, §2.3.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.binary_images import BinaryImages
from lab import experiments
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.pixelcnn import PixelModel
from pages.autoregressive.blind_spot.lens import ONE, TWO, Shape, layers_read

TRAINED = {
    ONE: "pixelcnn-stripes",
    TWO: "gatedpixelcnn-stripes",
    "B mask first": "leakypixelcnn-stripes",
}


def shape_of(model: PixelModel) -> Shape:
    """The shape of a trained model of square pictures."""
    known = model.hparams
    return Shape(
        isinstance(model, GatedPixelCNN), known["first_kernel"], known["kernel"], known["layers"],
        model.height, known.get("first_mask", "A"),
    )  # fmt: skip


def stripes(name: str) -> BinaryImages:
    """The data that experiment `name` is trained on."""
    return BinaryImages(**experiments.find(name).config["data"]["init_args"])


@dataclass(frozen=True)
class Prediction:
    """Answer of a model for one pixel of one picture: p(x_i = 1 | x_<i), and -log p of what x_i is, nats."""

    p: float
    cost: float


@torch.no_grad()
def prediction(model: PixelModel, picture: Tensor, pixel: int) -> Prediction:
    """Prediction of `pixel` of a picture (1, H, W) of bits."""
    p = float(model.conditionals(picture[None])[0].flatten()[pixel])
    return Prediction(p, -float(model.log_conditionals(picture[None])[0].flatten()[pixel]))


def entropy(codes: Tensor) -> float:
    """Entropy of the distribution that draws each of the integers `codes` (N,) equally often, nats."""
    p = codes.unique(return_counts=True)[1].double() / len(codes)
    return float(-torch.special.xlogy(p, p).sum())


def least_costs(patterns: Tensor, shape: Shape) -> Tensor:
    """H(x_i | the earlier pixels that `shape` reads) with all `patterns` equally likely, nats, (n,)."""
    x = patterns.flatten(1).long()
    place = 2 ** torch.arange(x.shape[1])
    costs = []
    for pixel in range(x.shape[1]):
        result = layers_read(shape, pixel)[-1].flatten()
        result[pixel:] = False
        codes = x @ (place * result)
        costs.append(entropy(2 * codes + x[:, pixel]) - entropy(codes))
    return torch.tensor(costs, dtype=torch.float64)


def costs(model: PixelModel, patterns: Tensor) -> Tensor:
    """-log p(x_i | x_<i) of the model, mean over all patterns, nats, (n,)."""
    with torch.no_grad():
        parts = [model.log_conditionals(part) for part in patterns.split(2048)]
        return -torch.cat(parts).double().mean(0).flatten()


def coins(patterns: Tensor) -> float:
    """The cost of pixels that know nothing of each other: Σ_i H(x_i), nats per picture."""
    return sum(entropy(pixel) for pixel in patterns.flatten(1).t())


def source_of(pixel: int, side: int, shift: int) -> int | None:
    """The pixel that `pixel` copies; None where it is a fresh coin."""
    row, column = divmod(pixel, side)
    return (row - 1) * side + column + shift if row and column + shift < side else None


def share_of_stripes(pictures: Tensor, shift: int) -> float:
    """Share of the pictures (N, 1, H, W) that are stripes."""
    return float((pictures[..., 1:, :-shift] == pictures[..., :-1, shift:]).flatten(1).all(1).float().mean())


def kinds(pictures: Tensor) -> int:
    """Number of the pictures (N, 1, H, W) that differ from one another."""
    return len(pictures.flatten(1).unique(dim=0))
