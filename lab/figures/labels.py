"""Places for labels beside their points, so that no two lie over each other.

Greedy: the labels go, one after the other, to the nearest free place around their point; in a film each
likes the place of the frame before, so that it does not jump.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.figures.basic import array

# The smallest plot that labels must fit, in widths of a letter and heights of a line: a phone's.
ROOM = (44.0, 13.0)
REACH = 1.2  # a map's axes run to the largest coordinate times this

# Offsets to try, from near to far, in lines from the middle of the label to the point.
_ANGLES = np.deg2rad([90, 270, 0, 180, 45, 135, 315, 225, 22, 158, 202, 338, 67, 113, 247, 293])
_RINGS = (0.95, 1.4, 1.9, 2.5, 3.2, 4.0, 5.0, 6.0)


def places(points: Any, words: Sequence[str], span: Any, room: tuple[float, float] = ROOM) -> np.ndarray:
    """Middles of labels: points (N, 2), or (T, N, 2) of a film -> the same shape.

    Args:
        words: N.
        span: half the length of the axes (both run from −span to span), or (x, y) of them.
    """
    p = array(points).astype(float)
    films = p.reshape(-1, *p.shape[-2:])
    unit = 2 * np.broadcast_to(np.asarray(span, float), (2,)) / np.asarray(room)  # a letter's, a line's
    width = np.array([len(w) + 0.8 for w in words])
    result = np.empty_like(films)
    before = np.zeros((len(words), 2))
    before[:, 1] = _RINGS[0]
    for t, frame in enumerate(films):
        result[t] = _frame(frame / unit, width, before, np.asarray(room) / 2) * unit
        before = (result[t] - frame) / unit
    return result.reshape(p.shape)


def leaders(
    points: Any, middles: Any, words: Sequence[str], span: Any, room: tuple[float, float] = ROOM
) -> np.ndarray:
    """Lines from points to their labels, a row of NaN after each: (N, 2), or (T, N, 2) of a film, twice ->
    (…, 3 N, 2). They end at the labels' edges, so that none runs through letters.

    Args:
        middles: what `places` gives for these words, span and room.
    """
    p, at = array(points).astype(float), array(middles).astype(float)
    unit = 2 * np.broadcast_to(np.asarray(span, float), (2,)) / np.asarray(room)
    half = np.column_stack([[(len(w) + 0.8) / 2 for w in words], np.full(len(words), 0.3)]) * unit
    ends = np.clip(p, at - half, at + half)
    lines = np.stack([p, ends, np.full_like(p, np.nan)], -2)
    return lines.reshape(*p.shape[:-2], -1, 2)


def _frame(points: np.ndarray, width: np.ndarray, before: np.ndarray, half: np.ndarray) -> np.ndarray:
    """One frame in letters and lines; half (2,) of the plot."""
    middles = np.full((len(points), 2), np.inf)
    for i, (x, y) in enumerate(points):
        if not np.isfinite([x, y]).all():
            middles[i] = x, y
            continue
        out = np.sign(np.cos(_ANGLES)) * np.where(np.abs(np.cos(_ANGLES)) < 0.1, 0, width[i] / 2 + 0.2)
        rings = [np.column_stack([out * (1 if r < 2 else r / 2), np.sin(_ANGLES) * r]) for r in _RINGS]
        tries = np.concatenate([before[i][None], *rings]) + points[i]
        apart_x = np.abs(tries[:, None, 0] - middles[None, :, 0]) - (width[i] + width[None]) / 2
        apart_y = np.abs(tries[:, None, 1] - middles[None, :, 1]) - 1.05
        over = ((apart_x < 0) & (apart_y < 0)).sum(1).astype(float)
        near_x = np.abs(tries[:, None, 0] - points[None, :, 0]) - width[i] / 2
        near_y = np.abs(tries[:, None, 1] - points[None, :, 1]) - 0.6
        over += 0.3 * ((near_x < 0) & (near_y < 0)).sum(1)  # over a point is less bad than over a label
        outside = (np.abs(tries[:, 0]) + width[i] / 2 > half[0]) | (np.abs(tries[:, 1]) + 0.5 > half[1])
        far = np.hypot((tries[:, 0] - x) / 3, tries[:, 1] - y)  # a letter is a third of a line
        far[0] -= 1.0  # the place of the frame before
        middles[i] = tries[(over + 10 * outside + 0.05 * far).argmin()]
    return middles
