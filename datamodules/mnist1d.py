"""MNIST-1D: ten digit-like curves of 12 points, padded, stretched, moved, sheared and noised into
40 points; small enough to train on in minutes, hard enough to tell architectures apart (Greydanus,
Kobak 2020, arXiv:2011.14439; [UDL] §8.1, §10.2.7).

Generated, not downloaded: the same numbers as the `mnist1d` package with its random state 42, up to
rounding in float64 (a test compares them).

Shapes: a batch is x (B, 1, 40) float and y (B,) int64.
"""

from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.ndimage import gaussian_filter1d

from datamodules.base import DataModule, TensorSplit

# Heights of the ten curves at 12 equally spaced times, as published with the data.
TEMPLATES = (
    (5, 6, 6.5, 6.75, 7, 7, 7, 7, 6.75, 6.5, 6, 5),
    (5, 3, 3, 3.4, 3.8, 4.2, 4.6, 5, 5.4, 5.8, 5, 5),
    (5, 6, 6.5, 6.5, 6, 5.25, 4.75, 4, 3.5, 3.5, 4, 5),
    (5, 6, 6.5, 6.5, 6, 5, 5, 6, 6.5, 6.5, 6, 5),
    (5, 4.4, 3.8, 3.2, 2.6, 2.6, 5, 5, 5, 5, 5, 5),
    (5, 3, 3, 3, 3, 5, 6, 6.5, 6.5, 6, 4.5, 5),
    (5, 4, 3.5, 3.25, 3, 3, 3, 3, 3.25, 3.5, 4, 5),
    (5, 7, 7, 6.6, 6.2, 5.8, 5.4, 5, 4.6, 4.2, 5, 5),
    (5, 4, 3.5, 3.5, 4, 5, 5, 4, 3.5, 3.5, 4, 5),
    (5, 4, 3.5, 3.5, 4, 5, 5, 5, 5, 4.7, 4.3, 5),
)
PADDING = (36, 60)  # zeros appended, fewest and most
STRETCHED = 12 + 60  # points of every padded curve after stretching
SCALE, SHEAR = 0.4, 0.75  # widths of the random factor and of the random slope
MAX_SHIFT = 48  # points
SMOOTH_NOISE, NOISE = 0.25, 0.02  # deviation of the noise on the padding (before smoothing), everywhere
LENGTH, SEED = 40, 42


def templates() -> np.ndarray:
    """The ten clean curves (10, 12): unit deviation, then divided by 6, starting at 0."""
    x = np.array(TEMPLATES, dtype=np.float64)
    x -= x.mean(1, keepdims=True)
    x /= x.std(1, keepdims=True)
    return (x - x[:, :1]) / 6


def _stretch(x: np.ndarray, size: int) -> np.ndarray:
    """Linear interpolation of a curve to `size` points."""
    return np.interp(np.linspace(0, 1, size), np.linspace(0, 1, len(x)), x)


@cache
def generate(
    num_examples: int = 5000, seed: int = SEED, shuffle_positions: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Curves (N, 40) float64 with mean 0 and deviation 1, and their digits (N,), in random order.

    The arrays are cached and read-only.

    Args:
        num_examples: N, the same number of each digit.
        seed: of numpy's frozen `RandomState`; 42 makes the published data.
        shuffle_positions: one random order of the 40 positions for all curves: a network that
            uses neighbourhood loses its advantage.
    """
    random = np.random.RandomState(seed)
    curves, smooth, white, slopes = [], [], [], []
    labels = np.repeat(np.arange(10), num_examples // 10)
    clean = templates() + 1e-8  # so that zero means padding, even where a curve is zero
    for label in labels:  # the order of these draws is what makes the published numbers
        low, high = PADDING
        x = np.pad(clean[label], (0, low + int(random.rand() * (high - low + 1))))
        x = _stretch(x, STRETCHED) * (1 + SCALE * (random.rand() - 0.5))
        curves.append(np.roll(x, random.choice(MAX_SHIFT)))
        smooth.append(random.randn(STRETCHED))
        white.append(random.randn(STRETCHED))
        slopes.append(SHEAR * (random.rand() - 0.5))
    x = np.stack(curves)  # (N, 72)
    x = np.where(x != 0, x, gaussian_filter1d(SMOOTH_NOISE * np.stack(smooth), 2, axis=1))
    x = x + NOISE * np.stack(white)
    x = x - np.array(slopes)[:, None] * np.linspace(-0.5, 0.5, STRETCHED)
    x = np.stack([_stretch(row, LENGTH) for row in x])  # (N, 40)
    order = random.permutation(len(labels))
    x, labels = x[order], labels[order]
    if shuffle_positions:
        x = x[:, random.permutation(LENGTH)]
    x = (x - x.mean()) / x.std()
    for array in (x, labels):
        array.setflags(write=False)  # the cache gives the same arrays to everybody
    return x, labels


class MNIST1D(DataModule):
    """4,000 curves to train on, validation carved from them, and the published 1,000 for test.

    Args:
        batch_size: examples per optimizer step over all processes together.
        seed: of the validation split and of the order of each epoch.
        val_size: examples of validation, taken from the 4,000.
        shuffle_positions: the control experiment: one random order of positions for all curves.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True
    num_train, num_test = 4000, 1000

    def __init__(
        self, batch_size: int = 100, seed: int = 0, val_size: int = 400, shuffle_positions: bool = False
    ) -> None:
        super().__init__(batch_size, seed)
        if not 1 <= val_size < self.num_train:
            raise ValueError(f"val_size is {val_size}: it must be between 1 and {self.num_train - 1}.")
        self.val_size, self.shuffle_positions = val_size, shuffle_positions

    def setup(self, stage: str | None = None) -> None:
        """Load the splits that `stage` reads; all of them without a stage."""
        curves, digits = generate(shuffle_positions=self.shuffle_positions)
        x = torch.tensor(curves, dtype=torch.float32)[:, None]  # (N, 40) -> (N, 1, 40)
        y = torch.tensor(digits)
        if stage in (None, "fit", "validate"):
            order = torch.randperm(self.num_train, generator=torch.Generator().manual_seed(self.seed))
            val, train = order[: self.val_size].sort().values, order[self.val_size :].sort().values
            self.train_set, self.val_set = TensorSplit(x[train], y[train]), TensorSplit(x[val], y[val])
        if stage in (None, "test", "predict"):
            self.test_set = TensorSplit(x[self.num_train :], y[self.num_train :])

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (LENGTH,), "image_shape": (1, LENGTH), "num_classes": 10}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "MNIST1D",
            "generator_seed": SEED,
            "shuffle_positions": self.shuffle_positions,
            "splits": {"train": self.num_train - self.val_size, "val": self.val_size, "test": self.num_test},
            "seed": self.seed,
        }
