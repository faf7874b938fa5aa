"""The error of the way there and back against the number of steps."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array


def errors(sizes: Any, error: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Errors (F,) against S on logarithms, a line of slope −1 beside them, this S marked; and what moves."""
    s, e = array(sizes).astype(float), array(error)
    fig = basic.curves({"error": e, "∝ 1/S": e[0] * s[0] / s}, s, xlabel="steps S", ylabel="error a pixel",
                       colors={"error": theme.OUTPUT, "∝ 1/S": theme.HIDDEN}, markers=True)  # fmt: skip
    fig.add_scatter(x=[s[at]], y=[e[at]], mode="markers", showlegend=False, hoverinfo="skip",
                    marker={"size": 16, "color": theme.VERMILLION})  # fmt: skip
    fig.update_xaxes(type="log", tickvals=s, ticktext=[f"{v:.0f}" for v in s])
    fig.update_yaxes(type="log", tickvals=[0.01, 0.02, 0.05], ticktext=["0.01", "0.02", "0.05"])
    return fig, {"data.2.x": s[:, None], "data.2.y": e[:, None]}
