"""A table's rows on a density, and the curves that compare sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.rows import labelled


def ground(points: Any, x: Any, y: Any, p: Any, names: Sequence[str], top: float) -> go.Figure:
    """Rows (N, 2) on a density p (R, C) over x (C,) and y (R,); trace 0 is the density."""
    rows = array(points)
    fig = go.Figure()
    fig.add_heatmap(
        x=array(x), y=array(y), z=array(p), zmin=0, zmax=top, showscale=False,
        colorscale=theme.scale("probability"), zsmooth="best", hovertemplate="p = %{z:.3g}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=rows[:, 0], y=rows[:, 1], mode="markers", name="rows",
        marker={"size": 6, "color": theme.INPUT, "line": {"width": 1, "color": "white"}},
    )  # fmt: skip
    return labelled(fig, names)


def sizes(rows: Sequence[Mapping[str, float]], count: int, at: int, unit: str, name: str) -> go.Figure:
    """Nats per example at each size, and BIC in the same unit; a line where the film stands."""
    lines = {
        "fitted": [row["nll"] for row in rows],
        "held out": [row["held"] for row in rows],
        "BIC / 2N": [row["bic"] / (2 * count) for row in rows],
    }
    k = np.arange(1, len(rows) + 1)
    colors = dict(zip(lines, (theme.HIDDEN, theme.OUTPUT, theme.INPUT), strict=True))
    fig = curves(lines, k, mark=at, xlabel=name, ylabel=f"nats {unit}", colors=colors, markers=True)
    fig.update_xaxes(dtick=1, zeroline=False)
    fig.update_yaxes(zeroline=False)
    return fig
