"""Metrics over size, over steps and by digit; probabilities of an answer's digits."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, heatmap
from lab.figures.moving import Tree, turning
from pages.transformer.emergence.lens import Answer, Series
from pages.transformer.emergence.room import ACCURACY, BRIER, LIKELIHOOD

EXACT, PRODUCT = "exact match", "Π pⱼ"
RANGES: dict[str, list[float]] = {
    EXACT: [0, 1.05],
    ACCURACY: [0, 1.05],
    LIKELIHOOD: [-11, 0.5],
    BRIER: [0, 1],
}
COLORS = {EXACT: theme.OUTPUT, PRODUCT: theme.INPUT, ACCURACY: theme.GREEN, LIKELIHOOD: theme.GREEN,
          BRIER: theme.GREEN}  # fmt: skip
POWERS = "⁰¹²³⁴⁵⁶⁷⁸"


def over_size(lines: dict[str, np.ndarray], sizes: list[int], name: str) -> Tree:
    """Lines (F, N) over the number of parameters, a frame a look."""
    fig = curves(
        {name: (sizes, line[0]) for name, line in lines.items()}, log_x=True, markers=True, height=430,
        ends=len(lines) > 1, colors=dict.fromkeys(lines, theme.HIDDEN) | COLORS, xlabel="parameters",
        title=name.capitalize(),
    )  # fmt: skip
    fig.update_traces(line={"dash": "dash"}, selector={"name": PRODUCT})
    fig.update_yaxes(range=RANGES[name])
    shown = [10**e for e in range(3, 7)]
    fig.update_xaxes(tickvals=shown, ticktext=["1,000", "10,000", "10⁵", "10⁶"], tickangle=0,
                     range=[np.log10(sizes[0]) - 0.1, np.log10(sizes[-1]) + 0.1])  # fmt: skip
    tree: Tree = fig.to_plotly_json()
    for index, line in enumerate(lines.values()):
        tree = turning(tree, index, y=line)
    return tree


def exact(found: Series, k: int) -> Tree:
    """Exact match as measured, and what digits would give, were their mistakes independent."""
    lines = {
        f"p{POWERS[k]}": found.values["accuracy"] ** k,
        EXACT: found.values["exact"],
        PRODUCT: found.product,
    }
    return over_size(lines, found.sizes, EXACT)


def beside(found: Series, metric: str, key: str) -> Tree:
    """The other metric of the same runs."""
    return over_size({metric: found.values[key]}, found.sizes, metric)


def digits(found: Series, places: list[str]) -> Tree:
    """Share of right digits, size by digit, a frame a look."""
    fig = heatmap(
        found.digits[0], x=[f"{j + 1}: {name}" for j, name in enumerate(places)],
        y=[f"{size:,}" for size in found.sizes], numbers=True, colorbar=False, hover=False,
        xlabel="digit, as written", ylabel="parameters", height=460,
    )  # fmt: skip
    return turning(fig, z=found.digits)


def over_steps(steps: tuple[int, ...], values: np.ndarray, name: str) -> go.Figure:
    """One metric of one size over the steps of training."""
    fig = curves({name: values}, steps, colors=COLORS, markers=True, title=name.capitalize(), xlabel="step",
                 height=430)  # fmt: skip
    fig.update_yaxes(range=RANGES[name])
    return fig


def chances(found: Answer) -> Tree:
    """Probability of each digit at each place, a frame a place; what comes later is empty."""
    frames = np.stack([np.where(np.arange(4)[:, None] <= j, found.chances, np.nan) for j in range(4)])
    rows = [f"{j + 1}: {d}" for j, d in enumerate(found.right)]
    fig: Any = heatmap(
        frames[-1], x=list("0123456789"), y=rows, numbers=True, colorbar=False, hover=False,
        xlabel="digit", ylabel="place: right digit", height=430,
    )  # fmt: skip
    for j, d in enumerate(found.right):
        fig.add_shape(type="rect", x0=int(d) - 0.5, x1=int(d) + 0.5, y0=j - 0.5, y1=j + 0.5,
                      line={"color": theme.GREEN, "width": 4})  # fmt: skip
    return turning(fig, z=frames)
