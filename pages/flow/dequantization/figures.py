"""A density fitted to whole numbers, and what three kinds of noise pay while it is."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule

KIND_COLORS = {"none": theme.VERMILLION, "uniform": theme.BLUE, "learned": theme.GREEN}


def densities(p: Any, places: Any, noisy: Any, density: Any, top: float) -> go.Figure:
    """P(k) as bars over [k, k + 1), the density of the numbers with noise (trace 1), the flow's (trace 2).

    Args:
        p: (K,).
        places, noisy, density: (G,).
        top: end of the axis; what is higher is cut.
    """
    heights = array(p)
    fig = go.Figure(
        go.Bar(x=[k + 0.5 for k in range(len(heights))], y=heights, width=1, name="P(k)",
               marker={"color": theme.fade(theme.HIDDEN, 0.3), "line": {"color": theme.HIDDEN, "width": 2}},
               hovertemplate="P = %{y:.4f}<extra></extra>")
    )  # fmt: skip
    for name, values, color, fill in (
        ("data with noise", noisy, theme.INPUT, None),
        ("flow p(x)", density, theme.OUTPUT, "tozeroy"),
    ):
        fig.add_scatter(x=array(places), y=array(values), mode="lines", name=name, fill=fill,
                        fillcolor=theme.fade(color, 0.25), line={"color": color, "width": 3},
                        hovertemplate="x = %{x:.2f}: %{y:.3f}<extra></extra>")  # fmt: skip
    every = -(-len(heights) // 9)
    fig.update_xaxes(title="x", tickvals=list(range(0, len(heights) + 1, every)), zeroline=False)
    fig.update_yaxes(title="density", range=[0, top])
    fig.update_layout(showlegend=True, bargap=0)
    return fig


def course(lines: Mapping[str, Sequence[float]], steps: Sequence[int], entropy: float, at: int) -> go.Figure:
    """−log p of each kind of noise over the steps; shape 0 of the layout is the line at one of them."""
    named = {f"{kind} noise" if kind != "none" else "no noise": line for kind, line in lines.items()}
    colors = dict(zip(named, KIND_COLORS.values(), strict=True))
    fig = curves(named, steps, mark=at, colors=colors, xlabel="training steps", ylabel="nats")
    rule(fig, y=entropy, line={"color": theme.text(), "width": 2, "dash": "dash"})
    fig.add_annotation(x=1, xref="paper", y=entropy, text="entropy H", showarrow=False, yanchor="top",
                       xanchor="right")  # fmt: skip
    return fig
