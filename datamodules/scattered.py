"""Scattered digits: scenes of one to three digits on a black picture, with the box and the class of each.

A digit is drawn from its own split alone, brought to a size, and put where its box lies inside the picture
and overlaps no earlier one much; a digit that finds no such place is left out. The box is that of its ink.
Training scenes are new in every epoch; those of validation and test never change.

Shapes: a batch is x (B, 1, H, W) float in [0, 1] and objects (B, M, 5) float: class, left, top, right and
bottom in pixels, from the edges of pixels; class −1 where a scene has fewer than M.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.base import MOST, SPLITS, DataModule, within
from datamodules.digits import Digits
from datamodules.mnist import MNIST, ImageData, keyed_uniform

ENLARGED, MARGIN = 20, 4  # of 8×8 digits: pixels a side, and around them, as of MNIST's
INK = 0.2  # of white: what is darker belongs to no box
TRIES = 24  # places that are drawn for a digit before it is left out


class Scenes(NamedTuple):
    """Scenes and what is in them.

    Attributes:
        x: (B, 1, size, size) in [0, 1].
        objects: (B, M, 5): class, left, top, right, bottom; class −1 where there is none.
    """

    x: Tensor
    objects: Tensor


def ink_box(images: Tensor) -> Tensor:
    """The box of the ink (N, 4) of images (N, h, w): left, top, right, bottom as shares of their sides; all
    of an image without ink."""  # fmt: skip
    edges = []
    for axis, length in ((-2, images.shape[-1]), (-1, images.shape[-2])):
        inked = (images > INK).any(axis)  # (N, length)
        inked |= ~inked.any(-1, keepdim=True)
        first = inked.int().argmax(-1)
        last = length - inked.flip(-1).int().argmax(-1)
        edges.append((first / length, last / length))
    (left, right), (top, bottom) = edges
    return torch.stack([left, top, right, bottom], -1)


def paste(
    images: Tensor, left: Tensor, top: Tensor, side: Tensor, scene: Tensor, count: int, size: int
) -> Tensor:
    """Pictures (count, size, size), into which images (N, h, w) are put as squares of `side` pixels.

    Args:
        left, top: (N,), of the squares; what is outside of a picture is cut off.
        side: (N,).
        scene: (N,) int64, the picture of each. Where images overlap, the brighter is seen.
    """
    canvas = images.new_zeros(count * size * size)
    if len(images):
        window = torch.arange(int(side.max()) + 2)
        columns, rows = (edge[:, None].floor().long() + window for edge in (left, top))  # (N, W)
        u, v = (
            (2 * (place + 0.5 - edge[:, None]) / side[:, None] - 1).to(images.dtype)
            for place, edge in ((columns, left), (rows, top))
        )
        grid = torch.stack(
            [u[:, None].expand(-1, len(window), -1), v[:, :, None].expand(-1, -1, len(window))], -1
        )
        ink = F.grid_sample(images[:, None], grid, align_corners=False)[:, 0]  # (N, W, W), bilinear
        inside = ((rows >= 0) & (rows < size))[:, :, None] & ((columns >= 0) & (columns < size))[:, None]
        place = (scene[:, None, None] * size + rows[:, :, None]) * size + columns[:, None]
        canvas.scatter_reduce_(0, place[inside], ink[inside], "amax")
    return canvas.view(count, size, size)


def overlaps(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of boxes a (..., 4) and b (..., 4)."""
    corner = torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])
    both = corner.clamp(min=0).prod(-1)
    areas = [(box[..., 2:] - box[..., :2]).prod(-1) for box in (a, b)]
    return both / (areas[0] + areas[1] - both)


