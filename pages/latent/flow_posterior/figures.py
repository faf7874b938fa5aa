"""An exact posterior with draws of q, and the climb of the bound."""

import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, curves
from pages.latent.flow_posterior.lens import REACH, Found


def plane(density: object, draws: object | None, title: str = "") -> go.Figure:
    """The exact density (S, S), row = z₂ upwards; trace 1 are the draws of q (N, 2)."""
    text = "(%{x:.2f}, %{y:.2f}): %{z:.3f}<extra></extra>"
    ground = planar.field(array(density), REACH, zmin=0, showscale=False, hoverinfo=None, hovertemplate=text)
    fig = go.Figure(ground, planar.axes(REACH, ("z₁", "z₂"), showgrid=False))
    if draws is not None:
        fig.add_trace(planar.points(draws, {"size": 5, "color": theme.OUTPUT, "opacity": 0.75}, name="q"))
    return fig.update_layout(showlegend=False, title=title)


def climb(result: Found, at: float | None) -> go.Figure:
    """The ELBO over the training under log p(x); shape 0 is the line at a step."""
    fig = curves({"ELBO": result.elbos}, result.steps, mark=at, markers=True, xlabel="training steps",
                 ylabel="nats", colors={"ELBO": theme.INPUT})  # fmt: skip
    low = max(min(result.elbos), result.log_p - 3)
    for name, value, color in (("log p(x)", result.log_p, theme.text()),
                               ("log p(x) − ln 2", result.log_p - 0.693147, theme.HIDDEN)):  # fmt: skip
        fig.add_scatter(x=[result.steps[0], result.steps[-1]], y=[value, value], mode="lines", name=name,
                        line={"color": color, "width": 3, "dash": "dash"}, hoverinfo="skip")  # fmt: skip
    fig.update_yaxes(range=[low - 0.1, result.log_p + 0.25], nticks=6)
    return fig.update_layout(showlegend=True)
