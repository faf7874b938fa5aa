"""Mean average precision of detections, as COCO's evaluation has it.

In each picture and class the detections are taken by falling score; each takes the object not yet taken with
which its IoU is highest, if that is at least t, and is then true, else false. Over all pictures, by falling
score:

    precision = true / (true + false)      recall = true / objects

Precision at recall r is the highest at any recall ≥ r; the average precision is its mean at r = 0, .01, …, 1,
and the mean average precision that over the classes that have objects.

References: Lin et al. 2014, arXiv:1405.0312, and its evaluation code (101 points, at most 100 detections of
a class in a picture).
"""  # fmt: skip

from typing import NamedTuple

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from modules.base import require
from modules.convolution.boxes import iou

POINTS = 101  # of recall
MOST = 100  # detections of a class in a picture, as COCO counts them


def match(detections: Tensor, objects: Tensor, threshold: float = 0.5) -> Tensor:
    """The object that each detection (N, 6) of one picture takes, (N,), −1 for none; objects (M, 5).

    Classes do not mix. Of objects with the same IoU the last is taken, as COCO has it.
    """
    result = torch.full((len(detections),), -1)
    overlap = iou(detections[:, 2:].double(), objects[:, 1:].double())
    same = detections[:, :1] == objects[None, :, 0]
    allowed = (same & (overlap >= min(threshold, 1 - 1e-10))).tolist()
    values, free = overlap.tolist(), set(range(len(objects)))
    for i in detections[:, 1].argsort(descending=True, stable=True).tolist():
        options = [j for j in free if allowed[i][j]]
        if options:
            j = max(options, key=lambda j: (values[i][j], j))
            free.remove(j)
            result[i] = j
    return result


class Curve(NamedTuple):
    """Precision against recall of one class.

    Attributes:
        recall, precision: after each detection, by falling score.
        scores: of the detections.
        average: the average precision; NaN without objects.
    """

    recall: Tensor
    precision: Tensor
    scores: Tensor
    average: float


def curve(scores: Tensor, true: Tensor, objects: int) -> Curve:
    """Precision against recall of detections with scores (N,), true (N,) bool, of so many objects."""
    order = scores.argsort(descending=True, stable=True)
    hits = true[order].double().cumsum(0)
    precision = hits / torch.arange(1, len(order) + 1, dtype=torch.float64, device=hits.device)
    if not objects:
        return Curve(torch.full_like(precision, torch.nan), precision, scores[order], torch.nan)
    recall = hits / objects
    best = precision.flip(0).cummax(0).values.flip(0)  # highest precision at this recall or beyond
    # rounded as COCO's are, which decides where a recall is a point itself
    points = torch.arange(POINTS, dtype=torch.float64, device=hits.device) * (1 / (POINTS - 1))
    places = torch.searchsorted(recall, points)
    best = torch.cat([best, best.new_zeros(1)])  # a recall that is never reached has precision 0
    return Curve(recall, precision, scores[order], float(best[places].mean()))


class MeanAveragePrecision(Metric):
    """Mean average precision at one IoU.

    Args:
        num_classes: number of classes.
        threshold: IoU from which a detection may be true.

    Raises:
        ValueError: an argument is out of range.
    """

    higher_is_better = True
    classes: list[Tensor]
    scores: list[Tensor]
    true: list[Tensor]
    objects: Tensor

    def __init__(self, num_classes: int = 10, threshold: float = 0.5) -> None:
        super().__init__()
        require(1, num_classes=num_classes)
        require(0, below=1 + 1e-9, threshold=threshold)
        self.num_classes, self.threshold = num_classes, threshold
        for name in ("classes", "scores", "true"):
            self.add_state(name, [], dist_reduce_fx="cat")
        self.add_state("objects", torch.zeros(num_classes, dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, detections: Tensor, objects: Tensor) -> None:
        """Add pictures: detections (B, K, 6) and objects (B, M, 5), class −1 where there is none."""
        for found, there in zip(detections, objects, strict=True):
            found, there = most(found[found[:, 0] >= 0]), there[there[:, 0] >= 0]
            self.classes.append(found[:, 0].long())
            self.scores.append(found[:, 1])
            self.true.append(match(found, there, self.threshold).to(found.device) >= 0)
            self.objects += there[:, 0].long().bincount(minlength=self.num_classes)
        if not len(detections):
            self.classes.append(detections.new_zeros(0, dtype=torch.int64))
            self.scores.append(detections.new_zeros(0))
            self.true.append(detections.new_zeros(0, dtype=torch.bool))

    def curves(self) -> list[Curve]:
        """Precision against recall of each class."""
        if not len(self.classes):
            nothing = self.objects.new_zeros(0)
            return [curve(nothing.float(), nothing.bool(), int(n)) for n in self.objects]
        classes, scores, true = (dim_zero_cat(s) for s in (self.classes, self.scores, self.true))
        return [curve(scores[classes == k], true[classes == k], int(n)) for k, n in enumerate(self.objects)]

    def compute(self) -> Tensor:
        """Mean over the classes that have objects; NaN if none has."""
        averages = [c.average for c, n in zip(self.curves(), self.objects, strict=True) if n]
        return torch.tensor(averages, dtype=torch.float64).mean().to(torch.get_default_dtype())


def most(detections: Tensor) -> Tensor:
    """Detections without those of a class beyond its `MOST` highest scores."""
    if len(detections) <= MOST:
        return detections
    order = detections[:, 1].argsort(descending=True, stable=True)
    detections = detections[order]
    rank = (detections[:, :1] == detections[:, 0]).tril(-1).sum(-1)  # earlier ones of its class
    return detections[rank < MOST]
