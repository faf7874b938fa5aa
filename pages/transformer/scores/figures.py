"""Weights of three scores, the spread of random scores with what softmax makes of it, two alignments."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from lab.figures import alignments, theme
from lab.figures.basic import curves
from lab.figures.moving import Tree, heatmaps, marking, turning
from pages.transformer.scores.lens import NAMES, Learned, Random, Scores
from pages.transformer.scores.room import ENTROPY, JACOBIAN, LARGEST, LENGTHS, SPREAD, WIDTHS

COLORS = {"additive": theme.GREEN, "dot": theme.VERMILLION, "scaled": theme.ATTENTION,
          "unscaled": theme.VERMILLION, "d_k": theme.HIDDEN, "standard deviation": theme.ORANGE}  # fmt: skip
EDGE, BINS = 80, 81  # of the histogram
Y = {LARGEST: "mean largest weight", ENTROPY: "mean entropy, nats", JACOBIAN: "mean ‖diag(a) − aaᵀ‖",
     SPREAD: "of a score"}  # fmt: skip


def weights(one: Scores) -> Tree:
    """α, a row for each score, a column for each key."""
    names = [f"h<sub>{j + 1}</sub>" for j in range(one.alpha.shape[2])]
    return heatmaps(
        one.alpha, names, list(NAMES), "attention weights α", scale="violet", zmin=0, zmax=1, numbers=".3f",
        colorbar=False, height=420,
    )  # fmt: skip


def largest(one: Scores) -> Tree:
    """The largest weight of each score over the length of the vectors."""
    lines = {name: one.alpha[:, i].max(1) for i, name in enumerate(NAMES)}
    fig = lines_of(lines, LENGTHS, "vectors times", "largest weight")
    fig.update_yaxes(range=[0, 1.04])
    return marking(fig, LENGTHS)


def lines_of(lines: dict[str, np.ndarray], x: Sequence[float], xlabel: str, ylabel: str) -> go.Figure:
    """Lines over a logarithmic knob, named at their ends."""
    fig = curves(lines, x, mark=x[0], colors={name: COLORS[name] for name in lines}, log_x=True, ends=True,
                 markers=True, xlabel=xlabel, ylabel=ylabel, height=420)  # fmt: skip
    fig.update_xaxes(tickvals=list(x), ticktext=[f"{value:,g}" for value in x])
    return fig


def spread(one: Random, scaled: bool) -> Tree:
    """Histogram of scores at each width, as high as its highest bin."""
    edges = np.linspace(-EDGE, EDGE, BINS + 1) if not scaled else np.linspace(-5, 5, 41)
    found = []
    for scores, d in zip(one.scores, WIDTHS, strict=True):
        counts = np.histogram(scores / (d**0.5 if scaled else 1), edges)[0]
        found.append(counts / counts.max())
    middles = (edges[1:] + edges[:-1]) / 2
    fig = go.Figure(
        go.Bar(x=middles, y=found[0], marker={"color": theme.INPUT, "line": {"width": 0}}, hoverinfo="skip"),
        {"height": 420, "bargap": 0.05, "showlegend": False,
         "xaxis": {"title": "q·k / √d<sub>k</sub>" if scaled else "q·k", "range": [edges[0], edges[-1]]},
         "yaxis": {"title": "share of the highest bin", "range": [0, 1.04]}},
    )  # fmt: skip
    return turning(fig, y=np.stack(found))


def measured(one: Random, measure: str, scaled: bool) -> Tree:
    """A measure of the softmax over the width, unscaled and scaled; or variance and standard deviation."""
    both = one.lines[measure]
    if measure == SPREAD:
        variance = both[int(scaled)]
        lines = {"scaled" if scaled else "unscaled": variance, "standard deviation": np.sqrt(variance)}
        fig = lines_of(lines, WIDTHS, "d<sub>k</sub>", Y[measure])
        fig.data[0].name = "variance"
        fig.update_yaxes(type="log", dtick=1, exponentformat="power")
        if scaled:
            fig.update_yaxes(range=[-1, 1])
    else:
        fig = lines_of({"unscaled": both[0], "scaled": both[1]}, WIDTHS, "d<sub>k</sub>", Y[measure])
        fig.update_yaxes(range=[0, {LARGEST: 1.04, ENTROPY: 2.9, JACOBIAN: 0.36}[measure]])
    return marking(fig, WIDTHS)


def alignment(one: Learned, additive: bool) -> Tree:
    """γ of one score, row by row."""
    gamma = one.additive if additive else one.scaled
    tree = alignments.growing(gamma, one.source, one.target)
    tree["layout"]["height"] = 460
    tree["layout"]["yaxis"]["title"] = {"text": "additive score" if additive else "scaled score"}
    return tree
