"""The line with both kinds of examples and the judge's curve; the course of θ."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule, unrolled

REAL, MADE = 1.12, -0.12  # heights of the ticks


def line(x: Any, judged: Any, best: Any, real: Any, made: Any) -> go.Figure:
    """Traces: 0 D, 1 the best D, 2 real examples, 3 made ones, of one frame.

    Args:
        x, judged, best: (N,) places, D and D* there.
        real, made: (S,) examples.
    """
    fig = curves({"D": judged, "best D": best}, x, xlabel="x", ylabel="judged real",
                 colors={"D": theme.ATTENTION, "best D": theme.HIDDEN})  # fmt: skip
    fig.data[1].line.dash = "dot"
    for places, height, name, color in (
        (real, REAL, "real", theme.INPUT), (made, MADE, "made", theme.OUTPUT),
    ):  # fmt: skip
        places = array(places)
        fig.add_trace(
            go.Scatter(
                x=places, y=[height] * len(places), mode="markers", name=name, hoverinfo="skip",
                marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": color}},
            )
        )  # fmt: skip
    array_x = array(x)
    fig.update_xaxes(range=[float(array_x[0]), float(array_x[-1])])
    fig.update_yaxes(range=[-0.25, 1.25], tickvals=[0, 0.5, 1])
    return fig


def course(theta: Any, real: float, at: int, span: tuple[float, float]) -> tuple[go.Figure, dict[str, Any]]:
    """θ by round up to the one that is shown, shape 0 of the layout; the data's mean is dotted. With its
    frames: the room guesses how it goes on."""
    fig = curves({"θ": theta}, mark=at, xlabel="round", ylabel="θ", colors={"θ": theme.OUTPUT})
    rule(
        fig, y=real, line={"color": theme.INPUT, "width": 2, "dash": "dot"},
        annotation={"text": "mean of the data", "font": {"size": theme.FONT_SIZE - 2}, "xanchor": "right"},
    )  # fmt: skip
    fig.update_yaxes(range=list(span))
    return fig, unrolled(fig, at)
