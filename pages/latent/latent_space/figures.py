"""Figures of the latent lens: walks, traversals, and a bound split into its parts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array

WALKS = {"linear": theme.BLUE, "spherical": theme.VERMILLION}


def contact_sheet(
    pictures: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    mark: tuple[int, int] | int | None = None,
    xlabel: str = "",
    clickable: bool = False,
) -> go.Figure:
    """A table of pictures with names on both sides.

    Args:
        pictures: (R, C, H, W) in [0, 1].
        rows, columns: R and C names.
        mark: (row, column) to frame, or one column of all rows.
        clickable: a click on a picture reports customdata = [row, column].
    """
    z = array(pictures)
    r, c, h, w = z.shape
    gap = max(1, h // 14)
    sheet = np.full((r * (h + gap), c * (w + gap)), np.nan)
    for i, j in np.ndindex(r, c):
        sheet[i * (h + gap) : i * (h + gap) + h, j * (w + gap) : j * (w + gap) + w] = z[i, j]
    fig = go.Figure(
        go.Heatmap(z=sheet, zmin=0, zmax=1, colorscale=theme.scale("grey"), showscale=False, hoverinfo="skip")
    )
    middle_x = [j * (w + gap) + (w - 1) / 2 for j in range(c)]
    middle_y = [i * (h + gap) + (h - 1) / 2 for i in range(r)]
    if clickable:
        places = [(i, j) for i in range(r) for j in range(c)]
        fig.add_trace(
            basic.click_targets(
                [middle_x[j] for _, j in places],
                [middle_y[i] for i, _ in places],
                places,
                [f"{rows[i]}, {columns[j]}" for i, j in places],
                size=40,
            )
        )
        fig.update_layout(hoverdistance=-1)
    if mark is not None:
        top, left, height = (0, mark, r) if isinstance(mark, int) else (mark[0], mark[1], 1)
        fig.add_shape(
            type="rect", x0=left * (w + gap) - 0.5 - gap / 2, x1=left * (w + gap) + w - 0.5 + gap / 2,
            y0=top * (h + gap) - 0.5 - gap / 2, y1=(top + height) * (h + gap) - 0.5 - gap / 2,
            line={"color": theme.VERMILLION, "width": 4},
        )  # fmt: skip
    step = -(-c // 13)  # names that would collide are left out
    fig.update_xaxes(
        showgrid=False, zeroline=False, title=xlabel, tickvals=middle_x[::step],
        ticktext=list(columns)[::step], range=[-0.5 - gap, c * (w + gap) - 0.5], constrain="domain",
    )  # fmt: skip
    fig.update_yaxes(
        showgrid=False, zeroline=False, tickvals=middle_y, ticktext=list(rows), scaleanchor="x",
        range=[r * (h + gap) - 0.5, -0.5 - gap], constrain="domain",
    )  # fmt: skip
    fig.update_layout(height=int(min(900, max(170, 110 + 760 * r / c))))
    return fig


def norms(t: Any, lengths: Mapping[str, Any], typical: float, at: float) -> go.Figure:
    """‖z(t)‖ along each walk against the length that draws from the prior have.

    Args:
        t: (steps,) in [0, 1].
        lengths: "linear" and "spherical" -> (steps,).
        typical: mean length of a draw from the prior.
        at: the current t.
    """
    fig = basic.curves(
        dict(lengths), t, colors=WALKS, mark=at, xlabel="t", ylabel="length ‖z(t)‖", height=340
    )
    fig.add_hline(y=typical, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.add_annotation(
        x=1, y=typical, xref="paper", text="typical of the prior", showarrow=False, yanchor="bottom",
        xanchor="right",
    )  # fmt: skip
    top = max(typical, *(float(array(v).max()) for v in lengths.values()))
    fig.update_yaxes(range=[0, 1.15 * top])
    return fig


def costs(rows: Sequence[str], reconstruction: Sequence[float], kl: Sequence[float]) -> go.Figure:
    """What the bound costs, as stacked bars in nats: −E log p(x|z) and β KL.

    Args:
        rows: names, one a bar.
        reconstruction, kl: the parts of each bar.
    """
    fig = go.Figure()
    for name, values, color in (
        ("reconstruction", reconstruction, theme.OUTPUT),
        ("KL × weight", kl, theme.ATTENTION),
    ):
        fig.add_trace(
            go.Bar(
                y=list(rows), x=list(values), orientation="h", name=name,
                marker={"color": color, "line_width": 0},
                text=[f"{v:.2f}" for v in values], textposition="inside", insidetextanchor="middle",
                hovertemplate="%{x:.4f} nats<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    fig.update_layout(barmode="relative", height=110 + 64 * len(rows), bargap=0.3, showlegend=True)
    fig.update_xaxes(title="nats")
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig


def staircase(samples: Sequence[int], bounds: Sequence[float], exact: float | None = None) -> go.Figure:
    """L_S against the number of samples S; above it log p(x) where it is known."""
    fig = basic.curves(
        {"L_S": bounds}, samples, colors={"L_S": theme.BLUE}, markers=True,
        xlabel="samples S", ylabel="nats", height=340,
    )  # fmt: skip
    fig.update_xaxes(type="log", tickvals=list(samples), ticktext=[str(s) for s in samples])
    fig.add_annotation(
        x=np.log10(samples[0]), y=bounds[0], text="ELBO", showarrow=True, ay=28, ax=24, yanchor="top"
    )
    if exact is not None:
        fig.add_hline(y=exact, line={"color": theme.VERMILLION, "width": 3, "dash": "dash"})
        fig.add_annotation(x=0, xref="paper", y=exact, text="log p(x), exact", showarrow=False,
                           yanchor="bottom", xanchor="left")  # fmt: skip
    reach = [*bounds, *([exact] if exact is not None else [])]
    slack = 0.15 * (max(reach) - min(reach) or 1.0)
    fig.update_yaxes(range=[min(reach) - 2 * slack, max(reach) + 2 * slack])
    return fig


def dimensions(kl: Any, average: Any, order: Sequence[int], highlight: int | None = None) -> go.Figure:
    """KL of each latent dimension for this digit, beside the mean over the examples; both (K,)."""
    kl, average = array(kl)[list(order)], array(average)[list(order)]
    fig = basic.bars(
        [f"z{subscript(i)}" for i in order], kl, highlight, baseline=average, ylabel="KL in nats",
        names=("this digit", "mean of the examples"), color=theme.ATTENTION,
    )  # fmt: skip
    return fig


def subscript(i: int) -> str:
    """The index as subscript digits, counted from 1."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(d)] for d in str(i + 1))
