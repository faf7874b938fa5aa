"""Joints that a reader types or moves by a click."""

import math

import torch
from torch import Tensor

from datamodules import cells
from datamodules.stick_figures import JOINTS
from lab.errors import UserError
from pages.convolution.pose.room import SIDE


def joints(text: str) -> Tensor:
    """Places (J, 2), row and column in pixels, as typed: "20 8; 20 13; …", x and y of each joint in turn.

    Raises:
        UserError: one is no place in the picture, or there are too few or too many.
    """
    places = []
    for part in text.replace("\n", ";").split(";"):
        if not (words := part.replace(",", " ").split()):
            continue
        numbers = [cells.number(word) for word in words]
        if len(words) != 2 or any(n is None or math.isnan(n) or not 0 <= n <= SIDE for n in numbers):
            raise UserError(
                f"{part.strip()[:30]!r} is no place: write x and y from 0 to {SIDE}, as 20 8; then the next."
            )
        places.append([float(n) for n in reversed(numbers) if n is not None])
    if len(places) != len(JOINTS):
        raise UserError(
            f"These are {len(places)} places: write {len(JOINTS)}, first {JOINTS[0]} and {JOINTS[1]}."
        )
    return torch.tensor(places)


def spelled(places: Tensor) -> str:
    """Places (J, 2) as they are typed."""
    return "; ".join(f"{column:.1f} {row:.1f}".replace(".0", "") for row, column in places.tolist())


def moved(places: Tensor, joint: int, x: float, y: float) -> str:
    """The text with one joint at the place of a click."""
    result = places.clone()
    result[joint] = torch.tensor([y, x])
    return spelled(result.clamp(0, SIDE))
