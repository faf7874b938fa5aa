"""The base below, the curve above it, and to its right the density that the curve makes."""

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array


def construction(
    z: Any, x: Any, before: Any, after: Any, window: tuple[float, float], bars: tuple[Any, Any] | None
) -> go.Figure:
    """Traces: 0 the curve, 1 base, 2 density of x, 3 histogram; of the strip: 4 under the base, 5 under the
    density, 6 the way of its middle from the base over the curve to the density.

    Args:
        z, x, before, after: (N,) places, and the densities there.
        window: of x.
        bars: middles and heights of a histogram of x.
    """
    fig = make_subplots(
        rows=2, cols=2, column_widths=[0.62, 0.38], row_heights=[0.66, 0.34], horizontal_spacing=0.03,
        vertical_spacing=0.04, shared_xaxes=True, shared_yaxes=True, specs=[[{}, {}], [{}, None]],
    )  # fmt: skip
    z, x, before, after = (array(v) for v in (z, x, before, after))
    line = {"mode": "lines", "showlegend": False}
    fig.add_trace(
        go.Scatter(
            x=z, y=x, name="x = f(z)", line={"color": theme.text(), "width": 4, "simplify": False}, **line
        ),
        1,
        1,
    )
    fig.add_trace(
        go.Scatter(
            x=z, y=before, name="p(z)", line={"color": theme.INPUT, "width": 3, "simplify": False}, **line
        ),
        2,
        1,
    )
    fig.add_trace(
        go.Scatter(
            x=after, y=x, name="p(x)", line={"color": theme.OUTPUT, "width": 3, "simplify": False}, **line
        ),
        1,
        2,
    )
    places, heights = bars if bars is not None else ([], [])
    fig.add_trace(
        go.Bar(x=array(heights), y=array(places), orientation="h", name="samples", showlegend=False,
               marker={"color": theme.fade(theme.HIDDEN, 0.5), "line": {"width": 0}}), 1, 2,
    )  # fmt: skip
    for row, column, color, fill in ((2, 1, theme.INPUT, "tozeroy"), (1, 2, theme.OUTPUT, "tozerox")):
        fig.add_trace(
            go.Scatter(x=[], y=[], fill=fill, fillcolor=theme.fade(color, 0.55), hoverinfo="skip",
                       line={"color": color, "width": 1}, **line), row, column,
        )  # fmt: skip
    fig.add_trace(
        go.Scatter(x=[], y=[], mode="lines+markers", hoverinfo="skip", showlegend=False,
                   line={"color": theme.VERMILLION, "width": 2, "dash": "dot"},
                   marker={"color": theme.VERMILLION, "size": [0, 12, 0]}), 1, 1,
    )  # fmt: skip
    low, high = window
    room = 0.02 * (high - low)
    top = 1.15 * float(after[(x >= low) & (x <= high)].clip(max=4.0).max())
    fig.update_layout(
        xaxis={"range": [z.min(), z.max()], "showticklabels": False},
        xaxis3={"range": [z.min(), z.max()], "title": "z", "showticklabels": True},
        xaxis2={"range": [0, top], "title": "p(x)", "nticks": 4},
        yaxis={"range": [low - room, high + room], "title": "x"},
        yaxis3={"range": [0, 1.2 * before.max()], "title": "p(z)", "nticks": 4},
        bargap=0.05,
    )  # fmt: skip
    return fig


def way(z: Any, x: Any, floor: float, right: float) -> tuple[list[list[float]], list[list[float]]]:
    """The path of a strip's middle for every frame: up from the base to the curve, and over to the right."""
    return [[a, a, right] for a in array(z).tolist()], [[floor, b, b] for b in array(x).tolist()]
