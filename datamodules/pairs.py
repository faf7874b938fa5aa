"""Pairs of pictures: a digit and its outline, or an outline and the digit on hatched paper.

    outline    c is a digit, x its outline: the ink that has paper beside it
    filled     the other way round
    hatched    c is the outline, x the digit on paper with stripes, whose phase the outline does not tell

A phase that nothing tells is what a distance to the target must average over, and a game need not.

Unpaired, one half of the training digits gives c and the other x, joined anew in each epoch, so that no digit
is in both. Validation and test keep the true pairs: for scoring alone.

Shapes: a batch is c (B, 1, H, W), x (B, 1, H, W), both in [0, 1], and the class (B,) of what c was made of.
"""

from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.base import DataModule, TensorSplit
from datamodules.digits import Digits
from datamodules.mnist import MNIST, ImageData, keyed_uniform

Task = Literal["outline", "filled", "hatched"]
PERIOD = 6  # pixels from stripe to stripe along a row
PALE, DARK = 0.1, 0.7  # of the stripes; ink is 1


def outline(x: Tensor) -> Tensor:
    """The edge of the ink, one pixel wide, 0 or 1: (..., H, W) in [0, 1] -> the same shape.

    Ink is above a half; it is edge where a pixel beside it, above or below is paper. The picture's rim counts
    as more ink.
    """
    ink = (x > 0.5).to(x.dtype)
    padded = F.pad(ink.reshape(-1, 1, *ink.shape[-2:]), (1, 1, 1, 1), value=1.0)
    beside = torch.stack(
        [padded[..., 1:-1, :-2], padded[..., 1:-1, 2:], padded[..., :-2, 1:-1], padded[..., 2:, 1:-1]]
    ).amin(0)
    return ink * (1 - beside.reshape(ink.shape))


def stripes(phase: Tensor, side: int) -> Tensor:
    """Slanting stripes, phase (N,) in [0, 1) of a period -> (N, side, side) from PALE to DARK."""
    place = torch.arange(side)
    turn = (place[:, None] + place) / PERIOD + phase[:, None, None]
    return PALE + (DARK - PALE) * (1 + (2 * torch.pi * turn).sin()) / 2


def hatched(x: Tensor, phase: Tensor) -> Tensor:
    """Digits x (N, 1, H, W) on striped paper: ink lies over it."""
    return x + (1 - x) * stripes(phase, x.shape[-1])[:, None]


class Unpaired:
    """c of the first tensor, x of the second; a new match in each epoch."""

    def __init__(self, c: Tensor, x: Tensor, y: Tensor, seed: int) -> None:
        self.c, self.x, self.y, self.seed = c, x, y, seed
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch."""
        generator = torch.Generator().manual_seed((self.seed * 0x9E3779B1 + epoch + 1) % 2**32)
        self.match = torch.randperm(len(self.x), generator=generator)

    def __len__(self) -> int:
        return len(self.c)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.c[positions], self.x[self.match[positions]], self.y[positions]


class Pairs(DataModule):
    """Base of the pairs of both sources; a subclass makes the digits.

    Args:
        task: see above. unpaired: no training digit is in both domains.
        image_size: pixels a side.
        batch_size, seed: see `DataModule`.
        train_size: training digits that are used, both halves together; None takes all.
        val_size: pairs of validation.

    Raises:
        ValueError: an argument is out of range.
    """

    test_size: int | None = None  # pairs that are tested; None takes all

    def __init__(
        self, task: Task = "hatched", unpaired: bool = False, image_size: int = 32, batch_size: int = 32,
        seed: int = 0, train_size: int | None = None, val_size: int = 250,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        if task not in get_args(Task):
            raise ValueError(f"task is {task!r}: it must be one of {', '.join(get_args(Task))}.")
        self.task, self.unpaired, self.image_size = task, unpaired, image_size
        self.val_size, self.train_size = val_size, train_size
        self.digits = self.source()
        most = self.digits.num_train - val_size
        if train_size is not None and not 2 <= train_size <= most:
            raise ValueError(f"train_size is {train_size}: it must be between 2 and {most}.")

    def source(self) -> ImageData:
        """The digits, grey, `image_size` pixels a side."""
        raise NotImplementedError

    def thinned(self, x: Tensor) -> Tensor:
        """Digits (N, 1, H, W) with strokes as they should be."""
        return x

    def pairs(self, x: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """c and x of digits (N, 1, H, W); keys (N,) decide the phases."""
        if self.task == "outline":
            return x, outline(x)
        if self.task == "filled":
            return outline(x), x
        return outline(x), hatched(x, keyed_uniform(keys, 1)[:, 0])

    def setup(self, stage: str | None = None) -> None:
        self.digits.setup(stage)
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            x, y = self.drawn(self.digits.train_set, self.train_size)
            one, other = self.pairs(x, torch.arange(len(x)))
            half = len(x) // 2
            self.train_set = (
                Unpaired(one[:half], other[half : 2 * half], y[:half], self.seed)
                if self.unpaired
                else TensorSplit(one, other, y)
            )
            x, y = self.drawn(self.digits.val_set, None)
            self.val_set = TensorSplit(*self.pairs(x, 10**6 + torch.arange(len(x))), y)
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            x, y = self.drawn(self.digits.test_set, self.test_size)
            self.test_set = TensorSplit(*self.pairs(x, 2 * 10**6 + torch.arange(len(x))), y)

    def drawn(self, split: Any, most: int | None) -> tuple[Tensor, Tensor]:
        """The first digits of a split, whose order is random already."""
        x, y = split[torch.arange(min(len(split), most or len(split)))]
        return self.thinned(x), y

    @property
    def sizes(self) -> dict[str, Any]:
        return {"image_shape": (1, self.image_size, self.image_size)}

    def describe(self) -> dict[str, Any]:
        text = self.digits.describe()
        splits = text["splits"] | {"train": self.train_size or text["splits"]["train"]}
        splits["test"] = self.test_size or splits["test"]
        return {
            "name": type(self).__name__, "task": self.task, "image_size": self.image_size,
            "unpaired": self.unpaired, "splits": splits, "seed": self.seed,
        }  # fmt: skip


class DigitPairs(Pairs):
    """Pairs of the 8×8 digits, enlarged, with a margin of an eighth of the picture on each side."""

    embedded = True

    def source(self) -> ImageData:
        inner = self.image_size - 2 * (self.image_size // 8)
        return Digits("none", inner, self.batch_size, self.seed, self.val_size)

    def thinned(self, x: Tensor) -> Tensor:
        margin = [self.image_size // 8] * 4
        # enlarging blurs: steeper greys give strokes as thin as MNIST's
        return F.pad(((x - 0.38) / 0.4).clamp(0, 1), margin)


class MNISTPairs(Pairs):
    """Pairs of MNIST, resampled to `image_size`; 2,000 of its test digits are enough to score with."""

    test_size = 2000

    def source(self) -> ImageData:
        return MNIST("none", self.image_size, self.batch_size, self.seed, self.val_size)

    def prepare_data(self) -> None:
        self.digits.prepare_data()
