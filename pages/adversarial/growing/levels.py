"""The same draws at every level of a trained game: what of the finished pictures is there already.

Shapes: pictures (N, S, S) with S of the last level; smaller ones have each pixel repeated.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.adversarial.growing import ProgressiveGAN, halve, up
from modules.adversarial.growing import fade as fading
from modules.adversarial.stylegan import FIRST
from pages.adversarial.growing.lens import DRAWN, SHEET, at, correlation, inked

PARTS = 4  # frames of a fade


@dataclass(frozen=True)
class Levels:
    """A trained game from its first level to its last.

    Attributes:
        places: levels, with α behind the point: 1.25 is a quarter of the second fade; (F,).
        pictures: (F, SHEET, S, S).
        there: correlation over DRAWN draws with the finished pictures, (F,).
        room: the same of the finished pictures themselves, made as small as those and doubled again, (F,).
        sides: pixels along a side at each place, (F,).
    """

    places: list[float]
    pictures: Tensor
    there: list[float]
    room: list[float]
    sides: list[int]

    def alpha(self, frame: int) -> float:
        """α of this frame; 1 where a level rests."""
        return self.places[frame] % 1 or 1.0

    def rests(self) -> list[int]:
        """The frames in which a level rests."""
        return [frame for frame in range(len(self.places)) if self.alpha(frame) == 1]


def places(levels: int) -> list[float]:
    """Places of the film of so many levels."""
    return [i / PARTS for i in range(PARTS * (levels - 1) + 1)]


@torch.no_grad()
def through(game: ProgressiveGAN, seed: int) -> Levels:
    """All levels of a trained game, at draws of one seed."""
    z = game.noise(DRAWN, torch.Generator().manual_seed(seed))
    result, last = game.ema_generator(), game.levels - 1
    results = [inked(at(result, 0, 1.0)(z))]
    for level in range(1, last + 1):
        old, new = at(result, level, 0.0).old_and_new(z)  # a fade is made of these two
        results += [inked(fading(old, new, (part + 1) / PARTS).tanh()) for part in range(PARTS)]
    finished = results[-1]
    side, spaces = finished.shape[-1], places(game.levels)
    best = [finished]  # at each level, the smallest first
    for _ in range(last):
        best.insert(0, halve(best[0]))
    room = [correlation(grown(x, side), finished) for x in best]
    results = [grown(x, side) for x in results]
    own = [math.ceil(place) for place in spaces]  # the level that is fading in, or rests
    return Levels(
        spaces,
        torch.stack([x[:SHEET, 0] for x in results]),
        [correlation(x, finished) for x in results],
        [room[level] for level in own],
        [FIRST << level for level in own],
    )


def grown(x: Tensor, side: int) -> Tensor:
    """Pixels repeated until there are so many along a side."""
    while x.shape[-1] < side:
        x = up(x)
    return x


def captions(levels: Levels) -> list[str]:
    """A sentence for every frame."""
    texts = []
    for i, (side, there, room) in enumerate(zip(levels.sides, levels.there, levels.room, strict=True)):
        alpha = levels.alpha(i)
        state = f"{side} × {side} pixels" + (f" faded in, α = {alpha:g}" if alpha < 1 else "")
        texts.append(
            f"{state}: correlation with the finished picture {there:.2f}; "
            f"the finished picture itself in so few pixels has {room:.2f}."
        )
    return texts


def equations(levels: Levels) -> list[str]:
    """Equation of how a frame is made, LaTeX: h before tanh by each level's own way to pixels."""
    texts = []
    for i, side in enumerate(levels.sides):
        alpha = levels.alpha(i)
        new = rf"h_{{{side}}}"
        both = rf"{1 - alpha:g}\,\mathrm{{up}}(h_{{{side // 2}}})+{alpha:g}\,{new}" if alpha < 1 else new
        texts.append(rf"x=\tanh\left({both}\right)")
    return texts


def size(side: int) -> str:
    """4 × 4, …"""
    return f"{side} × {side}"
