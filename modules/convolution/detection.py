"""YOLO: objects and their boxes from one pass of a network over a picture.

The picture is parted into S×S cells. A cell gives a score for each of C classes and B boxes (x, y, √w, √h,
confidence): x, y of the centre within the cell, w, h as shares of the picture. The cell in which an object's
centre lies is to find it:

    Σ cells with an object   5 [(x − x̂)² + (y − ŷ)² + (√w − √ŵ)² + (√h − √ĥ)²] + (c − IoU)² + Σ_k (p_k − p̂_k)²
    Σ all other boxes        ½ c²

The first line is of the responsible box alone, that of the cell's B whose IoU with the object is highest; its
IoU is what its confidence is trained to be. [UDL] §10.5.2 names the parts; the loss's weights are those of
the paper. As in its code, the network gives √w and √h themselves. Here it is convolutional throughout; in the
paper two dense layers end it.

Shapes: x (B, C, H, W) → grid (B, S, S, 5·boxes + classes); objects (B, M, 5): class, left, top, right, bottom
in pixels, class −1 where there is none; detections (B, K, 6): class, score and the same corners.

References: [UDL] §10.5.2, figure 10.18; Redmon et al. 2016, arXiv:1506.02640.
"""  # fmt: skip

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from modules.base import Mean, Module, Split, require, require_one_of, require_picture
from modules.convolution.average_precision import MeanAveragePrecision
from modules.convolution.boxes import Suppression, iou, suppress

PER_BOX = 5  # x, y, √w, √h, confidence


class Targets(NamedTuple):
    """What each cell is to say.

    Attributes:
        there: (B, S, S) bool, an object's centre lies in the cell.
        boxes: (B, S, S, 4): x, y within the cell, w, h as shares of the picture; 0 where there is none.
        classes: (B, S, S) int64; 0 where there is none.
    """

    there: Tensor
    boxes: Tensor
    classes: Tensor


def encode(objects: Tensor, grid: int, side: int) -> Targets:
    """Targets of grid×grid cells for objects (B, M, 5) in pictures of `side` pixels.

    A cell holds one object: of two whose centres lie in it, the first.
    """
    b = len(objects)
    there = objects.new_zeros(b, grid, grid, dtype=torch.bool)
    boxes, classes = objects.new_zeros(b, grid, grid, 4), objects.new_zeros(b, grid, grid, dtype=torch.int64)
    for k in reversed(range(objects.shape[1])):  # the first is written last
        rows = torch.nonzero(objects[:, k, 0] >= 0)[:, 0]
        label, corners = objects[rows, k, 0], objects[rows, k, 1:] / side
        centre = (corners[:, :2] + corners[:, 2:]) / 2 * grid  # (R, 2), in cells
        column, row = centre.long().clamp(0, grid - 1).unbind(-1)
        there[rows, row, column] = True
        classes[rows, row, column] = label.long()
        within = centre - torch.stack([column, row], -1)
        boxes[rows, row, column] = torch.cat([within, corners[:, 2:] - corners[:, :2]], -1)
    return Targets(there, boxes, classes)


def corners(boxes: Tensor) -> Tensor:
    """Boxes (B, S, S, ..., 4) of x, y within their cell and w, h → left, top, right, bottom as shares of the
    picture."""  # fmt: skip
    grid = boxes.shape[1]
    place = torch.arange(grid, device=boxes.device, dtype=boxes.dtype)
    cells = torch.stack(torch.meshgrid(place, place, indexing="xy"), -1)  # (S, S, 2): column, row
    cells = cells.view(grid, grid, *[1] * (boxes.ndim - 4), 2)
    centre, half = (boxes[..., :2] + cells) / grid, boxes[..., 2:] / 2
    return torch.cat([centre - half, centre + half], -1)


class Prediction(NamedTuple):
    """What the cells say.

    Attributes:
        roots: (B, S, S, boxes, 4): x, y, √w, √h, as the network gives them.
        confidence: (B, S, S, boxes).
        classes: (B, S, S, C) scores of the classes.
    """

    roots: Tensor
    confidence: Tensor
    classes: Tensor

    @property
    def corners(self) -> Tensor:
        """(B, S, S, boxes, 4): left, top, right, bottom as shares of the picture."""
        return corners(torch.cat([self.roots[..., :2], self.roots[..., 2:].square()], -1))


