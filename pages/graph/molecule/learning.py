"""Two molecules and what a network says of them, epoch by epoch."""

from typing import Any

import numpy as np

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting
from lab.figures.networks import ink
from pages.graph.molecule.figures import HEIGHT, MANY, discs, free_sides, lines, number, places, shade
from pages.graph.molecule.training import Epochs

COLORS = {"first": theme.OUTPUT, "second": theme.SKY, "test accuracy": theme.HIDDEN}


def molecules(one: Epochs) -> Tree:
    """Both, one above the other, in the colours of their contributions at each epoch."""
    parts = [np.array([array(answer.parts) for answer in each]) for each in one.answers]  # (E, N) each
    most = max(float(np.abs(values).max()) for values in parts)
    p = [places(each) for each in (one.first, one.second)]
    wide, high = (max(float(np.ptp(spots[:, axis])) for spots in p) / 2 + 0.45 for axis in (0, 1))
    data, axes, notes = list[dict[str, Any]](), dict[str, Any](), list[dict[str, Any]]()
    for k, (each, at, values) in enumerate(zip((one.first, one.second), ("", "2"), parts, strict=True)):
        spots = p[k] - (p[k].max(0) + p[k].min(0)) / 2
        disc = discs(each, spots, [theme.HIDDEN] * len(spots), at)
        shades = [[shade(v, 1.2 * most) for v in row] for row in values]
        disc["marker"]["color"] = per_frame(shades)
        disc["textfont"] |= {"color": per_frame([[ink(color) for color in row] for row in shades])}
        data += [lines(spots, each.bonds, at, color=theme.HIDDEN, width=5), disc]
        if len(spots) <= MANY:
            beside = spots + 0.26 * free_sides(spots, each.bonds)
            data.append({
                "type": "scatter", "mode": "text", "x": beside[:, 0], "y": beside[:, 1], "xaxis": f"x{at}",
                "yaxis": f"y{at}", "text": per_frame([[number(v) for v in row] for row in values]),
                "showlegend": False, "hoverinfo": "skip", "textfont": {"size": 15, "color": theme.text()},
            })  # fmt: skip
        top = 1 - 0.5 * k
        axes |= {
            f"xaxis{at}": {"visible": False, "range": [-wide, wide], "domain": [0, 1], "anchor": f"y{at}"},
            f"yaxis{at}": {"visible": False, "range": [-high, high], "domain": [top - 0.5, top - 0.08],
                           "anchor": f"x{at}", "scaleanchor": f"x{at}"},
        }  # fmt: skip
        name = list(COLORS)[k]
        notes.append({
            "x": 0, "xref": "paper", "xanchor": "left", "y": top, "yref": "paper", "yanchor": "top",
            "text": per_frame([f"<b>{name}</b>: p of ether {a.p:.2f}" for a in one.answers[k]]),
            "showarrow": False, "font": {"size": theme.FONT_SIZE + 4},
        })  # fmt: skip
    return {"data": data, "layout": axes | {
        "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "annotations": notes,
        "meta": theme.SHRINKING,
    }}  # fmt: skip


def curves(one: Epochs) -> Tree:
    """p of both molecules, and how many test molecules are right, against the epoch."""
    values = dict(zip(COLORS, (*array(one.p), np.array(one.accuracy)), strict=True))
    xs = list(range(len(one.accuracy)))
    fig = basic.curves(values, xs, xlabel="epoch", ylabel="p of ether", height=HEIGHT, colors=COLORS)
    fig.update_yaxes(range=[-0.04, 1.06], nticks=3)
    fig.update_xaxes(nticks=5)
    fig.update_traces(line_dash="dot", selector={"name": list(COLORS)[2]})
    return resting(fig, *((xs, row, COLORS[name]) for name, row in values.items()), size=16)
