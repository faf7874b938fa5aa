"""Measures of every strategy, side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array


def measures(
    names: Sequence[str], values: Mapping[str, Any], people: int | None, at: int
) -> tuple[go.Figure, dict[str, np.ndarray]]:
    """Bars of N strategies, a column of them for each measure, with the line of people; and their frames.

    Args:
        values: measure -> (F, N), its values at every frame.
        people: which of the names are people; None if they are not among them.
        at: the frame that is drawn.
    """
    fig = make_subplots(1, len(values), shared_yaxes=True, horizontal_spacing=0.04)
    frames: dict[str, np.ndarray] = {}
    places = list(range(len(names)))
    for i, (measure, v) in enumerate(values.items()):
        v = array(v).astype(float)
        colors = [theme.HIDDEN if n == people else theme.OUTPUT for n in places]
        fig.add_bar(
            x=v[at], y=places, orientation="h", marker={"color": colors, "line_width": 0}, row=1, col=i + 1,
            hovertemplate="%{x:.3f}<extra></extra>", name=measure, showlegend=False,
        )  # fmt: skip
        frames[f"data.{i}.x"] = v
        high = 1.0 if v.max() <= 1 else 1.05 * float(v.max())
        fig.update_xaxes(title=measure.replace(" ", "<br>"), range=[0, high], nticks=4, row=1, col=i + 1)
        if people is not None:
            fig.add_vline(
                x=float(v[at, people]), row=1, col=i + 1,
                line={"color": theme.text(), "width": 2, "dash": "dot"},
            )  # fmt: skip
            for end in ("x0", "x1"):
                frames[f"layout.shapes.{len(fig.layout.shapes) - 1}.{end}"] = v[:, people]
    fig.update_yaxes(autorange="reversed", tickvals=places, ticktext=list(names), showgrid=False)
    fig.update_layout(bargap=0.25)
    return fig, frames
