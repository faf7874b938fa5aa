"""Histograms of a score with a threshold, and the radius of draws against the density."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule

COLORS = (theme.BLUE, theme.VERMILLION, theme.GREEN, theme.ORANGE, theme.PURPLE)


def scores(
    shares: Mapping[str, Any], low: float, high: float, threshold: float, own: float | None, xlabel: str
) -> go.Figure:
    """Histograms (BINS,) by name, as lines; shape 0 of the layout is the threshold, `own` the reader's."""
    count = len(next(iter(shares.values())))
    x = np.linspace(low, high, count + 1)
    fig = go.Figure()
    for (name, values), color in zip(shares.items(), COLORS, strict=False):
        fig.add_scatter(x=(x[1:] + x[:-1]) / 2, y=array(values), mode="lines", name=name, fill="tozeroy",
                        line={"color": color, "width": 3, "shape": "hvh"},
                        fillcolor=theme.fade(color, 0.2))  # fmt: skip
    rule(fig, x=threshold, line={"color": theme.text(), "width": 3, "dash": "dot"})
    if own is not None:
        fig.add_scatter(x=[min(high, max(low, own))], y=[0], mode="markers", name="your picture",
                        marker={"size": 18, "color": theme.VERMILLION, "symbol": "triangle-up"})  # fmt: skip
    aside = 0.04 * (high - low)  # a tick at the very corner would lie over the other axis's
    fig.update_xaxes(title=xlabel, range=[low - aside, high])
    fig.update_yaxes(title="share", rangemode="tozero")
    fig.update_layout(showlegend=True)
    return fig


def areas(names: Sequence[str], log_p: Sequence[float], typical: Sequence[float]) -> go.Figure:
    """AUROC of both scores, a set a row; ½ guesses."""
    fig = go.Figure()
    for label, values, color in (("log p", log_p, theme.BLUE), ("typicality", typical, theme.ORANGE)):
        fig.add_bar(y=list(names), x=list(values), orientation="h", name=label, marker={"color": color},
                    hovertemplate="%{y}: %{x:.3f}<extra></extra>")  # fmt: skip
    rule(fig, x=0.5, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.update_xaxes(title="AUROC", range=[0, 1])
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_layout(showlegend=True, barmode="group")
    return fig


def one_class(others: Any, own: Any, low: float, high: float, at: int, xlabel: str) -> tuple[go.Figure, dict]:
    """Histograms (C, BINS) of a class and of the others; film over the classes."""
    o, m = array(others), array(own)
    fig = scores({"the others, held out": o[at], "this class": m[at]}, low, high, low, None, xlabel)
    fig.layout.shapes = ()
    fig.update_yaxes(range=[0, 1.05 * max(o.max(), m.max())])
    return fig, {"data.0.y": o, "data.1.y": m}


def of_classes(
    areas: Mapping[str, Sequence[float]], errors: Mapping[str, Sequence[float]], at: int, without: int
) -> tuple[go.Figure, dict]:
    """AUROC of each class by both scores with standard errors; film: shape 1 stands around the present class.

    Args:
        areas, errors: score -> (C,).
    """
    fig, count = go.Figure(), len(next(iter(areas.values())))
    for (name, values), color, off in zip(
        areas.items(), (theme.BLUE, theme.ORANGE), (-0.15, 0.15), strict=True
    ):
        fig.add_scatter(x=list(values), y=[c + off for c in range(count)], mode="markers", name=name,
                        error_x={"array": list(errors[name]), "thickness": 2},
                        marker={"size": 12, "color": color},
                        hovertemplate="%{x:.3f}<extra></extra>")  # fmt: skip
    rule(fig, x=0.5, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.add_hrect(
        y0=at - 0.5, y1=at + 0.5, fillcolor=theme.fade(theme.HIDDEN, 0.25), line_width=0, layer="below"
    )
    labels = [f"{c}, unseen" if c == without else str(c) for c in range(count)]
    fig.update_xaxes(title="AUROC ± standard error", range=[0, 1])
    fig.update_yaxes(tickvals=list(range(count)), ticktext=labels, range=[count - 0.4, -0.6], showgrid=False,
                     zeroline=False)  # fmt: skip
    fig.update_layout(showlegend=True)
    middle = [c - 0.5 for c in range(count)]
    return fig, {"layout.shapes.1.y0": middle, "layout.shapes.1.y1": [v + 1 for v in middle]}


def radius(relative: Any, draws: Any, density: Any) -> go.Figure:
    """Over r/√D: the density of the radius of draws (trace 0) and the base's (trace 1), over their peaks."""
    lines = {"radius of draws": draws, "density of N(0, I)": density}
    fig = curves(lines, relative, xlabel="‖z‖ / √D", ylabel="share of the peak",
                 colors={"radius of draws": theme.ORANGE, "density of N(0, I)": theme.BLUE})  # fmt: skip
    fig.update_yaxes(range=[0, 1.05])
    return fig
