"""Precision and recall against τ."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.lenses.verdicts import Verdict
from pages.adversarial.latent_pad.lens import TAUS, Cut


def curves(seen: Sequence[Cut], at: int, floor: Verdict) -> go.Figure:
    """Both numbers at each τ, evenly spaced; trace 2 and 3: where the film rests."""
    places = list(range(len(seen)))
    fig = go.Figure()
    for name, color in (("precision", theme.OUTPUT), ("recall", theme.INPUT)):
        fig.add_scatter(
            x=places, y=[getattr(c.verdict, name) for c in seen], name=name, mode="lines+markers",
            line={"color": color, "width": 3}, marker={"size": 7},
        )  # fmt: skip
        fig.add_hline(y=getattr(floor, name), line={"color": theme.HIDDEN, "width": 2, "dash": "dot"})
    for name, color in (("precision", theme.OUTPUT), ("recall", theme.INPUT)):
        fig.add_scatter(
            x=[places[at]], y=[getattr(seen[at].verdict, name)], mode="markers", showlegend=False,
            marker={"size": 15, "color": color, "line": {"width": 2, "color": theme.text()}},
            hoverinfo="skip",
        )  # fmt: skip
    fig.update_xaxes(title="τ", tickvals=list(range(len(TAUS))), ticktext=[f"{t:g}" for t in TAUS])
    fig.update_xaxes(range=[-0.4, len(TAUS) - 0.6])
    fig.update_yaxes(range=[-0.05, 1.05], tickvals=[0.2, 0.4, 0.6, 0.8, 1])
    return fig


def marks(seen: Sequence[Cut]) -> dict[str, list[Any]]:
    """The points of `curves` at each τ, for a film."""
    return {
        "data.2.x": [[i] for i in range(len(seen))], "data.3.x": [[i] for i in range(len(seen))],
        "data.2.y": [[c.verdict.precision] for c in seen], "data.3.y": [[c.verdict.recall] for c in seen],
    }  # fmt: skip
