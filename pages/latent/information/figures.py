"""Surprises as areas, entropies as stacks; points on the logarithm and the gap below it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

from lab.figures import stacks, theme
from lab.figures.basic import array, curves
from pages.latent.information.lens import SPREADS, Bars, Jensen, surprises

COLUMNS = ("H(P)", "H(P,Q)", "H(Q)", "H(Q,P)")


def top_of(bars: Bars) -> float:
    """End of an axis of surprises: the largest finite one, a little more where one is infinite."""
    both = torch.cat([-bars.p.log(), -bars.q[-1].log()])
    return 1.25 * max(1.0, float(both[both.isfinite()].max()))


def surprise(bars: Bars, at: int) -> go.Figure:
    """Each symbol as wide as P says, and as high as its surprise: traces 0 by Q, 1 by P; an area is what is
    paid."""
    p, top = array(bars.p), top_of(bars)
    middle = np.cumsum(p) - p / 2
    fig = go.Figure()
    for name, height, color in (
        ("−log Q", surprises(bars.q[at], top), theme.OUTPUT),
        ("−log P", surprises(bars.p, top), theme.HIDDEN),
    ):
        fig.add_trace(
            go.Bar(
                x=middle,
                y=array(height),
                width=p,
                name=name,
                hovertemplate="%{y:.3f}<extra>" + name + "</extra>",
                marker={
                    "color": theme.fade(color, 0.85 if name == "−log Q" else 0.6),
                    "line": {"color": theme.paper(), "width": 2},
                },
            )
        )
    shown = p >= 0.04
    fig.update_xaxes(
        title="symbols, each as wide as P",
        tickvals=middle[shown],
        showgrid=False,
        zeroline=False,
        ticktext=[str(i + 1) for i in np.flatnonzero(shown)],
        range=[0, 1],
    )
    fig.update_yaxes(title="surprise, nats", range=[0, top], nticks=6)
    return fig.update_layout(barmode="overlay", showlegend=True)


def parts(bars: Bars) -> list[stacks.Part]:
    """Entropy and the surprise above it, for every λ."""
    nothing, zero = array(bars.h_p) * np.nan, array(bars.h_p) * 0
    h_p, h_q = array(bars.h_p), array(bars.h_q)

    def rows(*columns: Any) -> np.ndarray:
        return np.stack([array(c) for c in columns], 1)

    return [
        stacks.Part("entropy", theme.HIDDEN, rows(zero, zero, zero, zero), rows(h_p, h_p, h_q, h_q)),
        stacks.Part(
            "KL, avoidable",
            theme.VERMILLION,
            rows(nothing, h_p, nothing, h_q),
            rows(nothing, bars.h_pq, nothing, bars.h_qp),
        ),
    ]


def reach(bars: Bars) -> tuple[float, float]:
    """The axis of `parts`."""
    every = torch.cat([bars.h_p, bars.h_pq, bars.h_q, bars.h_qp])
    return 0.0, 1.25 * max(0.5, float(every[every.isfinite()].max()))


def curve(jensen: Jensen, at: int) -> go.Figure:
    """The logarithm; traces: 1 the values, 2 the gap above the mean."""
    low, high = float(jensen.y.min()), float(jensen.y.max())
    x = np.linspace(max(low * 0.5, 0.02 * high), high * 1.05, 200)
    few = thinned(jensen)
    fig = go.Figure(
        go.Scatter(x=x, y=np.log(x), mode="lines", name="log y", line={"color": theme.HIDDEN, "width": 3})
    )
    fig.add_trace(
        go.Scatter(
            x=few[at],
            y=np.log(few[at]),
            mode="markers",
            name="values",
            marker={"size": 12, "color": theme.INPUT, "opacity": 0.7},
        )
    )
    fig.add_trace(
        go.Scatter(
            x=[float(jensen.mean[at])] * 2,
            y=[float(jensen.mean_log[at]), float(jensen.log_mean[at])],
            mode="lines+markers",
            name="E log y to log E y",
            line={"color": theme.VERMILLION, "width": 6},
            marker={"size": 13},
        )
    )
    fig.update_xaxes(title="y", zeroline=False)
    fig.update_yaxes(title="log y", zeroline=False, range=[float(np.log(x[0])), float(np.log(x[-1])) + 0.15])
    return fig


def thinned(jensen: Jensen, most: int = 40) -> np.ndarray:
    """(F, n) values, at most so many."""
    y = array(jensen.y)
    return y[:, :: max(1, -(-y.shape[1] // most))]


def turning(jensen: Jensen) -> dict[str, Any]:
    """Moving parts of `curve`."""
    few = thinned(jensen)
    return {
        "data.1.x": few,
        "data.1.y": np.log(few),
        "data.2.x": np.stack([array(jensen.mean)] * 2, 1),
        "data.2.y": np.stack([array(jensen.mean_log), array(jensen.log_mean)], 1),
    }


def gaps(jensen: Jensen, at: int) -> go.Figure:
    """The gap over the spread; shape 0 is the line at the present one."""
    return curves(
        {"gap": jensen.gap},
        SPREADS,
        mark=SPREADS[at],
        xlabel="spread t",
        ylabel="gap, nats",
        markers=True,
        colors={"gap": theme.VERMILLION},
    )
