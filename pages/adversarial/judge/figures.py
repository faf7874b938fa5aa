"""Generators in the plane of precision and recall, and the classes of what they draw."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array, rule
from lab.figures.moving import turning
from lab.lenses.verdicts import Verdict
from pages.adversarial.judge.room import REAL


def plane(
    others: Mapping[str, Verdict], name: str, verdicts: Sequence[Verdict], real: str = REAL
) -> dict[str, Any]:
    """Other generators, the chosen one on its path as it is degraded more and more, and held-out digits by
    their name."""
    rest = {n: v for n, v in others.items() if n not in (name, real)}
    fig = go.Figure()
    path = {"color": theme.HIDDEN, "width": 2}
    for label, points, color, size in (
        ("others", rest, theme.HIDDEN, 11),
        (name, {name: verdicts[0]}, theme.OUTPUT, 18),
        (REAL, {real: others[real]}, theme.INPUT, 15),
    ):
        fig.add_scatter(
            x=[v.recall for v in points.values()], y=[v.precision for v in points.values()], name=label,
            mode="markers+text", text=[REAL] if color == theme.INPUT else None, textposition="top left",
            textfont={"size": theme.FONT_SIZE - 2},
            marker={"color": color, "size": size, "line": {"width": 1, "color": theme.text()}},
            hovertext=[scores_label(n, v) for n, v in points.items()],
            hoverinfo="text", showlegend=False,
        )  # fmt: skip
    fig.add_scatter(
        x=[v.recall for v in verdicts], y=[v.precision for v in verdicts], mode="lines", line=path,
        showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    fig.update_xaxes(title="recall", range=[-0.03, 1.03], nticks=4)
    fig.update_yaxes(title="precision", range=[-0.03, 1.03], nticks=4)
    x, y = [[v.recall] for v in verdicts], [[v.precision] for v in verdicts]
    return turning(fig, 1, x=x, y=y, hovertext=[[scores_label(name, v)] for v in verdicts])


def scores_label(name: str, verdict: Verdict) -> str:
    """The scores of a generator."""
    return f"{name}: FD {verdict.frechet:.2f}, IS {verdict.score:.2f}"


def classes(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Share of each class in what is left, by the network."""
    shares = [array(v.classes) for v in verdicts]
    fig = basic.bars([str(c) for c in range(10)], shares[0], xlabel="predicted class", ylabel="share")
    fig.update_traces(hovertext=None, hoverinfo=None, hovertemplate="%{x}: %{y:.4~g}<extra></extra>")
    fig.update_yaxes(range=[0, 0.4], nticks=3)
    rule(fig, y=0.1, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    return turning(fig, y=shares)
