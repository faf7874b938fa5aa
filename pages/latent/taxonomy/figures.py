"""The sets of models drawn as boxes in boxes, and the table of wishes as cells."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from lab.figures import theme

MARKS = {"✓": theme.GREEN, "✗": theme.VERMILLION, "?": theme.YELLOW, "n/a": theme.HIDDEN}
# Boxes from the outside in: name, left, right; all stand on one floor.
BOXES = (("unsupervised", 0.0, 10.0, 4.4), ("generative", 2.7, 9.8, 3.8), ("probabilistic", 4.8, 9.6, 3.2))


def sets(places: Mapping[str, tuple[float, float]], latent: Sequence[str], kept: Sequence[str]) -> go.Figure:
    """Every model at its place; those with latent variables orange, those not `kept` pale."""
    fig = go.Figure()
    for i, (name, left, right, top) in enumerate(BOXES):
        fig.add_shape(type="rect", x0=left, x1=right, y0=0.1 * i, y1=top, layer="below",
                      line={"color": theme.soft(), "width": 2},
                      fillcolor=theme.fade(theme.INPUT, 0.06 + 0.04 * i))  # fmt: skip
        fig.add_annotation(x=left + 0.1, y=top - 0.06, text=f"<b>{name}</b>", showarrow=False, xanchor="left",
                           yanchor="top", font={"color": theme.soft()})  # fmt: skip
    for group, color in (("latent", theme.OUTPUT), ("no latent", theme.INPUT)):
        names = [n for n in places if (n in latent) == (group == "latent")]
        fig.add_scatter(
            x=[places[n][0] for n in names], y=[places[n][1] for n in names], text=names, showlegend=False,
            mode="markers+text", textposition="bottom center", hoverinfo="skip", cliponaxis=False,
            marker={"size": 18, "color": [color if n in kept else theme.fade(color, 0.2) for n in names]},
        )  # fmt: skip
    for group, color in (("latent variables", theme.OUTPUT), ("none", theme.INPUT)):  # the legend, never pale
        fig.add_scatter(x=[None], y=[None], mode="markers", name=group, marker={"size": 16, "color": color})
    fig.update_layout(showlegend=True)
    fig.update_xaxes(visible=False, range=[-0.1, 10.1])
    fig.update_yaxes(visible=False, range=[-0.1, 4.5])
    return fig


def wishes(table: Mapping[str, Sequence[str]], columns: Sequence[str], kept: Sequence[str]) -> go.Figure:
    """A cell for each family and wish, its mark in colour; families that are not `kept` are pale.

    Args:
        table: family -> a mark for every column.
    """
    families = list(table)
    fig = go.Figure()
    for mark, color in MARKS.items():
        cells = [(c, r) for r, f in enumerate(families) for c, m in enumerate(table[f]) if m == mark]
        shades = [theme.fade(color, 1.0 if families[r] in kept else 0.15) for _, r in cells]
        fig.add_scatter(
            x=[c for c, _ in cells], y=[r for _, r in cells], mode="markers", name=mark, showlegend=False,
            marker={"symbol": "square", "size": 46, "color": shades},
            hovertext=[f"{families[r]}, {columns[c]}: {mark}" for c, r in cells], hoverinfo="text",
        )  # fmt: skip
        for c, r in cells:
            fig.add_annotation(x=c, y=r, text=f"<b>{mark}</b>", showarrow=False, font={"color": "#12161C"}
                               if families[r] in kept else {"color": theme.soft()})  # fmt: skip
    fig.update_xaxes(tickvals=list(range(len(columns))), ticktext=[c.replace(" ", "<br>") for c in columns],
                     range=[-0.6, len(columns) - 0.4], showgrid=False, zeroline=False, side="top",
                     tickangle=0)  # fmt: skip
    fig.update_yaxes(tickvals=list(range(len(families))), ticktext=families, showgrid=False, zeroline=False,
                     range=[len(families) - 0.4, -0.6])  # fmt: skip
    return fig
