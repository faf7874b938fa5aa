"""A training over its steps, a look inside at one frame, and what a bench of five seeds found."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, marking, turning
from lab.figures.panels import level, over_training, panels
from lab.lenses.rewind import Frame, stacked
from pages.recurrent.recall.lens import GUESSING, WORDS, Kept

DECADES = (-12, 4)  # of the gradient that are drawn
COLORS = {"f": theme.GREEN, "i": theme.INPUT, "o": theme.ORANGE, "z": theme.ATTENTION, "r": theme.SKY,
          "slope": theme.HIDDEN}  # fmt: skip


def course(frames: Sequence[Frame], steps: Sequence[int], turned: Sequence[int], last: int) -> Tree:
    """What is right and the loss over the steps; shape 0 of the layout is a line at the frame.

    Args:
        turned: steps at which knobs were turned. last: end of the abscissa.
    """
    fig = over_training(("share that is right; dotted: guessing", "loss in nats"), steps, turned, last)
    for name, axis, color in (("right", "y", theme.OUTPUT), ("loss", "y2", theme.INPUT)):
        fig.add_scatter(
            x=array(steps), y=stacked(frames, name), name=name, yaxis=axis, hoverinfo="x+y+name",
            mode="lines" if len(steps) > 1 else "markers", marker={"size": 8},
            line={"width": 3, "color": color},
        )  # fmt: skip
    level(fig, "y", GUESSING)
    level(fig, "y2", -np.log(GUESSING))
    fig.update_layout(yaxis={"range": [-0.04, 1.06], "nticks": 4}, yaxis2={"range": [-0.1, 2.6], "nticks": 4})
    return marking(fig, steps)


def inside(frames: Sequence[Frame], gates: Sequence[str]) -> Tree:
    """Norm of the gradient at each step over that at the query, and the mean of each gate, at every frame."""
    gradient = stacked(frames, "gradient").astype(float)  # (F, T)
    with np.errstate(all="ignore"):
        share = gradient / gradient[:, -1:]
    low, high = DECADES
    share[~((share >= 10.0**low) & (share <= 10.0**high))] = np.nan
    means, T = stacked(frames, "gates"), gradient.shape[1]
    words = "slope φ' of tanh" if list(gates) == ["slope"] else "gates"
    fig = panels(
        ("gradient ‖∂L/∂s<sub>t</sub>‖, over that at the query", f"{words}, mean of all units"),
        "step t: the symbol is first, the query last",
    )
    places = np.arange(1, T + 1)
    for axis, name, color, values in [
        ("y", "gradient", theme.VERMILLION, share),
        *(("y2", name, COLORS[name], means[:, g]) for g, name in enumerate(gates)),
    ]:
        fig.add_scatter(x=places, y=values[0], name=WORDS.get(name, name), yaxis=axis, mode="lines",
                        hoverinfo="x+y+name", line={"width": 3, "color": color})  # fmt: skip
    fig.update_xaxes(range=[1, T])
    fig.update_layout(
        yaxis={"type": "log", "range": list(DECADES), "dtick": 3, "exponentformat": "power"},
        yaxis2={"range": [-0.04, 1.06], "nticks": 4}, meta=theme.NAMED_ENDS if len(gates) > 1 else None,
    )  # fmt: skip
    tree = turning(fig, 0, y=share)
    for g in range(len(gates)):
        tree = turning(tree, g + 1, y=means[:, g])
    return tree


def bench(found: Mapping[tuple[str, int], Kept]) -> go.Figure:
    """Share of the seeds that recall, by cell and start and by lag; below it the median of their steps."""
    names, lags = list(dict.fromkeys(name for name, _ in found)), sorted({lag for _, lag in found})
    table = [[found[name, lag] for lag in lags] for name in names]
    fig = heatmap(
        [[kept.succeeded / kept.seeds for kept in row] for row in table], [f"lag {lag}" for lag in lags],
        names, hover=False, colorbar=False, xlabel="seeds; below: median steps",
    )  # fmt: skip
    texts = [
        [f"{k.succeeded} of {k.seeds}" + (f"<br>{k.steps:,}" if k.steps else "") for k in row]
        for row in table
    ]
    fig.data[0].update(text=texts, texttemplate="%{text}", textfont={"size": theme.FONT_SIZE})
    fig.data[0].update(hovertext=[[kept.right for kept in row] for row in table], hoverinfo="text")
    return fig