class ScatteredSplit:
    """Scenes drawn by their number; with `redrawn`, anew in each epoch.

    Args:
        images: (N, h, w) in [0, 1].
        labels: (N,).
        count: of scenes.
        seed: of the draws.
        size: side of a picture.
        most: digits in a scene.
        sides: smallest and largest side of a digit's image.
        overlap: largest intersection over union of two boxes.
        redrawn: each epoch has its own scenes.
    """

    def __init__(
        self,
        images: Tensor,
        labels: Tensor,
        count: int,
        seed: int,
        size: int,
        most: int,
        sides: tuple[int, int],
        overlap: float,
        redrawn: bool,
    ) -> None:
        self.images, self.labels, self.count, self.seed = images, labels, count, seed
        self.size, self.most, self.sides, self.overlap = size, most, sides, overlap
        self.redrawn = redrawn
        self.boxes = ink_box(images)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch: its scenes follow from its number."""
        self.epoch = epoch if self.redrawn else 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, positions: Tensor) -> Scenes:
        word = (self.seed * 0x9E3779B1 + self.epoch) % 2**31
        u = keyed_uniform(positions + (word << 32), 1 + self.most * (2 + 2 * TRIES))
        b, count = len(positions), 1 + (u[:, 0] * self.most).long()  # (B,)
        rest = u[:, 1:].view(b, self.most, 2 + 2 * TRIES)
        chosen = (rest[..., 0] * len(self.labels)).long()  # (B, M)
        least, largest = self.sides
        side = least + (largest - least) * rest[..., 1]
        share = self.boxes[chosen]  # (B, M, 4)
        room = self.size - side[..., None] * (share[..., 2:] - share[..., :2])  # (B, M, 2)
        corners = rest[..., 2:].view(b, self.most, TRIES, 2) * room[:, :, None]
        boxes = torch.cat([corners, corners + (self.size - room)[:, :, None]], -1)  # (B, M, TRIES, 4)
        placed = boxes[:, :, 0].clone()  # (B, M, 4)
        there = torch.arange(self.most) < count[:, None]
        for k in range(1, self.most):
            clash = overlaps(boxes[:, k, :, None], placed[:, None, :k]) > self.overlap  # (B, TRIES, k)
            free = ~(clash & there[:, None, :k]).any(-1)  # (B, TRIES)
            placed[:, k] = boxes[torch.arange(b), k, free.int().argmax(-1)]
            there[:, k] &= free.any(-1)
        corner = (
            placed[..., :2] - side[..., None] * share[..., :2]
        )  # of the image, whose border may be cut off
        scene = torch.arange(b)[:, None].expand(-1, self.most)
        x = paste(
            self.images[chosen[there]],
            corner[there][:, 0],
            corner[there][:, 1],
            side[there],
            scene[there],
            b,
            self.size,
        )
        objects = torch.cat([self.labels[chosen][..., None].float(), placed], -1)
        objects[~there] = torch.tensor([-1.0, 0, 0, 0, 0])
        return Scenes(x[:, None], objects)


class ScatteredDigits(DataModule):
    """Scenes of the 8×8 digits that come inside scikit-learn, enlarged.

    Args:
        batch_size: scenes per optimizer step over all processes together.
        seed: of the digits set aside for validation, and of the scenes of training.
        image_size: side of a picture.
        most: digits in a scene, 1 to `most`.
        sides: smallest and largest side of a digit's image, in pixels of the picture.
        overlap: largest intersection over union of two boxes.
        num_train: scenes of one epoch.
        num_val, num_test: scenes, of digits of their own splits.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self,
        batch_size: int = 64,
        seed: int = 0,
        image_size: int = 112,
        most: int = 3,
        sides: tuple[int, int] = (28, 40),
        overlap: float = 0.1,
        num_train: int = 10_000,
        num_val: int = 500,
        num_test: int = 1_000,
    ) -> None:
        super().__init__(batch_size, seed)
        within(16, 512, image_size=image_size)
        if not 1 <= most <= 20:
            raise ValueError(f"most is {most}: it must be at least 1 and at most 20.")
        within(1, MOST // image_size**2, num_train=num_train, num_val=num_val, num_test=num_test)
        if len(sides) != 2 or not 4 <= sides[0] <= sides[1] <= image_size:
            raise ValueError(f"sides is {list(sides)}: give two sides of 4 to {image_size} pixels, in order.")
        within(0, 1, overlap=overlap)
        self.image_size, self.most, self.sides, self.overlap = image_size, most, (sides[0], sides[1]), overlap
        self.counts = dict(zip(SPLITS, (num_train, num_val, num_test), strict=True))

    def source(self) -> ImageData:
        """The digits that are scattered."""
        return Digits(image_size=ENLARGED, seed=self.seed)

    def framed(self, images: Tensor) -> Tensor:
        """Images (N, h, w) of the source as MNIST draws its own: strokes as thin, in a margin."""
        return F.pad(((images - 0.38) / 0.4).clamp(0, 1), [MARGIN] * 4)

    def _split(self, split: str) -> ScatteredSplit:
        source = self.source()
        source.setup("test" if split == "test" else "fit")
        part = getattr(source, f"{split}_set")
        images, labels = part[torch.arange(len(part))]
        training = split == "train"
        return ScatteredSplit(
            self.framed(images[:, 0]), labels, self.counts[split],
            self.seed if training else SPLITS.index(split),
            self.image_size, self.most, self.sides, self.overlap, redrawn=training,
        )  # fmt: skip

    @property
    def sizes(self) -> dict[str, Any]:
        return {"image_shape": (1, self.image_size, self.image_size), "num_classes": 10}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "image_size": self.image_size,
            "most": self.most,
            "sides": list(self.sides),
            "overlap": self.overlap,
            "splits": self.counts,
            "seed": self.seed,
        }


class ScatteredMNIST(ScatteredDigits):
    """Scenes of MNIST's digits: those of test are of its 10,000 test images. See `ScatteredDigits`."""

    embedded = False

    def source(self) -> ImageData:
        return MNIST(seed=self.seed)

    def framed(self, images: Tensor) -> Tensor:
        return images

    def prepare_data(self) -> None:
        self.source().prepare_data()
