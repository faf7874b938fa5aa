"""Surprisal of each token as bars under the text, and two distributions beside each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule
from lab.figures.tokens import escape


def surprisal(tokens: Sequence[str], bits: Sequence[float], mean: float) -> go.Figure:
    """Bars of surprisal in bits, a line at the mean; an infinite one reaches out of the figure."""
    heights = array(bits).astype(float)
    finite = heights[heights < float("inf")]
    top = 1.25 * max(1.0, float(finite.max()) if len(finite) else 1.0)
    places = list(range(len(tokens)))
    endless = heights == float("inf")
    fig = go.Figure(
        go.Bar(
            x=places,
            y=[top if e else h for e, h in zip(endless, heights, strict=True)],
            marker={"color": [theme.VERMILLION if e else theme.OUTPUT for e in endless], "line_width": 0},
            hovertext=[
                f"{escape(t)}: {'∞' if e else f'{h:.4f}'} bits"
                for t, e, h in zip(tokens, endless, heights, strict=True)
            ],
            hoverinfo="text",
        )
    )
    for place in [i for i, e in enumerate(endless) if e]:
        fig.add_annotation(x=place, y=top, text="∞", showarrow=False, yshift=12, font={"size": 26})
    if mean < float("inf"):
        rule(fig, y=mean, line={"color": theme.text(), "width": 3, "dash": "dash"})
        fig.add_annotation(
            x=1, xref="paper", y=mean, text=f"mean {mean:.3f}", showarrow=False, yshift=14, xanchor="right"
        )
    step = max(1, -(-len(tokens) // 60))
    fig.update_xaxes(
        tickvals=places[::step], ticktext=[escape(t) for t in tokens[::step]], showgrid=False, tickangle=0
        if max(map(len, tokens)) <= 2 else -60,
    )  # fmt: skip
    fig.update_yaxes(title="surprisal, bits", range=[0, 1.12 * top])
    fig.update_layout(height=400, showlegend=False, bargap=0.12)
    return fig


def pair(p: Sequence[float], q: Sequence[float], result: Sequence[bool]) -> go.Figure:
    """P and Q side by side; the outcomes on which TV is reached are marked."""
    places = [f"{i + 1}{' •' if t else ''}" for i, t in enumerate(result)]
    fig = go.Figure(
        [
            go.Bar(
                x=places, y=array(values), name=name, marker={"color": color, "line_width": 0},
                hovertext=[f"{name}({i + 1}) = {v:.4f}" for i, v in enumerate(array(values))],
                hoverinfo="text",
            )
            for name, values, color in (("P", p, theme.INPUT), ("Q", q, theme.OUTPUT))
        ]
    )  # fmt: skip
    fig.update_xaxes(title="outcome (• P is larger)", type="category", showgrid=False)
    fig.update_yaxes(title="probability", range=[0, 1])
    fig.update_layout(height=380, barmode="group", bargap=0.2, showlegend=True)
    return fig


def simplex(
    place: Any, values: Any, q: Any, p_at: Sequence[float], q_at: Sequence[float], corners: Any, name: str
) -> go.Figure:
    """A triangle of distributions, each point coloured by its distance from P; ∞ is a cross.

    A click on a point reports customdata = [its three probabilities].

    Args:
        place: (N, 2), values: (N,) nats, q: (N, 3). p_at, q_at: where P and Q lie, (2,).
    """
    xy, nats, given, edge = array(place), array(values).astype(float), array(q), array(corners)
    finite = nats < float("inf")
    top = float(min(2.0, nats[finite].max(initial=0.1)))
    fig = go.Figure(
        go.Scatter(
            x=[*edge[:, 0], edge[0, 0]], y=[*edge[:, 1], edge[0, 1]], mode="lines", hoverinfo="skip",
            showlegend=False, line={"color": theme.HIDDEN, "width": 2},
        )
    )  # fmt: skip
    for mine, symbol, title in ((finite, "hexagon", name), (~finite, "x", f"{name} = ∞")):
        coloured: dict[str, Any] = {"size": 10, "color": theme.VERMILLION}
        if symbol == "hexagon":
            coloured = {
                "size": 17, "color": np.minimum(nats[mine], top), "cmin": 0, "cmax": top,
                "colorscale": theme.scale("probability"), "line": {"width": 1, "color": theme.grid()},
                "colorbar": {"title": {"text": "nats"}, "thickness": 14, "len": 0.8},
            }  # fmt: skip
        fig.add_scatter(
            x=xy[mine, 0], y=xy[mine, 1], mode="markers", name=title, showlegend=symbol == "x",
            customdata=given[mine], marker={"symbol": symbol, **coloured},
            hovertext=[
                f"Q = ({a:.2f}, {b:.2f}, {c:.2f}): {'∞' if v == float('inf') else f'{v:.4f}'} nats"
                for (a, b, c), v in zip(given[mine], nats[mine], strict=True)
            ],
            hoverinfo="text",
        )  # fmt: skip
    for label, at, color, where in (
        ("P", p_at, theme.GREEN, "top center"), ("Q", q_at, theme.OUTPUT, "bottom center"),
    ):  # fmt: skip
        fig.add_scatter(
            x=[at[0]], y=[at[1]], mode="markers+text", text=[f"<b>{label}</b>"], textposition=where,
            showlegend=False, hoverinfo="skip", textfont={"size": theme.FONT_SIZE + 6, "color": color},
            marker={"size": 18, "symbol": "diamond", "color": color,
                    "line": {"width": 2, "color": theme.text()}},
        )  # fmt: skip
    for number, (x, y) in enumerate(edge, start=1):
        fig.add_annotation(
            x=x, y=y, text=f"{number}", showarrow=False, yshift=22 if y else -24,
            xanchor="center" if y else "left" if x < 0.5 else "right",
        )  # fmt: skip
    fig.update_xaxes(visible=False, range=[-0.06, 1.06])
    fig.update_yaxes(visible=False, range=[-0.14, 0.98], scaleanchor="x")
    fig.update_layout(height=540, showlegend=bool((~finite).any()))
    return fig
