"""Figures of β: rate against distortion, and the KL of each dimension."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import basic, theme
from pages.latent.beta.lens import Bought


def plane(results: Sequence[Bought], names: Sequence[str], at: int, cost: float) -> go.Figure:
    """Every model as a point; the line of all points whose −ELBO is `cost`; a ring (trace 2) around `at`."""
    rates, distortions = [one.rate for one in results], [one.distortion for one in results]
    right, top = 1.35 * max(rates) + 1, 1.12 * max(*distortions, cost)
    fig = go.Figure()
    fig.add_scatter(
        x=[0, cost], y=[cost, 0], mode="lines", name=f"−ELBO = {cost:.1f}, the best here",
        line={"color": theme.HIDDEN, "width": 2, "dash": "dash"}, hoverinfo="skip",
    )  # fmt: skip
    # neighbours on the curve may touch: their names stand above and below by turns
    places = ["top right" if i % 2 else "bottom right" for i in range(len(results))]
    fig.add_scatter(
        x=rates, y=distortions, mode="lines+markers+text", text=[f" β = {name}" for name in names],
        textposition=places, showlegend=False, line={"color": theme.OUTPUT, "width": 3, "shape": "linear"},
        marker={"size": 12}, hovertemplate="rate %{x:.2f}, distortion %{y:.2f}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=[rates[at]], y=[distortions[at]], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"size": 24, "symbol": "circle-open", "color": theme.VERMILLION, "line": {"width": 4}},
    )  # fmt: skip
    fig.update_xaxes(title="rate R = KL, nats", range=[-0.03 * right, right])
    fig.update_yaxes(title="distortion D, nats", range=[0, top])
    fig.update_layout(showlegend=True)
    return fig


def dimensions(results: Sequence[Bought], at: int) -> go.Figure:
    """KL of each dimension, the most costly first, on an axis that all models share."""
    kl = results[at].kl
    fig = basic.bars(
        [str(i + 1) for i in range(len(kl))], kl, color=theme.ATTENTION, ylabel="KLⱼ, nats",
        xlabel="dimension, by its KL",
    )  # fmt: skip
    fig.update_yaxes(range=[0, 1.05 * max(float(one.kl.max()) for one in results)])
    return fig
