"""Trees: nodes at given places, each joined to its parent, labelled, and clickable."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.tokens import escape


def tree(
    x: Sequence[float],
    y: Sequence[float],
    parent: Sequence[int],
    labels: Sequence[str],
    hover: Sequence[str],
    chosen: Sequence[bool],
    *,
    xlabel: str = "",
    beside: Sequence[str] | str = "top center",
    height: int = 400,
) -> go.Figure:
    """N nodes; those that are `chosen`, and the edges between them, in full colour, all others grey.

    A click on a node reports customdata = [its index].

    Args:
        parent: the index of each node's parent, −1 for the root.
        beside: where each label stands, in plotly's words.
    """
    fig = go.Figure()
    for strong in (False, True):
        edges = [(n, p) for n, p in enumerate(parent) if p >= 0 and (chosen[n] and chosen[p]) == strong]
        fig.add_scatter(
            x=[v for n, p in edges for v in (x[p], x[n], None)],
            y=[v for n, p in edges for v in (y[p], y[n], None)],
            mode="lines", hoverinfo="skip", showlegend=False,
            line={"color": theme.INPUT if strong else theme.HIDDEN, "width": 4 if strong else 2},
        )  # fmt: skip
    fig.add_scatter(
        x=list(x), y=list(y), mode="markers+text", text=[escape(label) for label in labels],
        textposition=beside, customdata=[[n] for n in range(len(x))], showlegend=False,
        textfont={"color": [theme.text() if c else theme.HIDDEN for c in chosen]},
        marker={"size": 16, "color": [theme.INPUT if c else theme.HIDDEN for c in chosen]},
        hovertext=[escape(h) for h in hover], hoverinfo="text", cliponaxis=False,
    )  # fmt: skip
    for update, values, label in ((fig.update_xaxes, x, xlabel), (fig.update_yaxes, y, "")):
        room = 0.08 * (max(values) - min(values)) + 0.45
        update(title=label, showgrid=False, zeroline=False, showticklabels=bool(label), dtick=1,
               range=[min(values) - room, max(values) + room])  # fmt: skip
    fig.update_layout(height=height, margin={"t": 16})
    return fig
