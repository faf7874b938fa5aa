"""A cobweb, and the error of every step on a logarithmic axis."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array

FLOOR = 1e-16  # an error of 0 is drawn here


def cobweb(
    x: Any, curve: Any, steps: tuple[Any, Any], solutions: Any, ends: tuple[float, float], name: str
) -> go.Figure:
    """Traces: 0 the diagonal, 1 the curve, 2 the staircase, 3 where it is now, 4 the solutions.

    Args:
        x, curve: (N,) the map that is iterated.
        ends: of both axes.
        steps: (x, y) of the staircase so far, each (M,).
    """
    xs, ys = (array(v) for v in steps)
    here = now(xs, ys)
    fig = go.Figure(
        [
            go.Scatter(x=ends, y=ends, mode="lines", name="z", hoverinfo="skip",
                       line={"color": theme.HIDDEN, "width": 2, "dash": "dot"}),
            go.Scatter(x=array(x), y=array(curve), mode="lines", name=name,
                       line={"color": theme.INPUT, "width": 4}),
            go.Scatter(x=xs, y=ys, mode="lines", name="steps", hoverinfo="skip",
                       line={"color": theme.OUTPUT, "width": 3}),
            go.Scatter(x=here[:1], y=here[1:], mode="markers", name="now", hoverinfo="skip", showlegend=False,
                       marker={"size": 15, "color": theme.OUTPUT}),
            go.Scatter(x=array(solutions), y=array(solutions), mode="markers", name="solution",
                       marker={"size": 18, "color": theme.VERMILLION, "symbol": "circle-open",
                               "line": {"width": 3}}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="zₖ", range=ends, constrain="domain", nticks=7)
    fig.update_yaxes(title="zₖ₊₁", range=ends, scaleanchor="x", constrain="domain", nticks=7)
    return fig


def now(x: Any, y: Any) -> list[float]:
    """The last place of a staircase that is drawn."""
    xs, ys = array(x), array(y)
    known = [(a, b) for a, b in zip(xs.tolist(), ys.tolist(), strict=True) if a == a and b == b]
    return list(known[-1])


def errors(values: Any, bound: Any, at: int) -> go.Figure:
    """Traces: 0 the bound, 1 the errors, 2 the one now."""
    e, b = array(values).clip(FLOOR), array(bound)
    b = np.where(b < 100 * np.nanmax(e), b.clip(FLOOR), np.nan)
    k = list(range(len(e)))
    fig = go.Figure(
        [
            go.Scatter(x=k, y=b, mode="lines", name="βᵏ · first error",
                       line={"color": theme.HIDDEN, "width": 3, "dash": "dot"}),
            go.Scatter(x=k, y=e, mode="lines+markers", name="error",
                       line={"color": theme.OUTPUT, "width": 3}, marker={"size": 6}),
            go.Scatter(x=[at], y=[e[at]], mode="markers", name="now", showlegend=False, hoverinfo="skip",
                       marker={"size": 15, "color": theme.OUTPUT}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="step k", nticks=7)
    fig.update_yaxes(title="|zₖ − z*|", type="log", exponentformat="power", nticks=6)
    return fig
