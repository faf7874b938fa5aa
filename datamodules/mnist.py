"""MNIST: 70,000 handwritten digits, 28×28 grey levels (LeCun, Cortes, Burges 1998); Fashion-MNIST, as many
photographs of clothes in the very same form (Xiao, Rasul, Vollgraf 2017, arXiv:1708.07747).

Grey images become binary in one of three named ways, whose likelihoods must never be compared
with each other (Salakhutdinov & Murray 2008; Larochelle & Murray 2011; [GM] §1.5):

    threshold   x = 1 where the grey level exceeds 127 of 255
    static      x ~ Bernoulli(grey level), drawn once and for all
    dynamic     the same, drawn anew each time a training image is shown; validation and test are
                those of `static`, so that a number does not change with the draw

or stay grey:

    none        x in [0, 1]
    levels      x is the number of the grey level, 0 to K - 1: for models of K values; K is the data's own
                number of levels, or fewer, evenly spaced from black to white
    dequantize  (level + u) / K with u uniform in [0, 1), drawn like `dynamic`: for densities on real
                numbers, which are unbounded on whole ones (Uria, Murray, Larochelle 2013)

Grey training images can be moved by a few pixels and mirrored, drawn like `dynamic`: for classifiers.

Shapes: a batch is x (B, 1, H, W) float, in [0, 1] except for `levels`, and y (B,) int64.
"""

import math
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from datamodules import fetch
from datamodules.base import DataModule

Binarize = Literal["none", "threshold", "static", "dynamic", "levels", "dequantize"]
Name = Literal["MNIST", "FashionMNIST"]
Draw = Callable[[Tensor, Tensor], Tensor]  # x (B, 1, H, W) and keys (B,) -> x drawn

# The draw of `static`, and of validation and test under `dynamic`, is the same for every run.
BINARIZATION_SEED = 0


def keyed_uniform(keys: Tensor, size: int) -> Tensor:
    """Uniform numbers in [0, 1) that depend on their key alone: keys (B,) int64 -> (B, size).

    A counter-based generator (the finalizer of SplitMix64; Steele, Lea, Flood 2014). The numbers of
    an example do not depend on which others are in its batch, on the process that draws them, or
    on what was drawn before: several processes and resumed runs see the same images.
    """
    counter = torch.arange(1, size + 1, dtype=torch.int64)
    bits = _mix(_mix(keys)[:, None] + counter * -0x61C8864680B583EB)  # golden ratio × 2⁶⁴, (B, size)
    return ((bits >> 40) & 0xFFFFFF).float() / 2**24  # 24 bits: all that float32 resolves


def _mix(z: Tensor) -> Tensor:
    # torch shifts int64 arithmetically; the mask makes it the logical shift of the algorithm
    z = (z ^ ((z >> 30) & ((1 << 34) - 1))) * -0x40A7B892E31B1A47
    z = (z ^ ((z >> 27) & ((1 << 37) - 1))) * -0x6B2FB644ECCEEE15
    return z ^ ((z >> 31) & ((1 << 33) - 1))


def bernoulli(x: Tensor, keys: Tensor) -> Tensor:
    """x (B, 1, H, W) in [0, 1] -> {0, 1} of the same shape, drawn by each example's key (B,)."""
    return (keyed_uniform(keys, x[0].numel()).view_as(x) < x).to(x.dtype)


def dequantize(x: Tensor, keys: Tensor) -> Tensor:
    """Whole numbers x -> x + u with u uniform in [0, 1), by each example's key (B,); below x + 1 where the
    sum would round to it."""
    return torch.minimum(x + keyed_uniform(keys, x[0].numel()).view_as(x), torch.nextafter(x + 1, x))


def moved(x: Tensor, keys: Tensor, shift: int, mirror: bool = False) -> Tensor:
    """Images x (B, 1, H, W), each moved by up to `shift` whole pixels along each axis, black coming in, and
    with `mirror` every second one mirrored left to right; drawn by each example's key (B,)."""
    count, _, height, width = x.shape
    draws = keyed_uniform(keys, 3)  # (B, 3)
    down, right = (draws[:, :2] * (2 * shift + 1)).long().T  # 0 ... 2 shift
    rows = down[:, None] + torch.arange(height)  # (B, H)
    columns = right[:, None] + torch.arange(width)  # (B, W)
    if mirror:
        columns = torch.where(draws[:, 2:] < 0.5, columns, columns.flip(1))
    padded = F.pad(x, [shift] * 4)
    return padded[torch.arange(count)[:, None, None], 0, rows[:, :, None], columns[:, None]][:, None]


