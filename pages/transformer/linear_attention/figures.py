"""Linear attention as matrix and as state, errors and costs over M and n, Gram matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, heatmap
from lab.figures.moving import Tree, heatmaps, marking, per_frame, turning
from pages.transformer.linear_attention.compared import Cost, Errors
from pages.transformer.linear_attention.gram import Gram
from pages.transformer.linear_attention.lens import Walk, other_softmax
from pages.transformer.linear_attention.room import COUNTS, LENGTHS

COLORS = {
    "positive": theme.ATTENTION, "hyperbolic": theme.ORANGE, "elu + 1": theme.GREEN,
    "mean of all values": theme.HIDDEN, "trigonometric": theme.GREEN, "exponent γ": theme.VERMILLION,
    "its limit": theme.HIDDEN, "all pairs": theme.VERMILLION, "linear": theme.INPUT, "softmax": theme.HIDDEN,
    "S": theme.ATTENTION, "z": theme.ORANGE,
}  # fmt: skip


def weights(one: Walk) -> Tree:
    """α row by row: at frame t the rows up to t."""
    n = len(one.weights)
    alpha = array(one.weights)
    values = np.stack([np.where(np.arange(n)[:, None] <= t, alpha, 0.0) for t in range(n)])
    names = [str(i + 1) for i in range(n)]
    return heatmaps(
        values, names, names, "matrix form: α<sub>tj</sub>", square=True, zmin=0, zmax=1, colorbar=False,
        xlabel="token j", ylabel="token t", height=460,
    )  # fmt: skip


def states(one: Walk) -> Tree:
    """S_t, and z_t in its last column, at each token."""
    both = np.concatenate([array(one.S), array(one.z)[..., None]], axis=2)  # (n, M, D + 1)
    most = float(np.abs(both).max())
    columns = [f"S{'₁₂₃₄'[d]}" for d in range(both.shape[2] - 1)] + ["z"]
    return heatmaps(
        both, columns, [f"φ<sub>{m + 1}</sub>" for m in range(both.shape[1])],
        "recurrent form: S<sub>t</sub>, z<sub>t</sub>",
        scale="diverging", zmin=-most, zmax=most, height=460,
    )  # fmt: skip


def lines(named: dict[str, Any], x: Sequence[float], xlabel: str, ylabel: str, log: bool = True) -> go.Figure:
    """Lines over M or n, named at their ends, with a mark that a film moves."""
    fig = curves(named, x, mark=x[0], colors={name: COLORS[name] for name in named}, log_x=log, log_y=log,
                 ends=True, markers=True, xlabel=xlabel, ylabel=ylabel, height=460)  # fmt: skip
    if log:
        fig.update_xaxes(tickvals=list(x), ticktext=[f"{value:,}" for value in x])
        fig.update_yaxes(exponentformat="power", dtick=1)
    return fig


def outputs(one: Walk) -> Tree:
    """Outputs of both kernels for the reader's numbers."""
    steps = list(range(1, len(one.y) + 1))
    named = {"linear": array(one.y[:, 0]), "softmax": array(other_softmax(one)[:, 0])}
    fig = lines(named, steps, "token t", "output y", log=False)
    fig.update_xaxes(dtick=1)
    return marking(fig, steps)


def sums(one: Walk) -> Tree:
    """S_t and z_t of one feature."""
    steps = list(range(1, len(one.y) + 1))
    fig = lines({"S": array(one.S[:, 0, 0]), "z": array(one.z[:, 0])}, steps, "token t", "state", log=False)
    fig.update_xaxes(dtick=1)
    return marking(fig, steps)


def errors(one: Errors) -> Tree:
    """Mean error of the output over M."""
    fig = lines(one.lines, COUNTS, "draws M", "mean error of the output")
    fig.update_yaxes(range=[np.log10(0.03), np.log10(0.25)], tickvals=[0.03, 0.05, 0.1, 0.2])
    return marking(fig, COUNTS)


def agreement(one: Errors) -> Tree:
    """Approximated weights over exact ones at each M, and the line where both are equal."""
    most = float(one.exact.max()) * 1.1
    fig = curves({"equal": ([0, most], [0, most])}, colors={"equal": theme.HIDDEN}, height=460,
                 xlabel="weight of the softmax", ylabel="by positive features")  # fmt: skip
    fig.update_xaxes(range=[0, most])
    fig.update_yaxes(range=[0, most])
    fig.add_scatter(x=one.exact, y=one.found[0], mode="markers", hoverinfo="skip", showlegend=False,
                    marker={"size": 7, "color": theme.ATTENTION, "opacity": 0.6})  # fmt: skip
    return turning(fig, 1, y=one.found)


def costs(one: Cost, largest: bool) -> Tree:
    """Multiply-adds, or numbers in the largest tensor, over n."""
    named = one.largest if largest else one.adds
    fig = lines(dict(named), LENGTHS, "tokens n", "largest tensor" if largest else "multiply-adds")
    return marking(fig, LENGTHS)


def gram_errors(one: Gram) -> Tree:
    """Mean error of the Gram matrix over M."""
    fig = lines(one.lines, COUNTS, "draws M", "mean error of an entry")
    return marking(fig, COUNTS)


def grams(one: Gram) -> Tree:
    """The Gram matrix, and below it what random features make of it at each M."""
    N = len(one.exact)
    gap = np.full((len(COUNTS), 2, N), np.nan)
    both = np.concatenate([np.broadcast_to(one.exact, one.found.shape), gap, one.found], axis=1)
    tree = heatmap(
        both[0],
        zmin=0,
        zmax=1,
        square=True,
        title="exact; below: by features",
        hover=False,
        colorbar=False,
        height=460,
    ).to_plotly_json()
    for axis in ("xaxis", "yaxis"):
        tree["layout"][axis] |= {"showticklabels": False, "ticks": ""}
    tree["data"][0] |= {"z": per_frame(both), "xgap": 0, "ygap": 0}
    return tree
