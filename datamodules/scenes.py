"""Scenes: pictures of coloured shapes with captions, of which it is known what each word speaks of.

    a big red circle above a small blue square

Objects stand in different cells of a 4 × 4 grid on noise. The caption names them in reading order, "above"
if their rows differ, else "left of", so that each scene has one right caption. SIZE, COLOUR and SHAPE words
speak of one object, whose box a map of attention should point to. Three levels:

1  one object                2  one or two: 24 + 24 · 24 · 2 = 24 + 1,152 captions
3  one to three, a fifth of a cell off their cells' centres, so that neighbours may overlap

Held out, from training and validation: one colour of each shape (`NEW_OBJECTS`), for captioners and for
encoders alike; and, easier, a tenth of all pairs of objects (`new_pairs`).

Shapes: a batch is pictures (B, 3, H, W) in [0, 1]; inputs and targets (B, T) int64, as in `translation`; and
boxes (B, T, 4), left, top, right and bottom in pixels, pixel i at i, of the object that a target speaks of,
else zeros. `Attributes`, to train encoders on: pictures of one object each, and its values (B, 3) of
`ATTRIBUTES`.

References: Xu et al. 2015, Show, attend and tell, arXiv:1502.03044 (captions with attention); [DGM] deck 2.
"""

import zlib
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor

from datamodules.base import SPLITS, DataModule, within
from datamodules.mnist import keyed_uniform
from datamodules.multi30k import padded
from datamodules.tokenizer import WordTokenizer

Test = Literal["seen", "objects", "pairs"]

ATTRIBUTES = {
    "size": ("small", "big"),
    "colour": ("red", "green", "blue", "yellow"),
    "shape": ("circle", "square", "triangle"),
}
PAINT = torch.tensor([[0.8, 0.0, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 0.8], [0.8, 0.8, 0.0]])
HALF = torch.tensor([0.25, 0.4])  # half the height of a small and a big object, in cells
KINDS = 24  # 12 size + 3 colour + shape
NEW_OBJECTS = {("circle", "yellow"), ("square", "blue"), ("triangle", "green")}
GRID, JITTER, NOISE = 4, 0.2, 0.2


class Objects(NamedTuple):
    """Objects of N scenes, at most K each, in reading order.

    Attributes:
        kinds: (N, K) int64, −1 where there is none.
        cells: (N, K) int64, 0 to 15.
        centres: (N, K, 2), across and down in cells from the corner of the picture.
    """

    kinds: Tensor
    cells: Tensor
    centres: Tensor


