"""The latent space drawn: lengths along a walk, the parts of a bound, the KL of each dimension and over a
training."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array, rule
from lab.lenses.code_use import Course

WALKS = {"linear": theme.BLUE, "spherical": theme.VERMILLION}


def norms(t: Any, lengths: Mapping[str, Any], typical: float, at: float) -> go.Figure:
    """‖z(t)‖ along each walk against the length that draws from the prior have.

    Args:
        t: (steps,) in [0, 1].
        lengths: "linear" and "spherical" -> (steps,).
        typical: mean length of a draw from the prior.
        at: the current t.
    """
    fig = basic.curves(dict(lengths), t, colors=WALKS, mark=at, xlabel="t", ylabel="length ‖z(t)‖")
    rule(fig, y=typical, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.add_annotation(
        x=0.02, y=typical, xref="paper", text="typical of the prior", showarrow=False, yanchor="bottom",
        xanchor="left",
    )  # fmt: skip
    top = max(typical, *(float(array(v).max()) for v in lengths.values()))
    fig.update_yaxes(range=[0, 1.25 * top])
    fig.update_xaxes(range=[0, 1], tickvals=[0.2, 0.4, 0.6, 0.8, 1])  # the corner belongs to the lengths
    return fig


def reach(reconstruction: Sequence[float], kl: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds both bars of `costs`; it grows in steps, so that bars can be compared."""
    low = min(0.0, *reconstruction)
    high = max(0.0, *(r + k for r, k in zip(reconstruction, kl, strict=True)))
    return 50 * math.floor(low / 50), 50 * math.ceil(1.02 * high / 50 + 1e-9)


def costs(
    rows: Sequence[str], reconstruction: Sequence[float], kl: Sequence[float], reach: tuple[float, float]
) -> go.Figure:
    """Costs of a bound, as stacked bars in nats: −E log p(x|z) and the weighted KL.

    Args:
        rows: names, one a bar.
        reconstruction, kl: the parts of each bar.
        reach: ends of the axis.
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
                hovertemplate="%{x:.4f} nats<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    fig.update_layout(barmode="relative", bargap=0.3, showlegend=True)
    fig.update_xaxes(title="nats", range=list(reach))
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig


def dimensions(kl: Any, average: Any, order: Sequence[int], highlight: int | None = None) -> go.Figure:
    """KL of each latent dimension for this digit, beside the mean over the examples; both (K,)."""
    kl, average = array(kl)[list(order)], array(average)[list(order)]
    return basic.bars(
        [str(i + 1) for i in order], kl, highlight, baseline=average, ylabel="KL, nats",
        xlabel="dimension", names=("this digit", "mean of the examples"), color=theme.ATTENTION,
    )  # fmt: skip


def kl_curves(courses: Mapping[str, Course], at: int, log: bool = False) -> go.Figure:
    """KL of every model over the epochs, counted from 1; a line (shape 0) at the present one."""
    lines = {name: (list(range(1, len(c.kl) + 1)), c.kl) for name, c in courses.items()}
    fig = basic.curves(lines, mark=at + 1, xlabel="epoch", ylabel="KL, nats")
    if not log:
        return fig.update_yaxes(rangemode="tozero")
    most = math.ceil(math.log10(max(max(c.kl) for c in courses.values())))
    ticks = {"tickvals": [10.0**k for k in range(-3, most + 1)],
             "ticktext": [f"{10.0**k:g}" for k in range(-3, most + 1)]}  # fmt: skip
    return fig.update_yaxes(type="log", range=[-3, most], **ticks)


def paid_and_saved(
    names: Sequence[str], paid: Sequence[float], saved: Sequence[float], chosen: int
) -> go.Figure:
    """KL of each model's code, and what the own code saves against another's."""
    fig = basic.bars(
        names, saved, chosen, baseline=paid, horizontal=True, xlabel="nats",
        names=("saved by the own code", "paid for it, KL"),
    )  # fmt: skip
    return fig
