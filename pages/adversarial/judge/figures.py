"""Generators in the plane of precision and recall, and the classes of what they draw."""

from collections.abc import Mapping

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import rule
from lab.lenses.verdicts import REAL, Verdict


def plane(others: Mapping[str, Verdict], name: str, now: Verdict) -> go.Figure:
    """Trace 0: other generators; trace 1: the chosen one, as it is changed; trace 2: held-out digits."""
    rest = {n: v for n, v in others.items() if n not in (name, REAL)}
    fig = go.Figure()
    for label, points, color, size in (
        ("others", rest, theme.HIDDEN, 11),
        (name, {name: now}, theme.OUTPUT, 18),
        ("the floor", {REAL: others[REAL]}, theme.INPUT, 15),
    ):
        fig.add_scatter(
            x=[v.recall for v in points.values()], y=[v.precision for v in points.values()], mode="markers",
            name=label, marker={"color": color, "size": size, "line": {"width": 1, "color": theme.text()}},
            hovertext=[f"{n}: FD {v.frechet:.2f}, IS {v.score:.2f}" for n, v in points.items()],
            hoverinfo="text",
        )  # fmt: skip
    fig.update_xaxes(title="recall", range=[-0.03, 1.03], nticks=6)
    fig.update_yaxes(title="precision", range=[-0.03, 1.03], nticks=6)
    return fig


def classes(now: Verdict) -> go.Figure:
    """Share of each class in what is drawn, by the network."""
    fig = basic.bars([str(c) for c in range(10)], now.classes, xlabel="class, by the network", ylabel="share")
    fig.update_yaxes(range=[0, 0.4], nticks=3)
    rule(fig, y=0.1, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    return fig
