"""Texts coloured by their surprise, the best next characters, and the influence of the past over the lag."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, curves, heatmap
from lab.figures.moving import Tree, marking, per_frame, turning
from lab.figures.tokens import escape, wrap
from pages.recurrent.studio.lens import Influence, Written

ACROSS, DARKEST = 36, 9.0  # characters of a line; nats of the darkest
COLORS = {"counts": theme.HIDDEN, "LSTM": theme.ORANGE, "transformer": theme.ATTENTION}


def color(name: str) -> str:
    return COLORS[name.split()[0]]


def texts(results: Mapping[str, Written]) -> Tree:
    """Texts below each other, a character coloured by −log p, the prime underlined; a frame goes along with
    the one that is drawn, later ones are pale and without colour."""
    x, y, names, begun, hover, nats, titles, top = [], [], [], [], [], [], [], 0
    for name, one in results.items():
        column, row = wrap(one.names, ACROSS)
        if len(results) > 1:
            titles.append((name, top))
            top += 1
        x += column
        y += [top + r for r in row]
        names += one.names
        begun += [i - one.begun for i in range(len(one.names))]  # below 0 in the prime
        nats += (-one.log_p).tolist()
        hover += [says(one, i) for i in range(len(one.names))]
        top += max(row) + 1
    places, order = np.array([x, y], int), np.array(begun)
    F = max(begun) + 1
    seen = order[None] <= np.arange(F)[:, None]  # (F, all characters)
    z = np.full((F, top, ACROSS), np.nan)
    z[:, places[1], places[0]] = np.where(seen, np.array(nats), np.nan)
    fig = heatmap(z[-1], scale="probability", zmin=0, zmax=DARKEST, hover=False)
    fig.data[0].update(xgap=0, ygap=2)
    fig.data[0].colorbar.update(title={"text": "−log p"}, tickvals=[0, 3, 6, 9])
    font, shown = {"family": "monospace", "size": min(17, 440 // top)}, [escape(n) for n in names]
    pale, ink = (font | {"color": c} for c in (theme.fade(theme.HIDDEN, 0.45), theme.text()))
    for shade in (pale, ink):  # each character in one of the two
        fig.add_scatter(x=x, y=y, mode="text", text=shown, textfont=shade, hovertext=hover, hoverinfo="text")
    of_prime = order < 0
    line = {"symbol": "line-ew", "size": 12, "line": {"width": 3, "color": theme.INPUT}}
    fig.add_scatter(x=places[0][of_prime], y=places[1][of_prime] + 0.42, mode="markers", marker=line,
                    hoverinfo="skip")  # fmt: skip
    for name, line_of in titles:
        fig.add_annotation(x=-0.5, y=line_of, text=name, showarrow=False, xanchor="left",
                           font={"size": theme.FONT_SIZE - 2, "color": color(name)})  # fmt: skip
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False)
    fig.update_layout(showlegend=False, height=460, margin={"t": 8, "b": 8, "r": 90})
    tree = turning(turning(fig, z=z), 1, y=np.where(seen, np.nan, places[1]))
    tree = turning(tree, 2, y=np.where(seen, places[1], np.nan))
    boxes = []
    for k in range(len(results)):
        now = np.array([np.flatnonzero(order == f)[k] for f in range(F)])
        boxes.append({
            "type": "rect", "line": {"color": theme.VERMILLION, "width": 3},
            "x0": per_frame(places[0][now] - 0.5), "x1": per_frame(places[0][now] + 0.5),
            "y0": per_frame(places[1][now] - 0.48), "y1": per_frame(places[1][now] + 0.48),
        })  # fmt: skip
    layout = tree["layout"]
    return tree | {"layout": layout | {"shapes": [*layout.get("shapes", ()), *boxes]}}


def says(one: Written, at: int) -> str:
    """A character, its log p, and the most probable ones in its place."""
    best = ", ".join(f"{name} {p:.3f}" for name, p in zip(one.best[at], one.best_p[at].tolist(), strict=True))
    return escape(f"{one.names[at]}: log p = {float(one.log_p[at]):.3f}; best: {best}")


def best(one: Written) -> Tree:
    """The most probable characters at each place, the one that was drawn in bold."""
    p = array(one.best_p[one.begun :])
    names = [
        [f"<b>{escape(name)}</b>" if name == drawn else escape(name) for name in row]
        for row, drawn in zip(one.best[one.begun :], one.names[one.begun :], strict=True)
    ]
    fig = bars(names[0], p[0], horizontal=True, probability=True, xlabel="p, before temperature")
    tree: dict[str, Any] = fig.to_plotly_json()
    tree["data"][0] |= {"x": per_frame(p), "hovertext": per_frame(names)}
    tree["layout"]["yaxis"] |= {"ticktext": per_frame(names)}
    return tree


def means(lines: Mapping[str, Tensor]) -> Tree:
    """Mean −log p of each model's text over the characters drawn so far."""
    F = len(next(iter(lines.values())))
    fig = curves(lines, np.arange(1, F + 1), mark=1, ends=True, xlabel="characters drawn",
                 ylabel="mean −log p, nats", colors={name: color(name) for name in lines})  # fmt: skip
    fig.update_yaxes(rangemode="tozero")
    return marking(fig, np.arange(1, F + 1))


def by_lag(found: Influence) -> go.Figure:
    """Mean change of log p over the lag; a line ends where the change is 0, the shortest lies on top."""
    lines = {name: np.where(array(v) > 0, array(v), np.nan) for name, v in reversed(found.by_lag.items())}
    fig = curves(lines, np.arange(1, len(next(iter(lines.values()))) + 1), ends=True, log_y=True,
                 xlabel="lag k: characters back", ylabel="mean change of log p, nats",
                 colors={name: color(name) for name in lines})  # fmt: skip
    fig.update_yaxes(dtick=1, exponentformat="power")
    fig.update_traces(mode="lines+markers")
    return fig


def grid(found: Influence) -> go.Figure:
    """Change of log p of each character by each one before it, of the LSTM."""
    names = [escape(name) for name in found.names]
    fig = heatmap(found.grid, names, names, scale="probability", zmin=0, zmax=2, hover=False,
                  xlabel="character that is predicted", ylabel="character that is replaced")  # fmt: skip
    told = "character %{y} replaced, %{x} predicted: %{z:.3f}<extra></extra>"
    fig.data[0].update(hoverinfo=None, hovertemplate=told)
    fig.update_xaxes(tickvals=[], ticktext=[])
    fig.update_yaxes(tickvals=[], ticktext=[])
    return fig.update_layout(margin={"r": 80})  # the numbers of the colour bar
