"""Paths that grow from frame to frame."""

from typing import Any

import numpy as np

from lab.figures.basic import array


def trails(paths: Any) -> tuple[np.ndarray, np.ndarray]:
    """Paths (F, N, 2) up to every frame, with gaps: x and y, (F, N (F + 1))."""
    p = array(paths).transpose(1, 0, 2)  # (N, F, 2)
    frames = p.shape[1]
    drawn = np.arange(frames) <= np.arange(frames)[:, None]  # (F now, F)
    shown = np.where(drawn[:, None, :, None], p[None], np.nan)
    shown = np.pad(shown, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    flat = shown.reshape(frames, -1, 2)
    return flat[..., 0], flat[..., 1]
