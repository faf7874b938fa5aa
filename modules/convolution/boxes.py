"""Boxes: how much two of them overlap, and which of many that found the same object stay.

    IoU(a, b) = |a ∩ b| / |a ∪ b|

Non-maximum suppression, class by class: drop what has a score below τ; take the rest by falling score, equal
scores in the order given; keep a box if its IoU with every kept box of its class is at most t, so that one of
exactly t stays. Soft suppression (Bodla et al. 2017, arXiv:1704.04503) multiplies a score by 1 − IoU for
every kept box beyond t instead, takes the highest score that is then left, and ends below τ.

Shapes: boxes (..., 4): left, top, right, bottom; detections (N, 6): class, score, box.

References: [UDL] §10.5.2.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from modules.base import require_one_of

Suppression = Literal["hard", "soft"]


def iou(a: Tensor, b: Tensor) -> Tensor:
    """IoU (..., N, M) of boxes a (..., N, 4) and b (..., M, 4); 0 where both are empty."""
    a, b = a[..., :, None, :], b[..., None, :, :]
    sides = torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])
    both = sides.clamp(min=0).prod(-1)
    areas = [(box[..., 2:] - box[..., :2]).clamp(min=0).prod(-1) for box in (a, b)]
    either = areas[0] + areas[1] - both
    return torch.where(either > 0, both / either.where(either > 0, 1), 0)


class Step(NamedTuple):
    """One step of suppression: a box is taken, and others are measured against it.

    Attributes:
        box: number of the box that is taken.
        score: its score now.
        rivals: boxes of its class that were still waiting, by falling score.
        overlaps: IoU of each with the box.
        dropped: those that go: beyond t, and if soft, whose score fell below τ.
        scores: of the rivals after the step.
    """

    box: int
    score: float
    rivals: tuple[int, ...]
    overlaps: tuple[float, ...]
    dropped: tuple[int, ...]
    scores: tuple[float, ...]


def suppression_steps(
    detections: Tensor, overlap: float = 0.5, threshold: float = 0.0, suppression: Suppression = "hard"
) -> list[Step]:
    """Steps of non-maximum suppression of detections (N, 6); those with a score below `threshold` never wait.

    The boxes that are kept are those that are taken, in that order.

    Raises:
        ValueError: no such suppression.
    """
    require_one_of(Suppression, suppression=suppression)
    scores = detections[:, 1].tolist()
    classes = detections[:, 0].tolist()
    matrix = iou(detections[:, 2:], detections[:, 2:]).tolist()
    waiting = [i for i in range(len(scores)) if scores[i] >= threshold]
    steps = []
    while waiting:
        waiting.sort(key=lambda i: -scores[i])  # stable: equal scores in the order given
        box, *waiting = waiting
        score, before = scores[box], list(waiting)
        rivals = [i for i in before if classes[i] == classes[box]]
        dropped = []
        for i in rivals:
            if matrix[box][i] <= overlap:
                continue
            if suppression == "soft":
                scores[i] *= 1 - matrix[box][i]
            if suppression == "hard" or scores[i] < threshold or scores[i] <= 0:
                dropped.append(i)
        gone = set(dropped)
        waiting = [i for i in before if i not in gone]
        measured = tuple(matrix[box][i] for i in rivals)
        after = tuple(scores[i] for i in rivals)
        steps.append(Step(box, score, tuple(rivals), measured, tuple(dropped), after))
    return steps


def suppress(
    detections: Tensor, overlap: float = 0.5, threshold: float = 0.0, suppression: Suppression = "hard"
) -> Tensor:
    """Detections (K, 6) that stay of those (N, 6), by falling score; if soft, with their last scores."""
    steps = suppression_steps(detections, overlap, threshold, suppression)
    kept = detections[[step.box for step in steps]].clone()
    kept[:, 1] = torch.tensor([step.score for step in steps], dtype=kept.dtype, device=kept.device)
    return kept
