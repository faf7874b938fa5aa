"""Grids of scores, token by token; lines over the length; bars of parts."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import bars, curves, heatmap, rule
from lab.figures.moving import Tree, turning
from pages.transformer.cost.room import LENGTHS

COLORS = {"weights": theme.HIDDEN, "scores and values": theme.ATTENTION, "KV cache": theme.ATTENTION,
          "softmax": theme.ATTENTION, "head": theme.OUTPUT,
          "of all heads": theme.SKY, "linear": theme.OUTPUT, "state space": theme.GREEN}  # fmt: skip


def scores(frames: np.ndarray, name: str) -> Tree:
    """Queries over keys: violet is computed now, grey was computed earlier."""
    T = len(frames)
    labels = [str(t) for t in range(1, T + 1)]
    fig = heatmap(
        frames[0], x=labels, y=labels, title=name, xlabel="key of token", ylabel="query of token",
        colorbar=False, square=True, hover=False, height=430, zmin=0, zmax=1,
    )  # fmt: skip
    shades = [[0, theme.fade(theme.HIDDEN, 0.1)], [0.5, theme.HIDDEN], [1, theme.ATTENTION]]
    fig.update_traces(colorscale=shades, hoverinfo="skip")
    if T > 12:
        for axis in (fig.update_xaxes, fig.update_yaxes):
            axis(tickvals=list(range(0, T, 3)), ticktext=labels[::3])
    return turning(fig, z=frames)


def over_length(lines: dict[str, list[float]], chosen: int, crossing: float, ylabel: str) -> Any:
    """Lines over T, both axes logarithmic; the chosen T, and where two lines cross."""
    fig = curves(
        {name: (list(LENGTHS), line) for name, line in lines.items()}, log_x=True, log_y=True, ends=True,
        colors=COLORS, xlabel="tokens in view T", ylabel=ylabel, height=430,
    )  # fmt: skip
    shown = LENGTHS[::4]
    fig.update_xaxes(tickvals=list(shown), ticktext=[f"{T:,}" for T in shown])
    fig.update_yaxes(exponentformat="power", nticks=7)
    rule(fig, x=chosen, line={"color": theme.text(), "width": 2})
    if LENGTHS[0] <= crossing <= LENGTHS[-1]:
        rule(
            fig, x=crossing, line={"color": theme.text(), "width": 2, "dash": "dot"},
            annotation={"text": f" cross at {crossing:,.0f} ", "y": 0.02, "yanchor": "bottom",
                        "xanchor": "right" if crossing > 20_000 else "left", "x": np.log10(crossing)},
        )  # fmt: skip
    return fig


def parts(counts: dict[str, int]) -> Any:
    """Parameters by part."""
    fig = bars(list(counts), list(counts.values()), horizontal=True, xlabel="parameters", height=430)
    fig.update_xaxes(exponentformat="SI", nticks=6)
    return fig


def training(flops: dict[str, float]) -> Any:
    """FLOPs of training by model, the last one ours."""
    names, values = list(flops), [v / 1e21 for v in flops.values()]
    return bars(names, values, highlight=len(names) - 1, horizontal=True, xlabel="10²¹ FLOPs", height=430)
