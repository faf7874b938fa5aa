"""A figure, the heatmaps of its joints after each stack, and how often they are right.

Shapes: F frames, S stacks, J joints; n pixels a side, h cells a side.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from datamodules import stick_figures
from datamodules.stick_figures import HEAD, JOINTS, LIMBS, NECK, SWAPPED, StickFigures
from lab.experiments import Experiment
from lab.lenses import stock, surfaces
from modules.convolution.hourglass import StackedHourglass, correct
from pages.convolution.pose import typed
from pages.convolution.pose.room import PLACED, RENDERED, ROWS, SIDE, WAVING

NOISE, LIGHT = 0.05, (0.2, 0.8, 0.0, 0.0)  # of typed and drawn figures: ground, ink, no slope
HALF = 0.9  # thickness of their limbs, in pixels
GREY = 0.5  # of the block
JUDGED = 100  # figures


def fits(experiment: Experiment) -> bool:
    """Check whether it finds the joints of rendered figures."""
    return (
        surfaces.is_a(experiment, StackedHourglass)
        and surfaces.is_a(experiment, StickFigures, part="data")
        and surfaces.option(experiment, "side", "data") == SIDE
    )


@dataclass(frozen=True)
class Figure:
    """A picture x (n, n) in [0, 1] without a block, and its joints (J, 2) in pixels, None of a drawing."""

    x: Tensor
    joints: Tensor | None


def inked(joints: Tensor) -> Tensor:
    """Ink (n, n) of joints (J, 2) in pixels."""
    thick = torch.full((1, len(LIMBS)), HALF)
    torso = (joints[list(stick_figures.HIPS)].mean(0) - joints[NECK]).norm()[None]
    ring = torch.tensor([stick_figures.THIN * SIDE])
    return stick_figures.headed(stick_figures.strokes(joints[None], thick, SIDE), joints[None], torso, ring)[
        0
    ]


@lru_cache(maxsize=1)
def shelf() -> list[tuple[str, Tensor]]:
    """Pictures by name, (n, n) in [0, 1]: one that waves, the same upside down, without a head, and two."""
    waving = typed.joints(WAVING)
    whole = inked(waving)
    at = torch.arange(SIDE) + 0.5
    head = torch.hypot(at[:, None] - waving[HEAD, 0], at - waving[HEAD, 1]) < 5
    small = torch.nn.functional.interpolate(whole[None, None], scale_factor=0.5, mode="area")[0, 0]
    pair = torch.zeros(SIDE, SIDE)
    pair[SIDE // 4 : SIDE // 4 + SIDE // 2] = torch.cat([small, small.flip(1)], 1)
    return [
        ("waving", whole), ("upside down", whole.flip(0)), ("headless", whole.masked_fill(head, 0)),
        ("pair", pair),
    ]  # fmt: skip


def figure(source: str, seed: int, placed: Tensor, ink: Tensor | None, mirror: bool) -> Figure:
    """A figure rendered anew as the data are, one with typed joints, or the reader's drawing."""
    generator = torch.Generator().manual_seed(seed if source == RENDERED else 0)
    joints: Tensor | None
    if source == RENDERED:
        pictures, places = stick_figures.render(1, SIDE, NOISE, generator)
        x, joints = pictures[0], places[0]
    else:
        joints = placed if source == PLACED else None
        stroke = inked(placed) if source == PLACED else ink if ink is not None else shelf()[0][1]
        x = stick_figures.painted(stroke[None], torch.tensor([LIGHT]), NOISE, generator)[0]
    if mirror:
        x, flipped = stick_figures.mirrored(x, joints if joints is not None else torch.zeros(len(JOINTS), 2))
        joints = flipped if joints is not None else None
    return Figure(x, joints)