class Terms(NamedTuple):
    """Terms of the loss, each (B,) and weighted.

    Attributes:
        place: of x, y.
        size: of √w, √h.
        confidence: of the responsible boxes.
        empty: of all other boxes.
        classes: of the cells with an object.
    """

    place: Tensor
    size: Tensor
    confidence: Tensor
    empty: Tensor
    classes: Tensor


def responsible(prediction: Prediction, targets: Targets) -> tuple[Tensor, Tensor]:
    """The box of each cell that has the highest IoU with the cell's object, (B, S, S), the first of equals;
    and that IoU. Of a cell without object it means nothing."""  # fmt: skip
    overlap = iou(prediction.corners, corners(targets.boxes)[..., None, :])[..., 0]  # (B, S, S, boxes)
    best = overlap.max(-1)
    return best.indices, best.values


def loss_terms(
    prediction: Prediction, targets: Targets, lambda_coord: float = 5.0, lambda_noobj: float = 0.5
) -> Terms:
    """Terms of the loss of each picture."""
    with torch.no_grad():
        chosen, overlap = responsible(prediction, targets)
    return terms_of(prediction, targets, chosen, overlap, lambda_coord, lambda_noobj)


def terms_of(
    prediction: Prediction,
    targets: Targets,
    chosen: Tensor,
    overlap: Tensor,
    lambda_coord: float = 5.0,
    lambda_noobj: float = 0.5,
) -> Terms:
    """Terms of the loss where the responsible boxes (B, S, S) and their IoU are given."""
    there = targets.there
    index = chosen[..., None]
    roots = prediction.roots.gather(3, index[..., None].expand(*index.shape, 4))[..., 0, :]  # (B, S, S, 4)
    aim = torch.cat([targets.boxes[..., :2], targets.boxes[..., 2:].sqrt()], -1)
    error = (roots - aim).square() * there[..., None]
    confidence = prediction.confidence.gather(3, index)[..., 0]
    one = nn.functional.one_hot(targets.classes, prediction.classes.shape[-1])
    # (B, S, S, boxes): all boxes but the responsible ones
    idle = ~(nn.functional.one_hot(chosen, prediction.confidence.shape[-1]).bool() & there[..., None])
    return Terms(
        lambda_coord * error[..., :2].sum((1, 2, 3)),
        lambda_coord * error[..., 2:].sum((1, 2, 3)),
        ((confidence - overlap).square() * there).sum((1, 2)),
        lambda_noobj * (prediction.confidence.square() * idle).sum((1, 2, 3)),
        ((prediction.classes - one).square().sum(-1) * there).sum((1, 2)),
    )


