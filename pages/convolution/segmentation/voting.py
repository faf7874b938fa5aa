"""A vote of one network's answers to a picture as it is, turned and mirrored, each turned back.

A network that were equivariant to turns and mirrors would say the same eight times; zeros at its edges aside,
nothing makes a learned one so, and where answers differ it is unsure. The text's vote is of five networks.

Shapes: S pixels a side, V = 8 answers, C classes.

References: [UDL] figure 11.11 (the vote); §10.1 (equivariance).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.convolution.regions import precision_recall, voted
from modules.convolution.segmentation import SegmentationUNet
from pages.convolution.segmentation.lens import Micrograph, probabilities
from pages.convolution.segmentation.room import VOTED, VOTES


def turned(x: Tensor, way: int) -> Tensor:
    """A picture (…, S, S), mirrored if the way is 4 or more, then turned by quarters, (way mod 4) of them."""
    return (x.flip(-1) if way >= 4 else x).rot90(way % 4, (-2, -1))


def turned_back(x: Tensor, way: int) -> Tensor:
    """What `turned` was given."""
    x = x.rot90(-(way % 4), (-2, -1))
    return x.flip(-1) if way >= 4 else x


@dataclass(frozen=True)
class Vote:
    """
    Attributes:
        of: the picture.
        masks: (V, S, S) bool, where each answer says the class.
        truth: (S, S) bool, where it is true; None of a drawing.
    """

    of: Micrograph
    masks: Tensor
    truth: Tensor | None

    def all(self, count: int) -> Tensor:
        """Pixels that the first so many answers agree on."""
        return voted(self.masks[:count])

    @property
    def sizes(self) -> list[int]:
        """Pixels of the vote of the first 1, …, V answers."""
        return [int(self.all(count).sum()) for count in VOTES]

    @property
    def shares(self) -> list[tuple[float, float]]:
        """Precision and recall of each of these votes; of a drawing, against the first answer."""
        truth = self.masks[0] if self.truth is None else self.truth
        return [precision_recall(self.all(count), truth) for count in VOTES]


def vote(micrograph: Micrograph, model: SegmentationUNet | str, target: str) -> Vote:
    """Eight answers to one picture, and where each says this class."""
    label = VOTED[target]
    told = torch.stack([
        turned_back(probabilities(model, turned(micrograph.x, way).contiguous()), way).argmax(0)
        for way in range(VOTES[-1])
    ])  # fmt: skip
    return Vote(micrograph, told == label, None if micrograph.truth is None else micrograph.truth == label)
