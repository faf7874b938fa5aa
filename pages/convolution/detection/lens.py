"""What a detector says of a scene, what its cells are to say, and how suppression goes on from there.

Shapes: S cells a side, N boxes.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.scattered import ink_box, paste
from lab.experiments import Experiment
from lab.lenses import drawing, surfaces
from modules.convolution import boxes, detection
from modules.convolution.boxes import Step, Suppression
from modules.convolution.detection import Detector
from pages.convolution.detection.places import Placed
from pages.convolution.detection.room import OWN


def fits(experiment: Experiment) -> bool:
    """Check whether it is a detector of digits."""
    return surfaces.is_a(experiment, Detector)


@dataclass(frozen=True)
class Look:
    """A scene and what the detector says of it.

    Attributes:
        model: the detector.
        x: (H, H) the picture.
        objects: (M, 5): class (−2 the drawing), left, top, right, bottom.
        grid: (1, S, S, 5·boxes + classes), the network's numbers.
        candidates: (N, 6) all boxes by falling score: class, score, corners.
    """

    model: Detector
    x: Tensor
    objects: Tensor
    grid: Tensor
    candidates: Tensor


@torch.no_grad()
def looked(model: Detector, digits: tuple[Placed, ...], ink: Tensor | None) -> Look:
    """What the detector says of placed digits."""
    shapes = dict(drawing.examples(28)) | ({OWN: ink} if ink is not None else {})
    known = [d for d in digits if d.digit in shapes]
    images = torch.stack([shapes[d.digit] for d in known]) if known else torch.zeros(0, 28, 28)
    numbers = torch.tensor([d[1:] for d in known], dtype=torch.float32).view(-1, 3)
    side = numbers[:, 2]
    corner = numbers[:, :2] - side[:, None] / 2
    x = paste(
        images, corner[:, 0], corner[:, 1], side, torch.zeros(len(known), dtype=torch.int64), 1, model.side
    )[0]
    edges = corner.repeat(1, 2) + side[:, None] * ink_box(images) if known else torch.zeros(0, 4)
    labels = torch.tensor([-2.0 if d.digit == OWN else float(d.digit) for d in known]).view(-1, 1)
    objects = torch.cat([labels, edges.clamp(0, model.side)], 1)
    objects = objects[(objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])]  # inside at all
    grid = model(x[None, None])
    found = model.candidates(grid)[0]
    return Look(model, x, objects, grid, found[found[:, 1].argsort(descending=True, stable=True)])


@dataclass(frozen=True)
class Run:
    """Suppression from its start to its end; frame 0 is before the first step.

    Attributes:
        detections: (N, 6), those at or above τ.
        steps: one for each box that is taken.
        threshold, overlap, suppression: of the run.
    """

    detections: Tensor
    steps: list[Step]
    threshold: float
    overlap: float
    suppression: Suppression

    def scores(self, frame: int) -> list[float]:
        """Scores of all boxes after so many steps."""
        result = self.detections[:, 1].tolist()
        for step in self.steps[:frame]:
            for i, score in zip(step.rivals, step.scores, strict=True):
                result[i] = score
        return result

    def states(self, frame: int) -> list[str]:
        """Of each box "waiting", "taken" (in this step), "kept", "dropped" (in this step) or "gone"."""
        result = ["waiting"] * len(self.detections)
        for k, step in enumerate(self.steps[:frame], 1):
            result[step.box] = "taken" if k == frame else "kept"
            for i in step.dropped:
                result[i] = "dropped" if k == frame else "gone"
        return result

    def name(self, i: int) -> str:
        """Letters of up to 26 boxes, else numbers from 1."""
        return chr(ord("a") + i) if len(self.detections) <= 26 else str(i + 1)


def run(detections: Tensor, threshold: float, overlap: float, suppression: Suppression) -> Run:
    there = detections[detections[:, 1] >= threshold]
    steps = boxes.suppression_steps(there, overlap, threshold, suppression)
    return Run(there, steps, threshold, overlap, suppression)


def suppressed(look: Look, threshold: float, overlap: float, suppression: Suppression) -> Run:
    """Suppression of what the detector says, the boxes by falling score."""
    return run(look.candidates, threshold, overlap, suppression)


def of_boxes(boxes: Tensor, threshold: float, overlap: float, suppression: Suppression) -> Run:
    """Suppression of typed boxes, in the order typed."""
    return run(boxes, threshold, overlap, suppression)


@dataclass(frozen=True)
class Cells:
    """Targets and answers of all S² cells, row by row.

    Attributes:
        side: of the grid.
        there: (S²,) bool. label: (S²,) the class that is to be found.
        target: (S², 5): x, y, √w, √h, and the IoU that the confidence is to be; NaN without an object.
        said: (S², B, 5): x, y, √w, √h, confidence of each box.
        corners: (S², B, 4) of the boxes in pixels. aim: (S², 4) of the object's box, NaN without.
        classes: (S², C) scores.
        chosen: (S²,) the responsible box; of a cell without object it means nothing.
        terms: (S², 5): the terms of the loss.
        lost: objects whose centre lies in the cell of an earlier one.
    """

    side: int
    there: Tensor
    label: Tensor
    target: Tensor
    said: Tensor
    corners: Tensor
    aim: Tensor
    classes: Tensor
    chosen: Tensor
    terms: Tensor
    lost: int


def encoded(look: Look) -> Cells:
    """Targets of each cell, what it says, and the terms of its loss."""
    model, S = look.model, look.model.grid
    objects = look.objects[look.objects[:, 0] >= 0]
    targets = detection.encode(objects[None], S, model.side)
    prediction = model.read(look.grid)
    chosen, overlap = detection.responsible(prediction, targets)
    there = targets.there.flatten()
    roots = torch.cat([targets.boxes[..., :2], targets.boxes[..., 2:].sqrt(), overlap[..., None]], -1)
    aim = detection.corners(targets.boxes) * model.side

    def alone(values: Tensor) -> Tensor:
        """Each cell (1, S, S, ...) as a picture of one, (S², 1, 1, ...): losses are sums over cells."""
        return values.flatten(0, 2)[:, None, None]

    terms = detection.terms_of(
        detection.Prediction(*map(alone, prediction)), detection.Targets(*map(alone, targets)),
        alone(chosen), alone(overlap), model.lambda_coord, model.lambda_noobj,
    )  # fmt: skip
    nothing = torch.nan
    return Cells(
        S, there, targets.classes.flatten(),
        roots.flatten(0, 2).masked_fill(~there[:, None], nothing),
        torch.cat([prediction.roots, prediction.confidence[..., None]], -1).flatten(0, 2),
        (prediction.corners * model.side).flatten(0, 2),
        aim.flatten(0, 2).masked_fill(~there[:, None], nothing),
        prediction.classes.flatten(0, 2), chosen.flatten(),
        torch.stack(list(terms), -1), len(objects) - int(there.sum()),
    )  # fmt: skip
