"""Surprise of each token as bars under the text, and two distributions beside each other."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.tokens import escape


def surprise(tokens: Sequence[str], bits: Sequence[float], mean: float) -> go.Figure:
    """Bars of surprise in bits, a line at the mean; an infinite one reaches out of the figure."""
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
        fig.add_hline(y=mean, line={"color": theme.text(), "width": 3, "dash": "dash"})
        fig.add_annotation(
            x=1, xref="paper", y=mean, text=f"mean {mean:.3f}", showarrow=False, yshift=14, xanchor="right"
        )
    step = max(1, -(-len(tokens) // 60))
    fig.update_xaxes(
        tickvals=places[::step], ticktext=[escape(t) for t in tokens[::step]], showgrid=False, tickangle=0
        if max(map(len, tokens)) <= 2 else -60,
    )  # fmt: skip
    fig.update_yaxes(title="surprise, bits", range=[0, 1.12 * top])
    fig.update_layout(height=400, showlegend=False, bargap=0.12)
    return fig


def pair(p: Sequence[float], q: Sequence[float], told: Sequence[bool]) -> go.Figure:
    """P and Q side by side; the outcomes on which TV is reached are marked."""
    places = [f"{i + 1}{' •' if t else ''}" for i, t in enumerate(told)]
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
