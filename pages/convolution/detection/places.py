"""Scenes and boxes that a reader types or clicks."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from datamodules import cells
from lab.errors import UserError
from pages.convolution.detection.room import OWN

SIDE, MOST = 32, 12  # of a digit that is typed without one; digits in a scene
LEAST, LARGEST = 12, 64  # sides of a digit
MOST_BOXES, REACH = 26, 1e4  # letters of the alphabet; coordinates of a box


class Placed(NamedTuple):
    """A digit, "own" for the drawing, its centre and the side of its square, in pixels."""

    digit: str
    x: float
    y: float
    side: float


def placed(text: str) -> tuple[Placed, ...]:
    """Digits as typed, "3 30 34; 5 80 40 28": digit, centre, and the side if it is not 32.

    Raises:
        UserError: one is no digit, has no place, or is too small or too large; or there are too many.
    """
    result = []
    for part in text.replace("\n", ";").split(";"):
        if not (words := part.replace(",", " ").split()):
            continue
        name = part.strip()[:30]
        numbers = [cells.number(word) for word in words[1:]]
        if len(words) not in (3, 4) or any(n is None or math.isnan(n) for n in numbers):
            raise UserError(
                f"{name!r} is no digit at a place: write 3 30 34, digit, x and y, or with a side."
            )
        if words[0] not in (*map(str, range(10)), OWN):
            raise UserError(f"{words[0][:10]!r} is no digit: write 0 to 9, or {OWN} for your drawing.")
        x, y, side = (*(n for n in numbers if n is not None), float(SIDE))[:3]
        if not (abs(x) <= 999 and abs(y) <= 999 and LEAST <= side <= LARGEST):
            raise UserError(
                f"{name!r}: give a place within the picture and a side of {LEAST} to {LARGEST} pixels."
            )
        result.append(Placed(words[0], x, y, side))
    if len(result) > MOST:
        raise UserError(f"These are {len(result)} digits: a scene holds up to {MOST}.")
    return tuple(result)


def added(digits: str, digit: str, x: float, y: float) -> str:
    """The text with one more digit at the place of a click."""
    one = f"{digit} {x:g} {y:g}"
    return f"{digits.rstrip('; ')}; {one}" if digits.strip("; \n") else one


def typed(text: str) -> Tensor:
    """Boxes as typed, a line or a part between semicolons each, as detections (N, 6).

    Raises:
        UserError: one is no box, or there are none or too many.
    """
    rows = []
    for part in text.replace("\n", ";").split(";"):
        if not (words := part.replace(",", " ").split()):
            continue
        numbers = [cells.number(word) for word in words]
        if len(words) not in (5, 6) or any(n is None or not abs(n) <= REACH for n in numbers):
            raise UserError(
                f"{part.strip()[:30]!r} is no box: write left, top, right, bottom and score, as 0 0 10 10 .9."
            )
        left, top, right, bottom, score, *label = (float(n) for n in numbers if n is not None)
        if not (left < right and top < bottom and 0 <= score <= 1):
            raise UserError(
                f"{part.strip()[:30]!r}: left must be below right, top below bottom, the score from 0 to 1."
            )
        rows.append([label[0] if label else 0.0, score, left, top, right, bottom])
    if not 1 <= len(rows) <= MOST_BOXES:
        raise UserError(f"These are {len(rows)} boxes: write 1 to {MOST_BOXES}, a line each.")
    return torch.tensor(rows, dtype=torch.float64)
