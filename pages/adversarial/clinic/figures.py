"""A game's points among the data, and the share of each mode."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, rule
from pages.adversarial.clinic.lens import Look

MARGIN = 1.2  # of the plane beyond the data


def plane(data: Tensor, now: Look, title: str) -> go.Figure:
    """Traces: 0 data, 1 what is made."""
    d, made = array(data), array(now.made)
    reach = float(abs(d).max()) + MARGIN
    fig = go.Figure(
        [
            go.Scatter(x=d[:, 0], y=d[:, 1], mode="markers", name="data", hoverinfo="skip",
                       marker={"size": 4, "color": theme.HIDDEN}),
            go.Scatter(x=made[:, 0], y=made[:, 1], mode="markers", name="made", hoverinfo="skip",
                       marker={"size": 5, "color": theme.OUTPUT}),
        ],
        {"title": title, "showlegend": False},
    )  # fmt: skip
    fig.update_xaxes(range=[-reach, reach], visible=False, constrain="domain")
    return fig.update_yaxes(range=[-reach, reach], visible=False, constrain="domain", scaleanchor="x")


def moves(looks: Sequence[Look]) -> dict[str, np.ndarray]:
    """What turns in `plane`."""
    made = np.stack([array(one.made) for one in looks])
    return {"data.1.x": made[..., 0], "data.1.y": made[..., 1]}


def shares(now: Look) -> go.Figure:
    """Of every mode, beside an even share."""
    count = len(now.shares)
    fig = bars([f"{k + 1}" for k in range(count)], now.shares, xlabel="mode", ylabel="share")
    rule(fig, y=1 / count, line={"color": theme.text(), "width": 2, "dash": "dot"})
    return fig.update_yaxes(range=[0, 1], nticks=3)
