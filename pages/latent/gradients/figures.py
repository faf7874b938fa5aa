"""Histograms of estimators, their running means, and the graph of a sampling node."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from pages.latent.gradients.lens import COUNTS, Node, Race

COLORS = (theme.GREEN, theme.VERMILLION, theme.OUTPUT, theme.INPUT, theme.ATTENTION)
# Nodes of the graph: name -> place, and its edges with the gradient that comes back along each.
PLACES = {"μ": (0.0, 2.0), "σ": (0.0, 1.0), "ε": (0.0, 0.0), "z": (1.2, 1.0), "f": (2.3, 1.0)}


def histograms(race: Race, at: int) -> go.Figure:
    """Shares of the first draws by their value; trace k is estimator k, the last one the truth."""
    middles, shares = race.histograms()
    fig = go.Figure()
    for (name, values), color in zip(shares.items(), COLORS, strict=False):
        fig.add_trace(
            go.Scatter(
                x=array(middles), y=array(values[at]), mode="lines", name=name, fill="tozeroy",
                line={"color": color, "width": 3, "shape": "hvh"}, fillcolor=theme.fade(color, 0.12),
                hovertemplate="%{x:.2f}: %{y:.3f}<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    widest = max(float(v[-1].max()) for v in shares.values())
    top = min(1.0, max(0.12, 1.1 * min(widest, 0.4)))
    fig.add_trace(
        go.Scatter(x=[race.truth] * 2, y=[0, top], mode="lines", showlegend=False, name="gradient",
                   line={"color": theme.text(), "width": 3, "dash": "dot"})
    )  # fmt: skip
    fig.update_xaxes(title="estimate from one draw", range=list(race.window()), zeroline=False)
    fig.update_yaxes(title="share", range=[0, top], nticks=5)
    return fig


def prefixes(race: Race) -> dict[str, np.ndarray]:
    """Running means up to each of COUNTS, NaN beyond, (F, F), by name."""
    result = np.tril(np.ones((len(COUNTS), len(COUNTS)), dtype=bool))
    return {name: np.where(result, array(line)[None], np.nan) for name, line in race.running().items()}


def running(race: Race, at: int) -> go.Figure:
    """Means of the first n draws; trace k is estimator k."""
    lines = {name: values[at] for name, values in prefixes(race).items()}
    colors = dict(zip(lines, COLORS, strict=False))
    fig = curves(lines, COUNTS, colors=colors, markers=True, xlabel="draws n", ylabel="mean of n draws")
    rule(fig, y=race.truth, line={"color": theme.text(), "width": 3, "dash": "dot"})
    every = np.concatenate([array(v)[2:] for v in race.running().values()])
    half = max(0.3, 1.1 * float(np.abs(every - race.truth).max()))
    fig.update_xaxes(type="log", tickvals=[1, 10, 100, 1000], range=[-0.1, 3.8])
    fig.update_yaxes(range=[race.truth - half, race.truth + half], nticks=6)
    return fig.update_layout(showlegend=False)


# --- The graph ------------------------------------------------------------------------------------------


def number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def node_texts(node: Node, mean: float, deviation: float) -> list[list[str]]:
    """Texts in the nodes of PLACES at every draw."""
    return [
        [f"μ<br>{number(mean)}", f"σ<br>{number(deviation)}", f"ε<br>{number(e)}", f"z<br>{number(z)}",
         f"z²<br>{number(f)}"]
        for e, z, f in zip(node.eps.tolist(), node.z.tolist(), node.f.tolist(), strict=True)
    ]  # fmt: skip


def edge_texts(node: Node, path: bool) -> list[list[str]]:
    """Gradients that come back along μ, σ and z at every draw."""
    if not path:
        return [["blocked", "blocked", f"∂f/∂z = {number(v)}"] for v in node.by_z.tolist()]
    return [
        [f"∂f/∂μ = {number(m)}", f"∂f/∂σ = {number(s)}", f"∂f/∂z = {number(z)}"]
        for m, s, z in zip(node.by_mu.tolist(), node.by_sigma.tolist(), node.by_z.tolist(), strict=True)
    ]


def graph(node: Node, mean: float, deviation: float, path: bool, at: int) -> go.Figure:
    """The graph at one draw; trace 0 has the words of the nodes, trace 1 those of the gradients."""
    fig = go.Figure()
    x, y = zip(*PLACES.values(), strict=True)
    colors = [theme.INPUT, theme.INPUT, theme.HIDDEN, theme.ATTENTION, theme.OUTPUT]
    fig.add_trace(
        go.Scatter(
            x=x, y=y, mode="markers+text", text=node_texts(node, mean, deviation)[at], hoverinfo="skip",
            marker={"size": 74, "color": [theme.fade(c, 0.3) for c in colors],
                    "line": {"width": 3, "color": colors}, "symbol": ["circle"] * 3 + (
                        ["circle"] if path else ["diamond"]) + ["square"]},
            textfont={"size": theme.FONT_SIZE, "color": theme.text()},
        )
    )  # fmt: skip
    places = [(0.62, 1.75), (0.55, 1.12), (1.75, 1.12)]
    back = theme.GREEN if path else theme.VERMILLION
    fig.add_trace(
        go.Scatter(
            x=[p[0] for p in places], y=[p[1] for p in places], mode="text", text=edge_texts(node, path)[at],
            textfont={"size": theme.FONT_SIZE - 1, "color": [theme.text()] * 3}, hoverinfo="skip",
        )
    )  # fmt: skip
    for start, end, color in (
        ("μ", "z", back),
        ("σ", "z", back),
        ("ε", "z", theme.HIDDEN),
        ("z", "f", theme.GREEN),
    ):
        (x0, y0), (x1, y1) = PLACES[start], PLACES[end]
        fig.add_annotation(
            x=x1, y=y1, ax=x0, ay=y0, xref="x", yref="y", axref="x", ayref="y", text="", showarrow=True,
            arrowhead=2, arrowwidth=4, arrowcolor=color, standoff=42, startstandoff=42,
        )  # fmt: skip
    fig.update_xaxes(visible=False, range=[-0.4, 2.75])
    fig.update_yaxes(visible=False, range=[-0.45, 2.45])
    return fig.update_layout(showlegend=False, margin={"l": 4, "r": 4, "t": 8, "b": 8})


def means(lines: dict[str, Any], truth: float, at: int) -> go.Figure:
    """Means of the gradients by μ of the draws so far, (F,) by name; shape 0 is the line at this draw."""
    count = len(next(iter(lines.values())))
    fig = curves(lines, range(1, count + 1), mark=at + 1, xlabel="draws", ylabel="mean gradient by μ",
                 colors=dict(zip(lines, (theme.GREEN, theme.VERMILLION), strict=True)))  # fmt: skip
    rule(fig, y=truth, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.add_annotation(x=0.98, xref="paper", y=truth, text="∂E f/∂μ", showarrow=False, yanchor="bottom",
                       xanchor="right")  # fmt: skip
    return fig


def chosen(labels: Sequence[str], race: Race) -> dict[str, list[str]]:
    """A table: estimator, mean of all draws, variance measured and exact."""
    results = [race.by_name[label] for label in labels]
    return {
        "estimator": list(labels),
        "mean of 5,000": [f"{float(one.values.mean()):.3f}" for one in results],
        "variance": [f"{one.measured:.3f}" for one in results],
        "exact": ["–" if one.variance is None else f"{one.variance:.4f}" for one in results],
    }
