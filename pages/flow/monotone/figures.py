"""A map of the unit interval with its inverse, its rises and its slope."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, click_targets

Intervals = Sequence[tuple[float, float]]


def both(
    h: Any, x: Any, knots: tuple[Any, Any], printed: Any | None, forbidden: Intervals, top: float, now: Any
) -> go.Figure:
    """The map and its mirror image; trace 0 is the point on its way there and back.

    Args:
        h, x: (P,) of the curve. knots: their places and values. printed: (P,) or None.
        top: f(1). now: h, f(h) of the point.
    """
    h, x = array(h), array(x)
    fig = go.Figure(
        go.Scatter(
            **dict(zip("xy", point(*now), strict=True)), mode="lines+markers", showlegend=False,
            hoverinfo="skip", line={"color": theme.VERMILLION, "width": 2, "dash": "dot"},
            marker={"size": [0, 14, 0, 14, 0], "color": theme.VERMILLION, "opacity": 1}, zorder=5,
        )
    )  # fmt: skip
    line = {"mode": "lines", "hoverinfo": "skip"}
    fig.add_trace(go.Scatter(x=h, y=x, name="f", line={"color": theme.text(), "width": 4, "simplify": False},
                             **line))  # fmt: skip
    fig.add_trace(go.Scatter(x=x, y=h, name="inverse" if not forbidden else "mirror: no function",
                             line={"color": theme.OUTPUT, "width": 4, "simplify": False},
                             **line))  # fmt: skip
    if printed is not None:
        fig.add_trace(go.Scatter(x=h, y=array(printed), name="f as printed",
                                 line={"color": theme.PURPLE, "width": 3, "dash": "dash"},
                                 **line))  # fmt: skip
    fig.add_trace(go.Scatter(x=array(knots[0]), y=array(knots[1]), mode="markers", hoverinfo="skip",
                             showlegend=False, marker={"size": 9, "color": theme.text()}))  # fmt: skip
    end = 1.04 * max(top, 1.0, float(x.max()))
    low = min(-0.04, 1.04 * float(x.min()))
    fig.add_shape(type="line", x0=low, y0=low, x1=end, y1=end, line={"color": theme.HIDDEN, "dash": "dot"})
    shade(fig, forbidden)
    fig.update_xaxes(range=[low, end], title="h", constrain="domain", zeroline=False)
    fig.update_yaxes(range=[low, end], title="f(h)", scaleanchor="x", constrain="domain", zeroline=False)
    return fig


def shade(fig: go.Figure, forbidden: Intervals, **place: Any) -> None:
    """Shade the intervals of negative slope."""
    for start, stop in forbidden:
        fig.add_vrect(x0=start, x1=stop, fillcolor=theme.fade(theme.VERMILLION, 0.25), line_width=0, **place)


def point(h: float, x: float) -> tuple[list[float], list[float]]:
    """From the abscissa up to the curve, over to the mirror image, and down again: what comes back is h."""
    return [h, h, x, x, x], [0.0, x, x, h, 0.0]


def way(h: Any, x: Any) -> dict[str, Any]:
    """The point of every frame."""
    paths = [point(a, b) for a, b in zip(array(h).tolist(), array(x).tolist(), strict=True)]
    return {"data.0.x": [xs for xs, _ in paths], "data.0.y": [ys for _, ys in paths]}


def rises(
    phi: Any, h: Any, slope: Any, forbidden: Intervals, now: tuple[float, float], levels: Any
) -> go.Figure:
    """Above the bars φ, below the slope; trace 0 is the point on the slope. A click on a bar's column reports
    its bin (x, from 1) and height."""
    phi, slope = array(phi), array(slope).astype(float)
    count = len(phi)
    top = 1.15 * min(float(max(slope[slope < 1e6].max(), 1.0)), 8.0)
    fig = make_subplots(rows=2, cols=1, vertical_spacing=0.2)
    fig.add_trace(go.Scatter(x=[now[0]], y=[min(now[1], top)], mode="markers", showlegend=False,
                             hoverinfo="skip", zorder=5,
                             marker={"size": 14, "color": theme.VERMILLION}), 2, 1)  # fmt: skip
    fig.add_trace(
        go.Bar(x=list(range(1, count + 1)), y=phi, marker={"color": theme.INPUT, "line": {"width": 0}},
               text=[f"{v:.3g}" for v in phi], textposition="outside", textfont={"size": theme.FONT_SIZE - 3},
               showlegend=False, hoverinfo="skip", cliponaxis=False), 1, 1,
    )  # fmt: skip
    at = [(k, float(v)) for k in range(1, count + 1) for v in array(levels)]
    fig.add_trace(click_targets([k for k, _ in at], [v for _, v in at], size=20), 1, 1)
    fig.add_trace(go.Scatter(x=array(h), y=slope.clip(max=50), mode="lines", showlegend=False,
                             hoverinfo="skip", line={"color": theme.GREEN, "width": 4,
                             "simplify": False}), 2, 1)  # fmt: skip
    shade(fig, forbidden, row=2, col=1)
    low = min(-0.04 * top, 1.15 * float(slope.min()))
    fig.update_xaxes(tickvals=list(range(1, count + 1)), title="bin", showgrid=False, row=1, col=1)
    fig.update_yaxes(title="φ", range=[0, max(0.65, 1.2 * float(phi.max()))], nticks=4, row=1, col=1)
    fig.update_xaxes(title="h", range=[0, 1], row=2, col=1)
    fig.update_yaxes(title="f′(h)", range=[low, top], nticks=5, zerolinewidth=3, row=2, col=1)
    return fig.update_layout(hoverdistance=-1)
