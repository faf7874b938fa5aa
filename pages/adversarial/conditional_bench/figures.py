"""Pictures by class and noise, and what a network takes them for."""

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic
from lab.figures.basic import array
from pages.adversarial.conditional_bench.lens import CLASSES, Frame


def table(frame: Frame) -> go.Figure:
    """Share of each class (rows, as asked) that is named as each (columns)."""
    names = [str(c) for c in range(CLASSES)]
    return basic.heatmap(frame.table, names, names, zmin=0.0, zmax=1.0, xlabel="named", ylabel="asked for",
                         square=True)  # fmt: skip


def tables(frames: list[Frame]) -> np.ndarray:
    """The frames of `table`."""
    return np.stack([array(one.table) for one in frames])
