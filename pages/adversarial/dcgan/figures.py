"""Maps of layers and their parameters, pictures with one number turned, and two games side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.moving import resting, turning
from pages.adversarial.dcgan import lens, one_number, recipe

NAMED = 0.14  # of a sheet's height that the names above it take
LEAST = 30  # parameters, where the bars begin


def maps(result: lens.Look, player: str) -> dict[str, Any]:
    """Input, and each layer's maps beside it as far as the layers have worked."""
    results, middles = lens.sheets(result)
    fig = basic.image(results[0], zmin=0, zmax=1)
    for x, name in zip(middles, lens.names(result, player), strict=True):
        fig.add_annotation(
            x=x, y=-1, yanchor="bottom", showarrow=False, text=name, font={"size": theme.FONT_SIZE - 4}
        )
    tall = results.shape[1]
    fig.update_yaxes(range=[tall - 0.5, -NAMED * tall])
    return turning(fig, z=results)


def parameters(result: lens.Look) -> dict[str, Any]:
    """Parameters of each layer, and of a fully connected network of equal size; a mark walks down them."""
    rows = result.rows
    places = list(range(1, len(rows) + 1))
    top = [max(row.parameters, *([result.plain[i]] if result.plain else [0])) for i, row in enumerate(rows)]
    mark = {"symbol": "triangle-right", "size": 14, "color": theme.text()}
    fig = go.Figure(
        go.Scatter(x=[LEAST], y=[0], mode="markers", showlegend=False, hoverinfo="skip", marker=mark,
                   cliponaxis=False)
    )  # fmt: skip
    series = [("convolutions", [row.parameters for row in rows], theme.OUTPUT)]
    if result.plain:
        series.append(("fully connected, of equal size", result.plain, theme.HIDDEN))
    for name, values, color in series:
        fig.add_bar(
            y=places, x=values, name=name, marker_color=color, text=[shortly(v) for v in values],
            textposition="outside", constraintext="none", cliponaxis=False, orientation="h",
            showlegend=len(series) > 1, hovertemplate="%{x:,}",
        )  # fmt: skip
    fig.update_layout(bargap=0.38)
    for place, row in zip(places, rows, strict=True):
        fig.add_annotation(
            x=0, xref="x domain", xanchor="left", y=place - 0.31, yanchor="bottom", showarrow=False,
            text=f"{row.kind}: {row.title}", font={"size": theme.FONT_SIZE - 2},
        )  # fmt: skip
    fig.update_yaxes(visible=False, range=[len(rows) + 0.5, -0.1])
    fig.update_xaxes(
        type="log", title="parameters", range=[np.log10(LEAST), np.log10(max(top)) + 1.2],
        tickvals=[10**p for p in (2, 4, 6)], ticktext=[power_of_ten(p) for p in (2, 4, 6)],
    )  # fmt: skip
    return turning(fig, y=[[i if i else 0.1] for i in range(len(rows) + 1)])


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


def change(seen: Any) -> dict[str, Any]:
    """Change of pictures from those at 0, beside how far draws are from each other."""
    x, y, apart = one_number.VALUES, one_number.changes(seen), one_number.between(seen)
    fig = go.Figure(
        go.Scatter(x=x, y=y, mode="lines", name="this number alone", line={"color": theme.INPUT, "width": 3})
    )
    fig.update_xaxes(title="the number's value", tickvals=[-2, 0, 2], range=[-3.3, 3.3])
    fig.update_yaxes(
        title="rms difference of pixels", rangemode="tozero", nticks=5, ticklabelposition="outside right"
    )
    dotted = {"color": theme.text(), "width": 2, "dash": "dot"}
    fig.add_scatter(x=[x[0], x[-1]], y=[apart] * 2, mode="lines", name="between two draws", line=dotted)
    return resting(fig, (x, y, theme.INPUT))


def distances(rounds: Sequence[recipe.Round], floor: float, switch: str) -> dict[str, Any]:
    """Both games' distance to held-out digits along the batches."""
    x = [one.batches for one in rounds]
    lines = [[one.distances[i] for one in rounds] for i in range(2)]
    colors = (theme.OUTPUT, theme.HIDDEN)
    names = (recipe.PLAIN, switch if switch != recipe.PLAIN else "the same")
    fig = go.Figure()
    for name, color, y in zip(names, colors, lines, strict=True):
        fig.add_scatter(x=x, y=y, mode="lines", name=name, line={"color": color, "width": 3})
    dotted = {"color": theme.text(), "width": 2, "dash": "dot"}
    fig.add_scatter(x=[0, max(1, x[-1])], y=[floor] * 2, mode="lines", name="digits of training", line=dotted)
    fig.update_xaxes(title="batches", nticks=5, ticklabelposition="outside right")
    fig.update_yaxes(title="Fréchet distance of pixels", rangemode="tozero", nticks=5)
    return resting(fig, *((x, y, color) for y, color in zip(lines, colors, strict=True)), size=14)
