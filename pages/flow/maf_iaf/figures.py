"""Two rows of numbers and who reads whom; the clock of both directions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array

LOW, HIGH = 0.0, 1.0  # heights of inputs and outputs
BEND = 13  # points of an arc


def arc(a: int, b: int) -> tuple[list[float], list[float]]:
    """From output a to output b, above the row; ends in a gap."""
    u = np.linspace(0, 1, BEND)
    height = 0.16 + 0.09 * (b - a)
    return [*(a + (b - a) * u), np.nan], [*(HIGH + 0.14 + height * 4 * u * (1 - u)), np.nan]


def lines(count: int, known: Sequence[int], parallel: bool) -> tuple[list[float], list[float]]:
    """Arrows x and y from what the outputs `known` (from 0) have read, of one length whatever is known."""
    xs: list[float] = []
    ys: list[float] = []
    for i in range(count):
        for j in range(i + 1):
            if j == i or parallel:
                x, y = [j, i, np.nan], [LOW, HIGH, np.nan]
            else:
                x, y = arc(j, i)
            xs += x if i in known else [np.nan] * len(x)
            ys += y if i in known else [np.nan] * len(y)
    return xs, ys


def texts(values: Any, known: int) -> list[str]:
    """Outputs as they are known."""
    return [f"{v:.2f}".replace("-", "−") if i < known else "?" for i, v in enumerate(array(values).tolist())]


def reading(
    inputs: Any,
    outputs: Any,
    known: int,
    new: Sequence[int],
    parallel: bool,
    names: tuple[str, str],
    title: str,
) -> go.Figure:
    """Traces: 0 what was read, 1 what the newest outputs read, 2 inputs, 3 outputs."""
    x = array(inputs)
    D = len(x)
    where = list(range(D))
    old, fresh = lines(D, range(known), parallel), lines(D, new, parallel)
    size = 54 if D <= 5 else 42
    fig = go.Figure()
    for (xs, ys), color, width in ((old, theme.fade(theme.HIDDEN, 0.5), 2), (fresh, theme.ATTENTION, 4)):
        fig.add_trace(
            go.Scatter(x=xs, y=ys, mode="lines", hoverinfo="skip", line={"color": color, "width": width})
        )
    for height, text, color in (
        (LOW, texts(x, D), theme.SKY),
        (HIGH, texts(outputs, known), theme.ORANGE),
    ):
        fig.add_trace(
            go.Scatter(x=where, y=[height] * D, mode="markers+text", text=text, hoverinfo="skip",
                       textfont={"size": 17 if D <= 5 else 13, "color": theme.BLACK},
                       marker={"size": size, "color": color, "line": {"width": 0}})
        )  # fmt: skip
    for height, name in ((LOW, names[0]), (HIGH, names[1])):
        fig.add_annotation(x=-0.75, y=height, text=f"<b>{name}</b>", showarrow=False, font={"size": 22})
    fig.update_xaxes(visible=False, range=[-1.0, D - 0.4])
    fig.update_yaxes(visible=False, range=[-0.25, 2.0])
    return fig.update_layout(title=title, showlegend=False)


def film(outputs: Any, known: Sequence[int], parallel: bool) -> Mapping[str, Any]:
    """Frames of `reading`, by how many outputs are known at each."""
    D = len(array(outputs))
    new = [range(before, now) for before, now in zip([0, *known[:-1]], known, strict=True)]
    old = [lines(D, range(k), parallel) for k in known]
    fresh = [lines(D, n, parallel) for n in new]
    return {
        "data.0.x": [v[0] for v in old], "data.0.y": [v[1] for v in old],
        "data.1.x": [v[0] for v in fresh], "data.1.y": [v[1] for v in fresh],
        "data.3.text": [texts(outputs, k) for k in known],
    }  # fmt: skip


def clock(rows: Mapping[str, Sequence[float]]) -> go.Figure:
    """Milliseconds of scoring and of sampling, by D."""
    fig = go.Figure()
    for key, name, color in (
        ("score", "scoring: one call", theme.INPUT),
        ("sample", "sampling: D calls", theme.OUTPUT),
    ):
        fig.add_trace(
            go.Scatter(x=list(rows["D"]), y=[1000 * s for s in rows[key]], mode="lines+markers", name=name,
                       line={"width": 4, "color": color}, marker={"size": 12})
        )  # fmt: skip
    fig.update_xaxes(title="D", type="log", tickvals=list(rows["D"]))
    fig.update_yaxes(title="milliseconds", type="log", exponentformat="power", dtick=1)
    return fig


def ratios(rows: Mapping[str, Sequence[float]]) -> go.Figure:
    """Sampling time over scoring time, beside D itself."""
    share = [b / a for a, b in zip(rows["score"], rows["sample"], strict=True)]
    fig = go.Figure(
        [
            go.Scatter(x=list(rows["D"]), y=list(rows["D"]), mode="lines", name="D",
                       line={"width": 3, "dash": "dot", "color": theme.HIDDEN}),
            go.Scatter(x=list(rows["D"]), y=share, mode="lines+markers", name="measured",
                       line={"width": 4, "color": theme.OUTPUT}, marker={"size": 12}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="D", type="log", tickvals=list(rows["D"]))
    fig.update_yaxes(title="sampling / scoring", type="log", exponentformat="power", dtick=1)
    return fig
