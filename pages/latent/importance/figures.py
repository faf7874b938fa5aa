"""The bound against the number of draws, and how its estimates scatter."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array, rule


def staircase(
    samples: Sequence[int], bounds: Sequence[float], exact: float | None = None, at: int = 0
) -> go.Figure:
    """L_S against the number of samples S, the one at index `at` marked; above it log p(x) where it is
    known."""
    fig = basic.curves(
        {"L_S": bounds}, samples, colors={"L_S": theme.BLUE}, markers=True, xlabel="samples S", ylabel="nats"
    )
    fig.add_scatter(
        x=[samples[at]], y=[bounds[at]], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"size": 18, "color": theme.VERMILLION, "symbol": "circle-open", "line": {"width": 4}},
    )  # fmt: skip
    named = [s for s in samples if s in (1, 5, 20, 100, 500)]
    fig.update_xaxes(type="log", tickvals=named, ticktext=[str(s) for s in named])
    reach = [*bounds, *([exact] if exact is not None else [])]
    slack = 0.15 * (max(reach) - min(reach) or 1.0)
    if exact is not None:
        rule(fig, y=exact, line={"color": theme.GREEN, "width": 3, "dash": "dash"})
        fig.add_annotation(x=0, xref="paper", y=exact, text="log p(x), exact", showarrow=False,
                           yanchor="bottom", xanchor="left")  # fmt: skip
    fig.update_yaxes(range=[min(reach) - slack, max(reach) + 2 * slack])
    return fig


def estimates(middles: Any, shares: Any, bound: float, exact: float | None, top: float) -> go.Figure:
    """Scatter of estimates of the bound: shares of them (bins,), by their value; lines at their mean and,
    where it is known, at log p(x). `top` ends the axis."""
    fig = go.Figure(
        go.Bar(x=array(middles), y=array(shares), marker={"color": theme.BLUE, "line_width": 0},
               hovertemplate="%{x:.1f} nats: %{y:.3f}<extra></extra>", showlegend=False)
    )  # fmt: skip
    for name, value, color in (("L_S", bound, theme.VERMILLION), ("log p(x)", exact, theme.GREEN)):
        if value is not None:
            fig.add_scatter(x=[value, value], y=[0, top], mode="lines", name=name,
                            line={"color": color, "width": 3, "dash": "dash"})  # fmt: skip
    width = float(array(middles)[1] - array(middles)[0])
    fig.update_xaxes(
        title="estimate from S draws, nats",
        range=[float(array(middles)[0]) - width, float(array(middles)[-1]) + width],
    )
    fig.update_yaxes(title="share", range=[0, top])
    fig.update_layout(bargap=0.05, showlegend=True)
    return fig
