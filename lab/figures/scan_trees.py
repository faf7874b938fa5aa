"""A scan in rounds: which elements are composed, and what they hold beside the states of the loop."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.moving import Tree, turning
from lab.lenses.scan_rounds import Rounds, composed


def tree(found: Rounds) -> Tree:
    """Elements over tokens and rounds, and what each was composed of, up to the round of the frame."""
    R, T = found.count, found.a.shape[1]
    fig, frames = go.Figure(), R + 1
    how: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
    for r in range(1, R + 1):
        xs, ys = [], []
        for t in range(T):
            for source in {t, t - 2 ** (r - 1)}:
                if source >= 0:
                    xs += [source + 1, t + 1, None]
                    ys += [r - 1, r, None]
        fig.add_scatter(x=xs, y=ys, line={"color": theme.fade(theme.HIDDEN, 0.6), "width": 2}, **how)
    colors = []
    for frame in range(frames):
        row = []
        for r in range(R + 1):
            for t, count in enumerate(composed(found, r)):
                row.append(theme.paper() if r > frame else theme.OUTPUT if count == t + 1 else theme.HIDDEN)
        colors.append(row)
    fig.add_scatter(
        x=[t + 1 for _ in range(R + 1) for t in range(T)], y=[r for r in range(R + 1) for _ in range(T)],
        text=[str(n) for r in range(R + 1) for n in composed(found, r)], mode="markers+text",
        textfont={"color": "white"}, hoverinfo="skip", showlegend=False, cliponaxis=False,
        marker={"size": 32, "color": colors[0], "line": {"color": theme.text(), "width": 2}},
    )  # fmt: skip
    fig.update_xaxes(title="token t", dtick=1, range=[0.4, T + 0.6], showgrid=False)
    fig.update_yaxes(title="round", dtick=1, range=[R + 0.4, -0.4], showgrid=False, zeroline=False)
    fig.update_layout(height=400)
    return turning(fig, R, marker={"color": colors})


def found_states(found: Rounds) -> Tree:
    """b of every element after the round of the frame, beside the states of the loop."""
    tokens = np.arange(1, found.a.shape[1] + 1)
    fig = curves({"state by the loop": (tokens, found.states), "element b": (tokens, found.b[0])},
                 colors={"state by the loop": theme.HIDDEN, "element b": theme.OUTPUT}, markers=True,
                 xlabel="token t", ylabel="value")  # fmt: skip
    values = np.concatenate([array(found.b).ravel(), array(found.states)])
    room = 0.1 * ((values.max() - values.min()) or 1)
    fig.update_yaxes(range=[values.min() - room, values.max() + room])
    fig.update_layout(showlegend=True)
    return turning(fig, 1, y=array(found.b))
