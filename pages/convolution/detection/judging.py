"""How good a detector is: precision, recall and average precision over scenes, before and after suppression.

Shapes: F thresholds, C classes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from datamodules.scattered import ScatteredDigits
from lab.lenses import stock
from modules.convolution import average_precision, boxes
from modules.convolution.average_precision import Curve
from modules.convolution.boxes import Suppression
from modules.convolution.detection import Detector

SCENES, CUTS = 100, 15  # judged; thresholds
LOW = 0.01  # score from which boxes are judged


@dataclass(frozen=True)
class Judged:
    """Detections of many scenes against what is in them.

    Attributes:
        thresholds: (F,) τ.
        before, after: suppression, of all classes together.
        points: (F, 4): recall and precision before, recall and precision after, of boxes at or above τ; a
            precision of no box is NaN.
        counts: (F, 2) true and false boxes after suppression.
        objects: number of objects.
        averages: (C,) average precision of each class.
        map: their mean.
    """

    thresholds: Tensor
    before: Curve
    after: Curve
    points: Tensor
    counts: Tensor
    objects: int
    averages: Tensor
    map: float


@lru_cache(maxsize=2)
def scenes(side: int) -> tuple[Tensor, Tensor]:
    """Scenes of embedded digits that no detector was trained on, and the objects in them."""
    x, objects = stock.examples(ScatteredDigits, "test", most=SCENES, image_size=side)
    return x, objects


@torch.no_grad()
def judged(model: Detector, overlap: float, suppression: Suppression) -> Judged:
    """Precision, recall and average precision over scenes, before and after suppression."""
    x, objects = scenes(model.side)
    found = model.candidates(model(x))
    kept = [boxes.suppress(some[some[:, 1] >= LOW], overlap, LOW, suppression) for some in found]
    total = int((objects[..., 0] >= 0).sum())
    curves, flags = [], []
    for rows in ([some[some[:, 1] >= LOW] for some in found], kept):
        there = [o[o[:, 0] >= 0] for o in objects]
        true = torch.cat([average_precision.match(r, o) >= 0 for r, o in zip(rows, there, strict=True)])
        scores = torch.cat([r[:, 1] for r in rows])
        curves.append(average_precision.curve(scores, true, total))
        flags.append((scores, true))
    thresholds = torch.linspace(0.05, 0.75, CUTS)
    points, counts = [], []
    for cut in (thresholds - 1e-6).tolist():
        row = []
        for scores, true in flags:
            taken = scores >= cut
            hits = int(true[taken].sum())
            row += [hits / max(total, 1), hits / int(taken.sum()) if taken.any() else math.nan]
        points.append(row)
        counts.append([hits, int(taken.sum()) - hits])
    metric = average_precision.MeanAveragePrecision(model.num_classes)
    for some, those in zip(kept, objects, strict=True):
        metric.update(some[None], those[None])
    averages = torch.tensor([c.average for c in metric.curves()])
    return Judged(thresholds, curves[0], curves[1], torch.tensor(points), torch.tensor(counts), total,
                  averages, float(metric.compute()))  # fmt: skip
