"""Digits: 1,797 handwritten digits, 8×8 with 17 grey levels (Alpaydin, Kaynak 1998; UCI), which come
inside scikit-learn: MNIST's embedded sister, with the same interface and the same binarizations.

There is no official split: 250 are set aside for test and 250 for validation, 1,297 are left to
train on. `threshold` makes 1 of the levels above 7 of 16.

Shapes: a batch is x (B, 1, H, W) float in [0, 1] and y (B,) int64.
"""

from functools import cache
from typing import Literal

import torch
from sklearn.datasets import load_digits
from torch import Tensor

from datamodules.mnist import Binarize, ImageData

TEST_SEED = 0  # the test split is the same for every seed of a run


@cache
def read_all() -> tuple[Tensor, Tensor]:
    """Grey levels (N, 8, 8) and classes (N,), by writer, parsed once per process: do not change them."""
    images, labels = load_digits(return_X_y=True)
    return torch.as_tensor(images, dtype=torch.uint8).view(-1, 8, 8), torch.as_tensor(labels)


class Digits(ImageData):
    """See `ImageData` for the arguments; another `image_size` than 8 resamples, e.g. up to 28.

    `train_size`: train on so many digits alone, drawn by `seed`; None trains on all.
    `exclude`: a class that is left out of every split, for models that are asked about it later.
    """

    embedded = True
    native_size, levels, cut = 8, 16, 7.5 / 16
    num_train, num_test = 1547, 250

    def __init__(
        self,
        binarize: Binarize = "none",
        image_size: int = 8,
        batch_size: int = 64,
        seed: int = 0,
        val_size: int = 250,
        train_size: int | None = None,
        num_categories: int | None = None,
        exclude: int | None = None,
        shift: int = 0,
        mirror: bool = False,
    ) -> None:
        if exclude is not None and not 0 <= exclude <= 9:
            raise ValueError(f"exclude is {exclude}: it must be a class from 0 to 9.")
        self.exclude = exclude
        if exclude is not None:
            self.num_train, self.num_test = (len(self.read(split)[1]) for split in ("train", "test"))
        super().__init__(binarize, image_size, batch_size, seed, val_size, num_categories, 0, shift, mirror)
        most = self.num_train - val_size
        if train_size is not None and not 1 <= train_size <= most:
            raise ValueError(f"train_size is {train_size}: it must be between 1 and {most}.")
        self.train_size = train_size

    def read(self, split: Literal["train", "test"]) -> tuple[Tensor, Tensor]:
        pixels, labels = read_all()
        # the file goes by writer: a plain cut would test on other people than it trains on
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(TEST_SEED))
        chosen = order[Digits.num_test :] if split == "train" else order[: Digits.num_test]
        if self.exclude is not None:
            chosen = chosen[labels[chosen] != self.exclude]
        return pixels[chosen], labels[chosen]
