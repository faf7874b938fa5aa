"""The stock of data that rooms share, read once per process: do not change what it answers.

    digits("test")                  small digits as they are, (N, 1, 8, 8) in [0, 1], and their classes
    digits(*HELD_OUT)               those that no model of the house is trained on, validation first
    digits("train", form="levels")  as whole numbers, or another way of `datamodules.mnist.Binarize`
    examples(Sprites, "test")       the same of any other data
    photographs(48)                 two in colour, by name, (3, S, S) in [0, 1]

Shapes: pictures (N, 1, S, S) float32, classes (N,) int64.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache

import torch
import torch.nn.functional as F
from sklearn.datasets import load_iris, load_sample_image
from torch import Tensor

from datamodules import fetch
from datamodules.base import DataModule
from datamodules.digits import Digits
from datamodules.mnist import MNIST, Binarize
from lab.lenses.latent import in_mnist_frame

HELD_OUT = ("val", "test")


@lru_cache(maxsize=32)
def examples(
    data: Callable[..., DataModule], *splits: str, most: int | None = None, **options: Hashable
) -> tuple[Tensor, ...]:
    """All examples of some data: the tensors of a batch, of these splits one after the other.

    Args:
        most: of each split, the first ones; None is all.
        options: of the data's constructor.

    Raises:
        MissingData: their files are neither on disk nor to be fetched.
    """
    result = data(**options)
    for stage, read in (("fit", ("train", "val")), ("test", ("test",))):
        if any(split in read for split in splits):
            result.setup(stage)
    parts = [getattr(result, f"{split}_set") for split in splits]
    batches = [part[torch.arange(len(part))[:most]] for part in parts]
    return tuple(torch.cat(column) for column in zip(*batches, strict=True))


def digits(
    *splits: str, form: Binarize = "none", side: int = 8, exclude: int | None = None
) -> tuple[Tensor, Tensor]:
    """Small digits of these splits and their classes.

    Args:
        form: how grey levels become numbers, as of `datamodules.mnist`.
        side: pixels a side; other than 8 are resampled.
        exclude: a class that is left out.
    """
    x, y = examples(Digits, *splits, binarize=form, image_size=side, exclude=exclude)
    return x, y


def bits(split: str = "test") -> tuple[Tensor, Tensor]:
    """Small digits in black and white as models of vectors see them, x (N, 64), and their classes."""
    x, y = digits(split, form="threshold")
    return x.flatten(1), y


def has_mnist() -> bool:
    """Check whether the files of MNIST are here."""
    return any(row["present"] for row in fetch.status() if row["dataset"] == "MNIST")


def grey(side: int, count: int, mnist: bool) -> tuple[Tensor, Tensor]:
    """Held-out grey digits (count, side, side) and their classes.

    Args:
        mnist: of MNIST itself, 28 a side; else small digits, for 28 a side drawn as MNIST draws its own.
    """
    if mnist:
        x, y = examples(MNIST, "val", most=count)
        return x[:, 0], y
    x, y = digits(*HELD_OUT)
    small, y = x[:count, 0], y[:count]
    return (in_mnist_frame(small) if side == 28 else small), y


@lru_cache(maxsize=1)
def irises() -> tuple[Tensor, list[str]]:
    """Fisher's 150 irises: four measurements, cm, (150, 4) float64, and the species of each."""
    iris = load_iris()
    names = [str(iris.target_names[kind]) for kind in iris.target]
    return torch.as_tensor(iris.data, dtype=torch.float64), names


@lru_cache(maxsize=4)
def photographs(side: int) -> list[tuple[str, Tensor]]:
    """The two photographs of scikit-learn, the square in their middle: name, (3, side, side) in [0, 1]."""
    results = []
    for name, file in (("flower", "flower.jpg"), ("temple", "china.jpg")):
        light = torch.tensor(load_sample_image(file)).permute(2, 0, 1) / 255  # (3, H, W)
        high, wide = light.shape[1:]
        left = (wide - high) // 2
        square = light[None, :, :, left : left + high]
        results.append((name, F.interpolate(square, (side, side), mode="area")[0]))
    return results