def values(kinds: Tensor) -> Tensor:
    """Numbers of size, colour and shape: kinds (…) -> (…, 3) int64."""
    return torch.stack([kinds // 12, kinds // 3 % 4, kinds % 3], -1)


def name(kind: int) -> list[str]:
    """Words of an object: size, colour, shape."""
    numbers = values(torch.tensor(kind)).tolist()
    return [words[v] for words, v in zip(ATTRIBUTES.values(), numbers, strict=True)]


@cache
def new_objects() -> Tensor:
    """Kinds with a shape and a colour of `NEW_OBJECTS`, (24,) bool."""
    return torch.tensor([(name(kind)[2], name(kind)[1]) in NEW_OBJECTS for kind in range(KINDS)])


@cache
def new_pairs() -> Tensor:
    """Pairs of kinds that are held out, (24, 24) bool, symmetric: a tenth of all, by a hash."""
    hashes = [zlib.crc32(f"{min(a, b)} {max(a, b)}".encode()) for a in range(KINDS) for b in range(KINDS)]
    return (torch.tensor(hashes) % 10 == 0).reshape(KINDS, KINDS)


def draw(count: int, level: int, test: Test = "seen", seed: int = 0, jitter: float = 0.0) -> Objects:
    """Draw scenes.

    Args:
        test: "seen" has no object and no pair that is held out; of "objects" each scene has a new object, of
            "pairs" each has a new pair of known objects.
        jitter: objects are up to so far off their cells' centres, in cells.
    """
    generator, parts, missing = torch.Generator().manual_seed(seed), [], count
    while missing > 0:
        kinds = torch.randint(KINDS, (count, level), generator=generator)
        cells = torch.rand(count, GRID * GRID, generator=generator).argsort(1)[:, :level].sort(1).values
        number = torch.randint(1, level + 1, (count,), generator=generator)
        off = jitter * (2 * torch.rand(count, level, 2, generator=generator) - 1)
        kinds = kinds.where(torch.arange(level) < number[:, None], -1)
        there = kinds >= 0
        strange = (new_objects()[kinds] & there).any(1)
        both = there[:, :, None] & there[:, None] & ~torch.eye(level, dtype=torch.bool)
        paired = (new_pairs()[kinds[:, :, None], kinds[:, None]] & both).flatten(1).any(1)
        keep = {"seen": ~strange & ~paired, "objects": strange, "pairs": ~strange & paired}[test]
        centres = torch.stack([cells % GRID, cells // GRID], -1) + 0.5 + off
        parts.append(Objects(kinds[keep], cells[keep], centres[keep]))
        missing -= int(keep.sum())
    return Objects(*(torch.cat(tensors)[:count] for tensors in zip(*parts, strict=True)))


def boxes(objects: Objects, side: int) -> Tensor:
    """Boxes of the objects, (N, K, 4): left, top, right and bottom in pixels, within the picture."""
    cell = side / GRID
    half = HALF[values(objects.kinds)[..., 0]][..., None] * cell
    centre = objects.centres * cell - 0.5  # pixel i lies at i
    return torch.cat([centre - half, centre + half], -1).clamp(0, side - 1)


def render(objects: Objects, side: int, noise: Tensor) -> Tensor:
    """Pictures (N, 3, side, side): `noise` in [0, 1) of this shape, faint, and objects, later ones on top."""
    pictures = NOISE * noise
    pixels = (torch.arange(side) + 0.5) * GRID / side  # in cells
    for k in range(objects.kinds.shape[1]):
        size, colour, shape = values(objects.kinds[:, k])[..., None, None].unbind(1)  # each (N, 1, 1)
        right = pixels - objects.centres[:, k, 0, None, None]  # (N, 1, side)
        down = pixels[:, None] - objects.centres[:, k, 1, None, None]  # (N, side, 1)
        half = HALF[size]
        square = (right.abs() < half) & (down.abs() < half)
        circle = right.square() + down.square() < half.square()
        triangle = square & (right.abs() < (down + half) / 2)
        inside = torch.stack([circle, square, triangle]).gather(0, shape.expand_as(square)[None])[0]
        inside &= objects.kinds[:, k, None, None] >= 0
        paint = PAINT[colour[:, 0, 0]][..., None, None]  # (N, 3, 1, 1)
        pictures = pictures + inside[:, None] * (paint + NOISE * noise - pictures)
    return pictures


def caption(kinds: list[int], cells: list[int]) -> tuple[list[str], list[int]]:
    """The words of a scene, and for each of them the object that it speaks of, −1 for none."""
    words: list[str] = []
    of: list[int] = []
    for k, (kind, cell) in enumerate(zip(kinds, cells, strict=True)):
        if kind < 0:
            break
        if k:
            relation = ["left", "of"] if cell // GRID == cells[k - 1] // GRID else ["above"]
            words, of = words + relation, of + [-1] * len(relation)
        words, of = [*words, "a", *name(kind)], [*of, -1, k, k, k]
    return words, of


def tokenizer() -> WordTokenizer:
    """The 13 words of captions."""
    words = [word for group in ATTRIBUTES.values() for word in group]
    return WordTokenizer([*WordTokenizer.SPECIAL, "a", "above", "left", "of", *words])


class Pictures:
    """Pictures of scenes, rendered when they are asked for; the noise of each depends on its number alone."""

    def __init__(self, objects: Objects, side: int, key: int) -> None:
        self.objects, self.side, self.key = objects, side, key

    def __len__(self) -> int:
        return len(self.objects.kinds)

    def pictures(self, positions: Tensor) -> Tensor:
        """Pictures (B, 3, side, side)."""
        noise = keyed_uniform((self.key << 32) + positions, 3 * self.side**2)
        chosen = Objects(*(tensor[positions] for tensor in self.objects))
        return render(chosen, self.side, noise.reshape(-1, 3, self.side, self.side))


class AttributedPictures(Pictures):
    """Pictures of one object, and its size, colour and shape."""

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.pictures(positions), values(self.objects.kinds[positions, 0])


class CaptionedPictures(Pictures):
    """Pictures, their captions, and boxes of what the words speak of."""

    def __init__(self, objects: Objects, side: int, key: int, coder: WordTokenizer) -> None:
        super().__init__(objects, side, key)
        rows = [caption(*row) for row in zip(objects.kinds.tolist(), objects.cells.tolist(), strict=True)]
        bos, eos, number = coder.BOS, coder.EOS, {word: i for i, word in enumerate(coder.tokens)}
        encoded = [[number[word] for word in words] for words, _ in rows]
        self.inputs, self.lengths = padded([[bos, *ids] for ids in encoded], bos)
        self.targets, _ = padded([[*ids, eos] for ids in encoded], -100)
        self.speaks_of, _ = padded([[*of, -1] for _, of in rows], -1)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        T = int(self.lengths[positions].max())
        of = self.speaks_of[positions, :T]
        every = boxes(Objects(*(tensor[positions] for tensor in self.objects)), self.side)
        mine = every[torch.arange(len(positions))[:, None], of] * (of >= 0)[..., None]
        return self.pictures(positions), self.inputs[positions, :T], self.targets[positions, :T], mine


class Scenes(DataModule):
    """Pictures with captions.

    Args:
        level: 1, 2 or 3, the most objects of a scene; see above.
        side: pixels of height and width.
        test: what the test scenes have that no other scene has: "seen" nothing, "objects" a new object each,
            "pairs" a new pair of known objects each.
        batch_size: scenes per optimizer step over all processes together.
        seed: of the order of each epoch; the scenes themselves are the same for every seed.
        num_train, num_val, num_test: scenes in each split.

    Raises:
        ValueError: an argument is out of range, or scenes of one object are to have pairs.
    """

    embedded = True

    def __init__(
        self, level: int = 2, side: int = 32, test: Test = "seen", batch_size: int = 48, seed: int = 0,
        num_train: int = 10_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        within(1, 3, level=level)
        within(32, 256, side=side)
        within(1, 10**6, num_train=num_train, num_val=num_val, num_test=num_test)
        if test not in get_args(Test) or (test == "pairs" and level == 1):
            allowed = ("seen", "objects") if level == 1 else get_args(Test)
            raise ValueError(f"test is {test!r}: at level {level} it must be one of {', '.join(allowed)}.")
        self.level, self.side, self.test = level, side, test
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        """The words of captions."""
        return tokenizer()

    def _split(self, split: str) -> CaptionedPictures:
        number = SPLITS.index(split) + 1
        test: Test = self.test if split == "test" else "seen"
        objects = draw(self.counts[split], self.level, test, number, JITTER if self.level == 3 else 0.0)
        return CaptionedPictures(objects, self.side, number, self.tokenizer)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"image_shape": (3, self.side, self.side), "vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Scenes",
            "level": self.level,
            "image_size": self.side,
            "test": self.test,
            "splits": self.counts,
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }


class Attributes(DataModule):
    """Pictures of one object, anywhere around the centre of a cell, and its size, colour and shape.

    Args:
        side, batch_size, seed, num_train, num_val, num_test: see `Scenes`.
        new: the test has new objects alone, those that no other picture and no scene in training has.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, side: int = 32, new: bool = False, batch_size: int = 48, seed: int = 0,
        num_train: int = 10_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        within(32, 256, side=side)
        within(1, 10**6, num_train=num_train, num_val=num_val, num_test=num_test)
        self.side, self.new = side, new
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    def _split(self, split: str) -> AttributedPictures:
        number = SPLITS.index(split) + 4
        test: Test = "objects" if self.new and split == "test" else "seen"
        return AttributedPictures(draw(self.counts[split], 1, test, number, JITTER), self.side, number)

    @property
    def sizes(self) -> dict[str, Any]:
        attributes = [len(words) for words in ATTRIBUTES.values()]
        return {"image_shape": (3, self.side, self.side), "attributes": attributes}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Attributes",
            "image_size": self.side,
            "attributes": {attribute: list(words) for attribute, words in ATTRIBUTES.items()},
            "new": self.new,
            "splits": self.counts,
            "seed": self.seed,
        }
