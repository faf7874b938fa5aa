"""Binary images so small that everything about them can be enumerated.

bars-and-stripes  every row of one colour, or every column: 2·2^s - 2 patterns of s × s (MacKay 2003, ch. 42)
xor               two fair coins and their exclusive or, which no logistic conditional can express
stripes           one random row; each row below is the one above moved `shift` places left, and the bits that
                  come in on the right are new: what a pixel is, stands one row up, `shift` to the right

The patterns are equally likely, so no density has a mean NLL below `least_nll` = ln(number of patterns).

Shapes: a batch is x (B, 1, H, W) float of 0 and 1, and y (B,) int64, the number of the pattern.
"""

import math
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules.base import DataModule, TensorSplit, within

Kind = Literal["bars-and-stripes", "xor", "stripes"]
MOST = 16  # bits whose strings are all listed


def strings(length: int) -> Tensor:
    """Bit strings, all of them, (2^length, length), in lexicographic order."""
    return (torch.arange(2**length)[:, None] >> torch.arange(length - 1, -1, -1)) & 1


def patterns(kind: Kind, side: int, shift: int = 1) -> Tensor:
    """Patterns, each once, (N, 1, H, W) float; `shift` is read by "stripes" alone.

    Raises:
        ValueError: an unknown kind, no such shift, or too many patterns.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind is {kind!r}: it must be one of {', '.join(get_args(Kind))}.")
    if kind == "xor":
        pairs = strings(2)
        return torch.cat([pairs, (pairs.sum(1) % 2)[:, None]], 1).view(4, 1, 1, 3).float()
    if side >= 2 and not 1 <= shift <= side:
        raise ValueError(f"shift is {shift}: each row moves by at least 1 place, at most all {side}.")
    free = side if kind == "bars-and-stripes" else side + shift * (side - 1)
    if side < 2 or free > MOST:
        raise ValueError(f"side is {side}: it must be at least 2, and small enough to list every pattern.")
    if kind == "stripes":
        rows = strings(free).unfold(1, side, shift)  # (N, side, side): row r begins at bit r · shift
        return rows[:, None].float()
    rows = strings(side)[:, :, None].expand(-1, side, side)
    columns = rows[1:-1].transpose(1, 2)  # all black and all white are rows already
    return torch.cat([rows, columns])[:, None].float()


class BinaryImages(DataModule):
    """Train on every pattern, `repeat` times an epoch; validation and test are the patterns, once each.

    Args:
        kind, side, shift: see above; "xor" reads neither number, `shift` is for "stripes".
        repeat: how often an epoch shows each pattern.
    """

    embedded = True

    def __init__(
        self,
        kind: Kind = "bars-and-stripes",
        side: int = 3,
        repeat: int = 64,
        batch_size: int = 64,
        seed: int = 0,
        shift: int = 1,
    ) -> None:
        super().__init__(batch_size, seed)
        within(1, 10_000, repeat=repeat)
        self.kind, self.side, self.repeat, self.shift = kind, side, repeat, shift
        self.patterns = patterns(kind, side, shift)

    @property
    def least_nll(self) -> float:
        """The entropy of the distribution, nats: what a perfect model reaches and no density beats."""
        return math.log(len(self.patterns))

    def setup(self, stage: str | None = None) -> None:
        numbers = torch.arange(len(self.patterns))
        once = TensorSplit(self.patterns, numbers)
        again = numbers.repeat(self.repeat)
        self.train_set = TensorSplit(self.patterns[again], again)
        self.val_set = self.test_set = once

    @property
    def sizes(self) -> dict[str, Any]:
        shape = tuple(self.patterns.shape[1:])
        return {"event_shape": (math.prod(shape),), "image_shape": shape}

    def describe(self) -> dict[str, Any]:
        count = len(self.patterns)
        return {
            "name": type(self).__name__,
            "kind": self.kind,
            **({"shift": self.shift} if self.kind == "stripes" else {}),
            "splits": {"train": count * self.repeat, "val": count, "test": count},
            "least_nll": self.least_nll,
        }
