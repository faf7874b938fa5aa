"""A training of the plane as it goes: its density with points, and its curves. Arrays in, figures out."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, curves, rule


def density(levels: Any, reach: float, lowest: float, data: Any, samples: Any, title: str = "") -> go.Figure:
    """log p over [-reach, reach]² (trace 0), points of the data (1), samples (2).

    Args:
        levels: (S, S), row = x_2 upwards: log p from `lowest` to 0 as 0 to 255.
        data, samples: (N, 2).
    """
    ticks = [lowest, lowest / 2, 0]
    scale = {
        "thickness": 12, "outlinewidth": 0, "len": 0.9, "title": {"text": "log p"},
        "tickvals": [255 * (1 - t / lowest) for t in ticks], "ticktext": [f"{t:g}" for t in ticks],
    }  # fmt: skip
    ground = planar.field(array(levels), reach, zmin=0, zmax=255, zsmooth="fast", colorbar=scale)
    clouds = [
        planar.points(cloud, {"size": 4, "color": color, "opacity": 0.75}, name=name)
        for cloud, name, color in ((data, "data", theme.HIDDEN), (samples, "samples", theme.OUTPUT))
    ]
    fig = go.Figure([ground, *clouds], planar.axes(reach, ("x₁", "x₂")))
    return fig.update_layout(title=title, showlegend=True)


def course(
    lines: Mapping[str, Any], steps: Any, levels: Mapping[str, float], turned: Any, at: float,
    span: tuple[float, float], last: int, colors: Mapping[str, str] | None = None,
) -> go.Figure:  # fmt: skip
    """Curves over the steps of training; shape 0 of the layout is a line at the frame that is shown.

    Args:
        levels: name -> height of a dotted line.
        turned: steps at which knobs were turned.
        span: of the ordinate; last: end of the abscissa.
    """
    fig = curves(lines, steps, mark=at, xlabel="steps", ylabel="nats", colors=colors)
    for name, height in levels.items():
        low, high = span
        if low <= height <= high:
            rule(
                fig, y=height, line={"color": theme.text(), "width": 2, "dash": "dot"},
                annotation={"text": name, "font": {"size": theme.FONT_SIZE - 2}, "xanchor": "right",
                            "yanchor": "bottom"},
            )  # fmt: skip
    for place in turned:
        rule(fig, x=place, line={"color": theme.ATTENTION, "width": 2})
    fig.update_xaxes(range=[0, last])
    fig.update_yaxes(range=list(span))
    fig.update_layout(showlegend=len(lines) > 1)
    return fig