def behind(x: Tensor, rows: list[int], across: int, block: int) -> tuple[Tensor, Tensor]:
    """Pictures (F, n, n) of x (n, n) with a square block in each row, none in row 0; and its edges (F, 4)."""
    middle = torch.tensor([[row, across] for row in rows], dtype=torch.float32)
    half = torch.tensor([block / 2 if row else 0.0 for row in rows])[:, None]
    edges = torch.cat([middle - half, middle + half], 1)  # top, left, bottom, right
    grey = torch.full((len(rows), 1), GREY)
    return stick_figures.covered(x.expand(len(rows), -1, -1), edges[:, None], grey), edges


@dataclass(frozen=True)
class Look:
    """What a network says of pictures.

    Attributes:
        model: the network. x: (F, n, n). joints: (J, 2) true places, or None.
        hidden: (F, J) bool, under the block; without true places none is.
        heatmaps: (F, S, J, h, h). places: (F, S, J, 2), maxima, in pixels.
        errors: (F, S, J) mean squared error of each heatmap, or None.
    """

    model: StackedHourglass
    x: Tensor
    joints: Tensor | None
    hidden: Tensor
    heatmaps: Tensor
    places: Tensor
    errors: Tensor | None

    @property
    def stacks(self) -> int:
        return self.heatmaps.shape[1]

    @property
    def away(self) -> Tensor | None:
        """(F, S, J) pixels from the true place."""
        return None if self.joints is None else (self.places - self.joints).norm(dim=-1)

    @property
    def right(self) -> Tensor | None:
        """(F, S, J) bool: correct at the α of training."""
        return None if self.joints is None else correct(self.places, self.joints, self.model.alpha)

    @property
    def swapped(self) -> Tensor | None:
        """(F, S, J) bool: not correct, but at the same joint of the other side."""
        return None if self.joints is None else swaps(self.places, self.joints, self.model.alpha)


def swaps(places: Tensor, joints: Tensor, alpha: float) -> Tensor:
    """Whether estimates (..., J, 2) are no correct ones, but would be of the other side's joint."""
    other = joints[..., list(SWAPPED), :]
    return correct(places, other, alpha) & ~correct(places, joints, alpha)


@torch.no_grad()
def look(model: StackedHourglass, figure: Figure, rows: list[int], across: int, block: int) -> Look:
    x, edges = behind(figure.x, rows, across, block)
    heatmaps = model.heatmaps(x[:, None])
    errors, hidden = None, torch.zeros(len(rows), len(JOINTS), dtype=torch.bool)
    if figure.joints is not None:
        target = model.targets(figure.joints)  # (J, h, h)
        errors = (heatmaps - target).square().mean((-2, -1))
        hidden = stick_figures.inside(figure.joints.expand(len(rows), -1, -1), edges[:, None])[..., 0]
    return Look(model, x, figure.joints, hidden, heatmaps, model.places(heatmaps), errors)


def looked(model: StackedHourglass, figure: Figure, down: int, across: int, block: int) -> Look:
    """What the network says of the figure behind a block, F = 1."""
    return look(model, figure, [down], across, block)


def swept(model: StackedHourglass, figure: Figure, across: int, block: int) -> Look:
    """The same with the block in each row in turn, at first without one."""
    return look(model, figure, list(ROWS), across, block)


# --- Many figures -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """Estimates for many figures.

    Attributes:
        joints: (N, J, 3). places: (N, S, J, 2). alpha: of training.
    """

    joints: Tensor
    places: Tensor
    alpha: float

    def right(self, share: float) -> Tensor:
        """(N, S, J) bool."""
        return correct(self.places, self.joints[:, None], share)

    def swapped(self, share: float) -> Tensor:
        return swaps(self.places, self.joints[:, None, :, :2], share)


@torch.no_grad()
def judged(model: StackedHourglass) -> Judged:
    """Estimates for figures, with blocks, that no network was trained on."""
    x, joints = stock.examples(StickFigures, "test", num_test=JUDGED, side=SIDE)
    return Judged(joints, model.places(model.heatmaps(x)), model.alpha)