def resize(x: Tensor, size: int) -> Tensor:
    """x (N, 1, H, W) in [0, 1] -> (N, 1, size, size): mean of equal blocks where they fit, else
    bilinear, antialiased."""
    if x.shape[-1] == size:
        return x
    if x.shape[-1] % size == 0:
        return F.avg_pool2d(x, x.shape[-1] // size)
    return F.interpolate(x, (size, size), mode="bilinear", antialias=True).clamp(0, 1)


class Images:
    """Grey or binary images and their labels; with `seed`, drawn anew in each epoch.

    Args:
        images: (N, 1, H, W) uint8 or float; a batch is `images * scale`.
        labels: (N,)
        scale: makes [0, 1] of the stored levels.
        seed: of the draw of each epoch; None draws nothing.
        draw: what is drawn.
    """

    def __init__(
        self,
        images: Tensor,
        labels: Tensor,
        scale: float = 1.0,
        seed: int | None = None,
        draw: Draw = bernoulli,
    ) -> None:
        self.images, self.labels, self.scale, self.seed, self.draw = images, labels, scale, seed, draw
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch: all draws of the epoch follow from its number."""
        self.epoch = epoch
        self.shown = torch.zeros(len(self.labels), dtype=torch.int64)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        x, y = self.images[positions].float() * self.scale, self.labels[positions]
        if self.seed is None:
            return x, y
        # An epoch shows an image once; who asks again in the same epoch gets another draw.
        # Key: seed, epoch and times shown are mixed, then the position is added.
        word = _mix(torch.tensor((self.seed << 32) + self.epoch + 1)) + self.shown[positions]
        self.shown[positions] += 1
        return self.draw(x, _mix(word) + positions), y


def static_draw(x: Tensor, numbers: Tensor, draw: Draw = bernoulli) -> Tensor:
    """The one fixed draw: x (N, 1, H, W) in [0, 1] -> {0, 1} uint8, or what else `draw` gives.

    `numbers` (N,) are the places of the images in the official data, which their draws depend on.
    """
    keys = _mix(_mix(torch.tensor(BINARIZATION_SEED << 32))) + numbers
    # in slices, because the 64-bit words of 60,000 images are half a gigabyte
    parts = [draw(s, k) for s, k in zip(x.split(1024), keys.split(1024), strict=True)]
    return torch.cat([part.byte() for part in parts] if draw is bernoulli else parts)


class ImageData(DataModule):
    """Base of MNIST and the small digits: size, binarization, splits.

    A subclass gives `read(split)` and the class attributes below.

    Args:
        binarize: "none", "threshold", "static", "dynamic", "levels" or "dequantize".
        image_size: pixels along a side; other than the native size is resampled before binarization.
        padding: black pixels on each side of that, for models whose sides are powers of two.
        batch_size: examples per optimizer step over all processes together.
        seed: of the validation split, the order of each epoch and the dynamic draws.
        val_size: examples of validation, taken from the training split.
        num_categories: K of `levels` and `dequantize`; None keeps the data's own.
        shift: most pixels by which a grey training image is moved along each axis, see `moved`.
        mirror: every second grey training image is mirrored.

    Raises:
        ValueError: an argument is out of range.
    """

    native_size: int
    levels: int  # the stored grey level of white
    cut: float  # in [0, 1]; what exceeds it is 1 under `threshold`
    num_train: int  # official training examples, validation included
    num_test: int
    train_size: int | None = None  # training examples that are used; None uses all but validation's

    def __init__(
        self,
        binarize: Binarize = "none",
        image_size: int = 28,
        batch_size: int = 128,
        seed: int = 0,
        val_size: int = 10_000,
        num_categories: int | None = None,
        padding: int = 0,
        shift: int = 0,
        mirror: bool = False,
    ) -> None:
        super().__init__(batch_size, seed)
        if binarize not in get_args(Binarize):
            raise ValueError(f"binarize is {binarize!r}: it must be one of {', '.join(get_args(Binarize))}.")
        if not 2 <= image_size <= 256:
            raise ValueError(f"image_size is {image_size}: it must be between 2 and 256 pixels.")
        if not 0 <= padding <= 64:
            raise ValueError(f"padding is {padding}: it must be between 0 and 64 pixels.")
        if not 1 <= val_size < self.num_train:
            raise ValueError(f"val_size is {val_size}: it must be between 1 and {self.num_train - 1}.")
        if num_categories is not None and binarize not in ("levels", "dequantize"):
            raise ValueError(
                f"num_categories is {num_categories}: leave it out, or set binarize to levels or dequantize."
            )
        if num_categories is not None and not 2 <= num_categories <= self.levels + 1:
            raise ValueError(
                f"num_categories is {num_categories}: it must be between 2 and {self.levels + 1} grey levels."
            )
        if not 0 <= shift < image_size:
            raise ValueError(f"shift is {shift}: it must be between 0 and {image_size - 1} pixels.")
        if (shift or mirror) and binarize != "none":
            raise ValueError(f"binarize is {binarize}: images are moved or mirrored only where it is none.")
        self.binarize, self.image_size, self.val_size = binarize, image_size, val_size
        self.shift, self.mirror = shift, mirror
        self.padding = padding
        self.num_categories = num_categories or self.levels + 1

    def read(self, split: Literal["train", "test"]) -> tuple[Tensor, Tensor]:
        """Grey levels (N, H, W) uint8 and labels (N,) of an official split."""
        raise NotImplementedError

    def setup(self, stage: str | None = None) -> None:
        """Load the splits that `stage` reads; all of them without a stage."""
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            images, labels = self._load("train")
            order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(self.seed))
            val, train = order[: self.val_size].sort().values, order[self.val_size :]
            train = train[: self.train_size].sort().values
            if self.binarize == "dynamic":
                self.train_set = Images(images[train], labels[train], self._scale(images), self.seed)
            elif self.binarize == "dequantize":
                grey = self._whole(images[train])
                self.train_set = Images(grey, labels[train], 1.0, self.seed, self._dequantize)
            elif self.shift or self.mirror:
                scale, draw = self._scale(images), partial(moved, shift=self.shift, mirror=self.mirror)
                self.train_set = Images(images[train], labels[train], scale, self.seed, draw)
            else:
                self.train_set = self._fixed(images[train], labels[train], train)
            self.val_set = self._fixed(images[val], labels[val], val)
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            images, labels = self._load("test")
            self.test_set = self._fixed(images, labels, self.num_train + torch.arange(len(labels)))

    def _load(self, split: Literal["train", "test"]) -> tuple[Tensor, Tensor]:
        images, labels = self.read(split)
        images = images[:, None]  # (N, H, W) -> (N, 1, H, W)
        if self.image_size != self.native_size:
            images = resize(images.float() / self.levels, self.image_size)
        if self.padding:
            images = F.pad(images, [self.padding] * 4)
        return images, labels.long()

    def _scale(self, images: Tensor) -> float:
        return 1.0 if images.is_floating_point() else 1 / self.levels

    def _whole(self, images: Tensor) -> Tensor:
        """Numbers of the grey levels, 0 to K - 1, as float."""
        return (images * (self._scale(images) * (self.num_categories - 1))).round()

    def _dequantize(self, x: Tensor, keys: Tensor) -> Tensor:
        return dequantize(x, keys) / self.num_categories

    def _fixed(self, images: Tensor, labels: Tensor, numbers: Tensor) -> Images:
        """A split whose images never change."""
        scale = self._scale(images)
        if self.binarize == "none":
            return Images(images, labels, scale)
        if self.binarize == "levels":
            return Images(self._whole(images), labels)
        if self.binarize == "dequantize":
            return Images(static_draw(self._whole(images), numbers, self._dequantize), labels)
        if self.binarize == "threshold":
            return Images((images * scale > self.cut).byte(), labels)
        return Images(static_draw(images * scale, numbers), labels)

    @property
    def sizes(self) -> dict[str, Any]:
        side = self.image_size + 2 * self.padding
        return {"event_shape": (side * side,), "image_shape": (1, side, side), "num_classes": 10}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "binarize": self.binarize,
            "image_size": self.image_size,
            **({"padding": self.padding} if self.padding else {}),
            **({"shift": self.shift} if self.shift else {}),
            **({"mirror": self.mirror} if self.mirror else {}),
            **({"num_categories": self.num_categories} if self.binarize in ("levels", "dequantize") else {}),
            "splits": {
                "train": self.train_size or self.num_train - self.val_size,
                "val": self.val_size,
                "test": self.num_test,
            },
            "seed": self.seed,
        }


def parse_idx(content: bytes) -> Tensor:
    """The array of an IDX file of bytes: [0, 0, 8, rank], the sizes as big-endian int32, the data.

    Raises:
        ValueError: it is not such a file, or not all of it.
    """
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise ValueError("This is not an IDX file of bytes.")
    rank = content[3]
    head = 4 + 4 * rank
    shape = struct.unpack(f">{rank}i", content[4:head]) if len(content) >= head else (-1,)
    if len(content) - head != math.prod(shape):
        raise ValueError(f"The IDX file has {len(content) - head} bytes of data, not {math.prod(shape)}.")
    return torch.frombuffer(bytearray(content), dtype=torch.uint8, offset=head).view(shape)


class MNIST(ImageData):
    """60,000 + 10,000 digits, or clothes; validation is carved from the 60,000. See `ImageData` for the other
    arguments.

    Args:
        name: "MNIST", digits, or "FashionMNIST", ten kinds of clothes.
    """

    native_size, levels, cut = 28, 255, 127.5 / 255
    num_train, num_test = 60_000, 10_000

    def __init__(
        self,
        binarize: Binarize = "none",
        image_size: int = 28,
        batch_size: int = 128,
        seed: int = 0,
        val_size: int = 10_000,
        num_categories: int | None = None,
        padding: int = 0,
        name: Name = "MNIST",
        shift: int = 0,
        mirror: bool = False,
    ) -> None:
        super().__init__(
            binarize, image_size, batch_size, seed, val_size, num_categories, padding, shift, mirror
        )
        if name not in get_args(Name):
            raise ValueError(f"name is {name!r}: it must be one of {', '.join(get_args(Name))}.")
        self.collection: Name = name

    def prepare_data(self) -> None:
        fetch.fetch(self.collection)

    def read(self, split: Literal["train", "test"]) -> tuple[Tensor, Tensor]:
        source = fetch.SOURCES[self.collection]
        prefix = "train" if split == "train" else "t10k"
        images, labels = (
            parse_idx(fetch.content(source, file))
            for file in source.files
            if file.path.startswith(f"{self.collection}/raw/{prefix}")
        )
        return images, labels

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"name": self.collection}