class Detector(Module):
    """Detector of objects on a grid.

    Measures `loss`, the sum of squares above for one picture, and in validation and test `map`, the mean
    average precision at an IoU of ½.

    Args:
        image_shape: (C, H, H); the product of the strides divides H, and S is the quotient.
        num_classes: number of classes.
        channels: of the convolutions that make the grid coarser.
        strides: of each of them; kernels are 3×3, or just so large that they overlap.
        repeats: further 3×3 convolutions behind each of them.
        boxes: of each cell.
        lambda_coord: weight of the errors of place and size.
        lambda_noobj: weight of the confidence where there is nothing.
        threshold: detections of a lower score are dropped.
        overlap: largest IoU of a detection with a kept one of its class.
        suppression: a detection that overlaps more is dropped ("hard"), or its score falls by the factor
            1 − IoU ("soft").
        training: optimizer and scheduler, see `Module`.

    Raises:
        ValueError: the picture is no square or cannot be halved that often, or an argument is out of range.
    """

    def __init__(
        self,
        image_shape: tuple[int, ...] = (1, 112, 112),
        num_classes: int = 10,
        channels: Sequence[int] = (32, 64, 80),
        strides: Sequence[int] = (4, 2, 2),
        repeats: Sequence[int] = (0, 1, 1),
        boxes: int = 2,
        lambda_coord: float = 5.0,
        lambda_noobj: float = 0.5,
        threshold: float = 0.01,
        overlap: float = 0.5,
        suppression: Suppression = "hard",
        **training: Any,
    ) -> None:
        require(1, num_classes=num_classes, channels=channels, strides=strides, boxes=boxes)
        measures = {"loss": Mean(), "map": MeanAveragePrecision(num_classes)}
        super().__init__(_measures=measures, **training)
        require_picture(image_shape)
        require(0, repeats=repeats, lambda_coord=lambda_coord, lambda_noobj=lambda_noobj)
        require(0, below=1 + 1e-9, threshold=threshold, overlap=overlap)
        require_one_of(Suppression, suppression=suppression)
        for name, numbers in (("strides", strides), ("repeats", repeats)):
            if len(numbers) != len(channels):
                raise ValueError(f"{name} has {len(numbers)} numbers: give {len(channels)}, as channels has.")
        coarser = math.prod(strides)
        if image_shape[1] != image_shape[2] or image_shape[1] % coarser:
            raise ValueError(
                f"image_shape is {list(image_shape)}: give a square whose side {coarser} divides."
            )
        self.side, self.grid = image_shape[1], image_shape[1] // coarser
        self.num_classes, self.boxes = num_classes, boxes
        self.lambda_coord, self.lambda_noobj = lambda_coord, lambda_noobj
        self.threshold, self.overlap, self.suppression = threshold, overlap, suppression
        layers: list[nn.Module] = []
        c_in = image_shape[0]
        for width, coarse, more in zip(channels, strides, repeats, strict=True):
            for stride in (coarse, *[1] * more):
                half = max(1, stride // 2)  # a kernel of 3, 3, 3, 5, 5, …
                layers.append(nn.Conv2d(c_in, width, 2 * half + 1, stride, padding=half, bias=False))
                layers += [nn.BatchNorm2d(width), nn.LeakyReLU(0.1)]
                c_in = width
        head = nn.Conv2d(c_in, boxes * PER_BOX + num_classes, 1)
        nn.init.normal_(head.weight, std=0.01)
        bias = torch.full(
            (boxes * PER_BOX + num_classes,), 0.5
        )  # the middle of the cell, a quarter of the side
        bias[PER_BOX - 1 : boxes * PER_BOX : PER_BOX] = 0  # nothing there
        bias[boxes * PER_BOX :] = 1 / num_classes
        head.bias = nn.Parameter(bias)
        self.layers = nn.Sequential(*layers, head)

    def forward(self, x: Tensor) -> Tensor:
        """Grid (B, S, S, 5·boxes + classes) of pictures x (B, C, H, W)."""
        return self.layers(x).permute(0, 2, 3, 1)

    def read(self, grid: Tensor) -> Prediction:
        """What the numbers of a grid (B, S, S, 5·boxes + classes) mean."""
        numbers, classes = grid.split([self.boxes * PER_BOX, self.num_classes], -1)
        numbers = numbers.unflatten(-1, (self.boxes, PER_BOX))
        return Prediction(numbers[..., :4], numbers[..., 4], classes)

    def candidates(self, grid: Tensor) -> Tensor:
        """All boxes of a grid, (B, S²·boxes, 6): the likeliest class, confidence × the score of that class,
        and the corners in pixels."""  # fmt: skip
        prediction = self.read(grid)
        share, label = prediction.classes.max(-1)  # (B, S, S)
        score = prediction.confidence.clamp(0, 1) * share.clamp(0, 1)[..., None]
        edges = (prediction.corners * self.side).clamp(0, self.side)
        label = label[..., None].expand_as(score)
        return torch.cat([label[..., None].to(score.dtype), score[..., None], edges], -1).flatten(1, 3)

    def detect(self, x: Tensor) -> Tensor:
        """Detections (B, K, 6) of pictures x (B, C, H, W), by falling score."""
        return self.kept(self.candidates(self(x)))

    def kept(self, candidates: Tensor) -> Tensor:
        """Detections (B, K, 6) that stay of candidates (B, N, 6) after threshold and suppression."""
        found = [
            suppress(some[some[:, 1] >= self.threshold], self.overlap, self.threshold, self.suppression)
            for some in candidates
        ]
        result = candidates.new_zeros(len(found), max([len(some) for some in found], default=0), 6)
        result[..., 0] = -1
        for row, some in zip(result, found, strict=True):
            row[: len(some)] = some
        return result

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, objects = batch  # (B, C, H, W), (B, M, 5)
        grid = self(x)
        targets = encode(objects, self.grid, self.side)
        terms = loss_terms(self.read(grid), targets, self.lambda_coord, self.lambda_noobj)
        loss = torch.stack(terms).sum(0)  # (B,)
        if split != "train":  # in training the loss is reported step by step
            self.log_metric(split, "loss", loss.detach())
            self.log_metric(split, "map", self.kept(self.candidates(grid.detach())), objects)
        return loss.mean()

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Detections of a batch; without those of another process's part."""
        weight = getattr(batch, "weight", 1.0)
        x, _ = getattr(batch, "batch", batch)
        return self.detect(x)[: None if weight else 0]
