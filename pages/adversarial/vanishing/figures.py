"""Gradients of a frozen generator over the steps of D, and how far D has the two apart."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, unrolled
from pages.adversarial.vanishing.lens import BINS, LOSSES, REACH, Look

COLORS = dict(zip(LOSSES, (theme.OUTPUT, theme.INPUT, theme.GREEN), strict=True))


def norms(looks: list[Look], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """‖∇_θ L‖ of the three losses up to the look, shape 0, on a logarithmic axis; with its frames."""
    lines = {name: [one.norms[name] for one in looks] for name in LOSSES}
    fig = curves(lines, [one.steps for one in looks], mark=looks[at].steps, xlabel="steps of D since G froze",
                 ylabel="norm of G's gradient", colors=COLORS, log_y=True)  # fmt: skip
    fig.update_yaxes(dtick=1, exponentformat="power")
    fig.update_xaxes(nticks=5)
    return fig, unrolled(fig, at)


def logits(looks: list[Look], at: int) -> go.Figure:
    """Histograms of f: trace 0 digits, trace 1 what G makes."""
    centres = np.linspace(-REACH, REACH, BINS + 1)
    centres = (centres[1:] + centres[:-1]) / 2
    now = looks[at]
    fig = go.Figure(
        [
            go.Bar(x=centres, y=array(shares), name=name, width=2 * REACH / BINS, hoverinfo="skip",
                   marker={"color": theme.fade(color, 0.6), "line": {"width": 0}})
            for name, shares, color in (
                ("digits", now.real, theme.INPUT), ("made", now.fake, theme.OUTPUT),
            )
        ],
        {"barmode": "overlay", "showlegend": True},
    )  # fmt: skip
    top = max(float(one.real.max().maximum(one.fake.max())) for one in looks)
    fig.update_xaxes(title="f, the logit of D", range=[-REACH, REACH], tickvals=[-10, 0, 10])
    return fig.update_yaxes(title="share", range=[0, 1.05 * top], nticks=4)


def moves(looks: list[Look]) -> dict[str, np.ndarray]:
    """What turns in `logits`."""
    return {
        "data.0.y": np.stack([array(one.real) for one in looks]),
        "data.1.y": np.stack([array(one.fake) for one in looks]),
    }
