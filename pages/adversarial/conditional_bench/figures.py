"""Pictures by class and noise, and what a network takes them for."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.figures import sheets
from lab.figures.basic import array
from lab.figures.moving import heatmaps
from pages.adversarial.conditional_bench.lens import CLASSES, COLUMNS, Frame


def sheet(frames: Sequence[Frame]) -> dict[str, Any]:
    """Ten classes by COLUMNS draws of the noise."""
    return sheets.film([one.sheet for one in frames], COLUMNS, zmin=0, zmax=1)


def table(frames: Sequence[Frame]) -> dict[str, Any]:
    """Share of each class (rows, as asked) that is named as each (columns)."""
    names, shares = [str(c) for c in range(CLASSES)], np.stack([array(one.table) for one in frames])
    axes = {"xlabel": "predicted class", "ylabel": "class asked for", "square": True, "colorbar": False}
    return heatmaps(shares, names, names, zmin=0.0, zmax=1.0, **axes)
