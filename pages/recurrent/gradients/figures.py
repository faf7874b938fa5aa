"""Norms of products of Jacobians over the lag, eigenvalues in the complex plane, a clipped gradient."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.moving import Tree, marking, per_frame, turning
from pages.recurrent.gradients.lens import LAGS, Clipped, Run
from pages.recurrent.gradients.room import GAINS

COLORS = {"LSTM": theme.GREEN, "GRU": theme.PURPLE}  # an RNN's is VERMILLION
LOWEST, HIGHEST = -25.0, 15.0  # decades that are drawn at most
REACH = 2.2  # of the complex plane


def color(run: Run) -> str:
    return COLORS.get(run.name, theme.VERMILLION)


def norms(runs: list[Run], near: bool) -> Tree:
    """Norm of each cell over the lag at every gain, on a logarithmic axis, or the decades `near` 1 alone; of
    one cell also its bound and the power of its spectral radius, or its direct path."""
    lines = {("norm" if len(runs) == 1 else one.name.split(",")[0]): array(one.norms) for one in runs}
    colors = dict(zip(lines, map(color, runs), strict=True))
    if len(runs) == 1:
        (one,) = runs
        name = "direct path" if one.slope_bound is None else "bound"
        lines[name], colors[name] = array(one.limit), theme.HIDDEN
        if one.slope_bound is not None and not np.allclose(one.radius, one.top):
            lines["ρⁿ"] = array(one.radius)[:, None] ** np.arange(LAGS + 1)
            colors["ρⁿ"] = theme.INPUT
    logs = np.concatenate([line[line > 0] for line in lines.values()])
    low, high = (np.log10(extreme).clip(LOWEST, HIGHEST) for extreme in (logs.min(), logs.max()))
    low, high = (-2, 2) if near else (5 * np.floor(min(low, -5) / 5), 5 * np.ceil(max(high, 5) / 5))
    fig = curves({name: line[0] for name, line in lines.items()}, xlabel="lag t − k",
                 ylabel="norm of the product of Jacobians", colors=colors, log_y=True, ends=True)  # fmt: skip
    fig.update_yaxes(
        range=[low, high], dtick=1 if near else 5 if high - low <= 30 else 10, exponentformat="power"
    )
    fig.update_xaxes(range=[0, LAGS], nticks=6)
    if len(runs) == 1:
        fig.data[1].line.dash = "dash"  # a norm that is its bound is seen below it
    tree: Tree = fig.to_plotly_json()
    for i, line in enumerate(lines.values()):  # a line ends where it leaves the plot, and its name with it
        inside = (line >= 10.0**low) & (line <= 10.0**high)
        tree = turning(tree, i, y=np.where(inside, line, np.nan))
    return tree


def eigenvalues(runs: list[Run]) -> Tree:
    """Eigenvalues of the last Jacobian of each cell at every gain, and of an RNN's W_h, beside the unit
    circle; a dashed circle has the radius λ₁."""
    turn = np.exp(2j * np.pi * np.linspace(0, 1, 73))
    fig = curves({"|λ| = 1": (turn.real, turn.imag)}, colors={"|λ| = 1": theme.HIDDEN},
                 xlabel="real part", ylabel="imaginary part")  # fmt: skip
    names = ["Jacobian"] if len(runs) == 1 else [one.name.split(",")[0] for one in runs]
    data = list(fig.to_plotly_json()["data"])
    if (one := runs[0]).weights is not None and len(runs) == 1:
        ring = array(one.top)[:, None] * turn
        data.append(points("|λ| = λ₁", ring, mode="lines", line={"color": theme.HIDDEN, "dash": "dash"}))
        dot = {"symbol": "circle-open", "color": theme.INPUT, "size": 14, "line": {"width": 3}}
        data.append(points("gW", array(one.weights), mode="markers", marker=dot))
    for name, one in zip(names, runs, strict=True):
        data.append(points(name, array(one.steps), mode="markers", marker={"color": color(one), "size": 11}))
    fig.update_xaxes(range=[-REACH, REACH], dtick=1, zeroline=True, constrain="domain")
    fig.update_yaxes(range=[-REACH, REACH], dtick=1, zeroline=True, constrain="domain", scaleanchor="x")
    fig.update_layout(showlegend=True)
    return {"data": data, "layout": fig.to_plotly_json()["layout"]}


def points(name: str, values: Any, **how: Any) -> dict[str, Any]:
    """A trace of complex numbers (F, N), another row at each frame."""
    place = {"x": per_frame(values.real), "y": per_frame(values.imag)}
    return {"type": "scatter", "name": name, "hoverinfo": "skip", **place, **how}


def clipped(found: Clipped) -> Tree:
    """Norm of a gradient over the gain, before and after clipping; a mark at the gain of the frame."""
    lines = {"gradient": found.raw, "by value": found.by_value, "by norm": found.by_norm}
    colors = dict(zip(lines, (theme.VERMILLION, theme.SKY, theme.INPUT), strict=True))
    fig = curves(lines, GAINS, mark=GAINS[0], colors=colors, log_y=True, ends=True,
                 xlabel="gain g", ylabel="norm of the gradient")  # fmt: skip
    low = np.floor(np.log10(min(line.min() for line in map(array, lines.values())))) - 1
    fig.update_yaxes(range=[low, HIGHEST], dtick=3, exponentformat="power")
    for line in fig.data:
        line.y = np.where(array(line.y) <= 10**HIGHEST, array(line.y), np.nan)
    fig.update_xaxes(nticks=5)
    return marking(fig, GAINS)
