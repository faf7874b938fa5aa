"""A picture of cells, what networks say of every pixel of it, and the regions that are made of that.

Shapes: S pixels a side, C classes.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from datamodules.micrographs import CLASSES, Micrographs, render, smooth
from lab.experiments import Experiment
from lab.lenses import stock, surfaces
from modules.convolution import regions
from modules.convolution.regions import Region
from modules.convolution.segmentation import SegmentationUNet
from pages.convolution.segmentation.room import BRIGHTNESS, RENDERED, SIDE

PAPER, BRIGHT = 0.25, 0.45  # of the ground and above it of a cell, as in the middle of the data
MEASURED = 12  # pictures of which the brightness of each class is known


def fits(experiment: Experiment) -> bool:
    """Check whether it classifies every pixel of rendered cells."""
    return (
        surfaces.is_a(experiment, SegmentationUNet)
        and surfaces.is_a(experiment, Micrographs, part="data")
        and surfaces.option(experiment, "padded") is True
        and surfaces.option(experiment, "side", "data") == SIDE
    )


@lru_cache(maxsize=1)
def shelf() -> list[tuple[str, Tensor]]:
    """Shapes by name, (SIDE, SIDE) in [0, 1]: two that touch, one with a hole, a row, and a photograph."""
    at = torch.arange(SIDE) + 0.5
    i, j = at[:, None], at

    def disc(row: float, column: float, radius: float) -> Tensor:
        return (i - row) ** 2 + (j - column) ** 2 < radius**2

    pair = disc(32, 20, 12) | disc(32, 43, 10.5)
    ring = disc(32, 32, 20) & ~disc(32, 32, 10)
    row = disc(14, 14, 8) | disc(14, 31, 8) | disc(14, 48, 8) | disc(42, 22, 13) | disc(42, 47, 11)
    _, photo = stock.photographs(SIDE)[0]
    return [("pair", pair.float()), ("ring", ring.float()), ("row", row.float()), ("flower", photo.mean(0))]


@dataclass(frozen=True)
class Micrograph:
    """A picture x (S, S) in [0, 1], and the classes of its pixels (S, S), None of a drawing."""

    x: Tensor
    truth: Tensor | None


def micrograph(source: str, seed: int, cells: int, noise: float, ink: Tensor | None) -> Micrograph:
    """A picture rendered anew as the data are, or the reader's drawing in their light."""
    if source == RENDERED or ink is None:
        return Micrograph(*render(SIDE, cells, noise, torch.Generator().manual_seed(seed)))
    light = smooth((PAPER + BRIGHT * ink)[None])[0]
    grain = torch.randn(light.shape, generator=torch.Generator().manual_seed(0))
    return Micrograph((light + noise * grain).clamp(0, 1), None)


# --- Pixels ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def brightness() -> tuple[Tensor, Tensor, Tensor]:
    """Mean and standard deviation of the brightness of each class, and its share of the pixels, (C,) each."""
    pairs = [render(SIDE, 20, 0.08, torch.Generator().manual_seed(1000 + k)) for k in range(MEASURED)]
    x, y = (torch.stack(column) for column in zip(*pairs, strict=True))
    each = [x[y == c] for c in range(len(CLASSES))]
    means, deviations = (torch.stack([how(v) for v in each]) for how in (torch.mean, torch.std))
    return means, deviations, torch.tensor([v.numel() / x.numel() for v in each])


@torch.no_grad()
def probabilities(model: SegmentationUNet | str, x: Tensor) -> Tensor:
    """P (C, S, S) of a picture (S, S), by a network, or of each pixel's brightness by Bayes' rule."""
    if model == BRIGHTNESS:
        means, deviations, shares = (v[:, None, None] for v in brightness())
        return (torch.distributions.Normal(means, deviations).log_prob(x) + shares.log()).softmax(0)
    assert isinstance(model, SegmentationUNet)
    return model.predict(x[None, None])[0].softmax(0)


@dataclass(frozen=True)
class Compared:
    """Two networks on one picture.

    Attributes:
        of: the picture.
        p: (2, C, S, S), probabilities of both.
    """

    of: Micrograph
    p: Tensor

    @property
    def told(self) -> Tensor:
        """(2, S, S) classes."""
        return self.p.argmax(1)

    def counts(self, label: int) -> list[tuple[int, int]]:
        """Pixels in both and in either: of each network's class and the true one; without that, of the
        networks' two."""
        told = self.told == label
        pairs = [(told[0], told[1])] if self.of.truth is None else [(t, self.of.truth == label) for t in told]
        return [(int((a & b).sum()), int((a | b).sum())) for a, b in pairs]


def compared(
    micrograph: Micrograph, model: SegmentationUNet | str, other: SegmentationUNet | str
) -> Compared:
    return Compared(micrograph, torch.stack([probabilities(m, micrograph.x) for m in (model, other)]))


# --- Regions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """A frame of the assembly.

    Attributes:
        step: number of the region, −1 before the first.
        sweep: of iterated conditional modes, 0 is its start; −1 where the region is done.
        labels: (S, S) what is labelled so far, UNLABELLED elsewhere.
        state: (S, S) bool, the region as it is now.
        pairs: of neighbours that differ.
        sums: (C,) Σ P_c over what is unlabelled, NaN of classes that were used.
    """

    step: int
    sweep: int
    labels: Tensor
    state: Tensor
    pairs: int
    sums: tuple[float, ...]


@dataclass(frozen=True)
class Assembly:
    """
    Attributes:
        of: the picture. p: (C, S, S). steps: one a class. moments: frames.
        needed: Σ P_c that a region needs.
    """

    of: Micrograph
    p: Tensor
    steps: list[Region]
    moments: list[Moment]
    needed: float

    @property
    def labels(self) -> Tensor:
        return self.moments[-1].labels

    @property
    def evidence(self) -> Tensor:
        """(F, C): Σ P_c over what is unlabelled at each frame, and over its region once a class was used."""
        rows = torch.tensor([moment.sums for moment in self.moments])
        for step in self.steps:
            row = rows[:, step.label]
            row[row.isnan()] = step.evidence
        return rows


def assembly(
    micrograph: Micrograph, model: SegmentationUNet | str, beta: float, least: int, tau: float
) -> Assembly:
    """Regions of a picture, class by class and sweep by sweep."""
    p = probabilities(model, micrograph.x)
    steps = regions.assembled(p, beta, least, tau)
    now = torch.full(micrograph.x.shape, regions.UNLABELLED)
    nothing = torch.zeros(micrograph.x.shape, dtype=torch.bool)
    moments = [Moment(-1, -1, now, nothing, 0, steps[0].sums)]
    for k, step in enumerate(steps):
        free = now == regions.UNLABELLED
        for sweep, state in enumerate(step.states):
            moments.append(Moment(k, sweep, now, state, regions.unlike(free, state), step.sums))
        if step.accepted:
            now = torch.where(step.mask, step.label, now)
        left = tuple(float("nan") if c == step.label else s for c, s in enumerate(step.sums))
        after = steps[k + 1].sums if k + 1 < len(steps) else left
        moments.append(Moment(k, -1, now, step.mask, regions.unlike(free, step.mask), after))
    return Assembly(micrograph, p, steps, moments, tau * micrograph.x.numel())


def iou(labels: Tensor, truth: Tensor, classes: int) -> float:
    """Mean over the classes of IoU of labels (S, S) and true classes (S, S)."""
    shares = []
    for c in range(classes):
        a, b = labels == c, truth == c
        if (a | b).any():
            shares.append(float((a & b).sum() / (a | b).sum()))
    return sum(shares) / len(shares)
