"""Maps of layers and their parameters, pictures with one number turned, and two games side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from pages.adversarial.dcgan import lens, one_number, recipe


def maps(frame: Any) -> go.Figure:
    """What goes in, or a layer's maps, as one sheet."""
    return basic.image(frame, zmin=0, zmax=1)


def parameters(found: lens.Look, at: int) -> go.Figure:
    """Parameters of each layer, and of a fully connected network of equal size; trace 0 marks a layer."""
    rows = found.rows
    places = list(range(1, len(rows) + 1))
    top = [max(row.parameters, *([found.plain[i]] if found.plain else [0])) for i, row in enumerate(rows)]
    fig = go.Figure(
        go.Scatter(
            x=[at], y=[30], mode="markers", showlegend=False, hoverinfo="skip",
            marker={"symbol": "triangle-up", "size": 14, "color": theme.text()},
        )
    )  # fmt: skip
    series = [("convolutions", [row.parameters for row in rows], theme.OUTPUT)]
    if found.plain:
        series.append(("fully connected, of equal size", found.plain, theme.HIDDEN))
    for name, values, color in series:
        fig.add_bar(
            x=places, y=values, name=name, marker_color=color, text=[shortly(v) for v in values],
            textposition="outside", textangle=0, constraintext="none", cliponaxis=False,
            showlegend=len(series) > 1, hovertemplate="%{y:,}",
        )  # fmt: skip
    fig.update_xaxes(
        tickvals=places, ticktext=[below(row) for row in rows],
        range=[-0.4, len(rows) + 0.6], tickangle=0,
    )  # fmt: skip
    powers = range(2, int(np.log10(max(top))) + 2)
    fig.update_yaxes(
        type="log", title="parameters", range=[1.3, np.log10(max(top)) + 0.5],
        tickvals=[10**p for p in powers], ticktext=[power_of_ten(p) for p in powers],
    )  # fmt: skip
    return fig


def below(row: lens.Row) -> str:
    """What stands below a layer's bars, no wider than five of them have room for."""
    return f"{row.kind.replace(' all', '<br>all')}<br>{row.title.replace(' ', '')}"


def shortly(count: int) -> str:
    """At most four characters, 577, 6.3k, 131k or 1.6M: two bars stand side by side, below their numbers."""
    if count < 1000:
        return str(count)
    value, unit = (count / 1e3, "k") if count < 999_500 else (count / 1e6, "M")
    return f"{value:.0f}{unit}" if value >= 99.5 else f"{value:.2g}{unit}"


def power_of_ten(power: int) -> str:
    """100, 1k, 10k, 100k, 1M, …"""
    return (
        f"{10**power:,}" if power < 3 else f"{10 ** (power - 3)}k" if power < 6 else f"{10 ** (power - 6)}M"
    )


def marks(found: lens.Look) -> list[list[int]]:
    """Where the mark of `parameters` stands at each frame."""
    return [[i] for i in range(len(found.rows) + 1)]


def change(seen: Any, at: int) -> go.Figure:
    """How far pictures are from those at 0, beside how far draws are from each other; trace 1 moves."""
    y = one_number.changes(seen)
    apart = one_number.between(seen)
    ends = [one_number.VALUES[0], one_number.VALUES[-1]]
    fig = go.Figure(
        [
            go.Scatter(x=one_number.VALUES, y=y, mode="lines", name="this number alone",
                       line={"color": theme.INPUT, "width": 3}),
            go.Scatter(x=[one_number.VALUES[at]], y=[y[at]], mode="markers", showlegend=False,
                       hoverinfo="skip", marker={"size": 15, "color": theme.INPUT,
                               "line": {"width": 2, "color": theme.text()}}),
            go.Scatter(x=ends, y=[apart] * 2, mode="lines", name="between two draws",
                       line={"color": theme.text(), "width": 2, "dash": "dot"}),
        ]
    )  # fmt: skip
    fig.update_xaxes(title="the number's value", tickvals=[-2, 0, 2], range=[-3.3, 3.3])
    fig.update_yaxes(title="rms difference of pixels", rangemode="tozero", nticks=5)
    return fig.update_yaxes(ticklabelposition="outside right")


def change_points(seen: Any) -> dict[str, list[list[float]]]:
    """Where the point of `change` stands at each frame."""
    return {"data.1.x": [[v] for v in one_number.VALUES], "data.1.y": [[c] for c in one_number.changes(seen)]}


def distances(rounds: Sequence[recipe.Round], at: int, floor: float, switch: str) -> go.Figure:
    """Both games' distance to held-out digits along the batches; traces 3 and 4 move."""
    x = [one.batches for one in rounds]
    lines = [[one.distances[i] for one in rounds] for i in range(2)]
    looks = ((recipe.PLAIN, theme.OUTPUT), (switch if switch != recipe.PLAIN else "the same", theme.HIDDEN))
    fig = go.Figure()
    for (name, color), y in zip(looks, lines, strict=True):
        fig.add_scatter(x=x, y=y, mode="lines", name=name, line={"color": color, "width": 3})
    fig.add_scatter(
        x=[0, max(1, x[-1])], y=[floor] * 2, mode="lines", name="digits of training",
        line={"color": theme.text(), "width": 2, "dash": "dot"},
    )  # fmt: skip
    for (_, color), y in zip(looks, lines, strict=True):
        fig.add_scatter(
            x=[x[at]], y=[y[at]], mode="markers", showlegend=False, hoverinfo="skip",
            marker={"size": 14, "color": color, "line": {"width": 2, "color": theme.text()}},
        )  # fmt: skip
    fig.update_xaxes(title="batches", nticks=5, ticklabelposition="outside right")
    fig.update_yaxes(title="Fréchet distance of pixels", rangemode="tozero", nticks=5)
    return fig


def distance_points(rounds: Sequence[recipe.Round]) -> dict[str, list[list[float]]]:
    """Where the points of `distances` stand at each frame."""
    x = [[float(one.batches)] for one in rounds]
    return {
        "data.3.x": x, "data.4.x": x,
        "data.3.y": [[one.distances[0]] for one in rounds],
        "data.4.y": [[one.distances[1]] for one in rounds],
    }  # fmt: skip
