"""Size by block and its growth; units of one example by block; sizes by layer of several starts."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, resting, turning, unrolling
from pages.convolution.variance.start import STARTS, Started
from pages.convolution.variance.through_depth import Cloud, Measured

HEIGHT = 480
NAMES, COLORS = ("E[h²]", "batch variance"), (theme.INPUT, theme.OUTPUT)
FAR = 12.0  # powers of ten up to which sizes are drawn


def dots(x: Any, rows: Any, color: str) -> go.Scatter:
    return go.Scatter(x=array(x), y=array(rows), mode="markers", marker={"size": 11, "color": color},
                      showlegend=False, hoverinfo="skip")  # fmt: skip


def by_block(one: Measured) -> Tree:
    """Both sizes after each block: theory as lines, the draw of the frame as dots, all draws faint."""
    K = len(one.theory) - 1
    blocks, measured = np.arange(K + 1), [array(one.second), array(one.batch)]
    lines = dict(zip(NAMES, array(one.expected), strict=True))
    every = np.concatenate([v.ravel() for v in (*measured, *lines.values())])
    log = bool(every.max() / every.min() > 30) and not one.adds
    fig = basic.curves(lines, blocks, xlabel="block k", ylabel="after block k", log_y=log, ends=True,
                       colors=dict(zip(NAMES, COLORS, strict=True)), height=HEIGHT)  # fmt: skip
    for rows, color in zip(measured, COLORS, strict=True):
        faint = dots(np.tile(blocks, len(rows)), rows.ravel(), theme.fade(color, 0.25))
        fig.add_trace(faint.update(marker_size=7))
    for rows, color in zip(measured, COLORS, strict=True):
        fig.add_trace(dots(blocks, rows[0], color))
    low, high = (np.log10(every.min()), np.log10(every.max())) if log else (0.0, every.max())
    room = 0.06 * (high - low or 1.0)
    fig.update_yaxes(range=[low - room * log, high + room], exponentformat="power",
                     dtick=np.ceil((high - low) / 8) if log else None)  # fmt: skip
    fig.update_xaxes(range=[-0.03 * K, 1.03 * K])
    fig.update_layout(showlegend=False)
    tree: Tree = fig.to_plotly_json()
    for i, rows in enumerate(measured):
        tree = turning(tree, 4 + i, y=rows)
    return tree


def growth(one: Measured) -> Tree:
    """What each block multiplies the sizes by, or adds to them."""
    measured, theory = (array(v) for v in one.growth)
    blocks = np.arange(1, theory.shape[1] + 1)
    fig = basic.curves(dict(zip(NAMES, theory, strict=True)), blocks, xlabel="block k", ends=False,
                       ylabel="a block adds" if one.adds else "a block multiplies by",
                       colors=dict(zip(NAMES, COLORS, strict=True)), height=HEIGHT)  # fmt: skip
    for rows, color in zip(measured, COLORS, strict=True):
        fig.add_trace(dots(blocks, rows[0], color))
    high = float(max(measured.max(), theory.max()))
    low = float(min(measured.min(), theory.min()))
    room = 0.08 * (high - low) or 0.1
    fig.update_yaxes(range=[max(0.0, low - room) if low >= 0 else low - room, high + room])
    fig.update_xaxes(range=[0.5, len(blocks) + 0.5])
    fig.update_layout(showlegend=False)
    tree: Tree = fig.to_plotly_json()
    for i, rows in enumerate(measured):
        tree = turning(tree, 2 + i, y=rows)
    return tree


def cloud(one: Cloud) -> Tree:
    """A line for each unit, drawn block by block."""
    h = array(one.h)
    fig = go.Figure()
    for unit in h.T:
        color = theme.NEGATIVE if unit[0] < 0 else theme.POSITIVE
        fig.add_scatter(x=np.arange(len(h)), y=unit, mode="lines", hoverinfo="skip", showlegend=False,
                        line={"color": theme.fade(color, 0.65), "width": 2})  # fmt: skip
    basic.rule(fig, x=0, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_xaxes(title="block k", range=[-0.2, len(h) - 0.8])
    fig.update_yaxes(title="units of hₖ", zeroline=True, zerolinewidth=3)
    fig.update_layout(height=HEIGHT)
    return unrolling(fig)


def below(one: Cloud) -> Tree:
    """Share of the units below 0 after each block."""
    share = 100 * array(one.below)
    fig = basic.curves({"below 0": share}, xlabel="block k", ylabel="units below 0, %", height=HEIGHT,
                       colors={"below 0": theme.HIDDEN})  # fmt: skip
    fig.update_yaxes(range=[-4, 104], tickvals=[0, 50, 100])
    return resting(fig, (np.arange(len(share)), share, theme.VERMILLION))


# --- Start ----------------------------------------------------------------------------------------------

OF_START = (theme.HIDDEN, theme.PURPLE, theme.VERMILLION, theme.BLACK, theme.GREEN, theme.SKY, theme.INPUT)


def sizes(one: Started, backward: bool) -> Tree:
    """Root mean square by layer of each start on a logarithmic axis, the draw of the frame."""
    z = array(one.sizes)  # (M, F, L + 1)
    L = z.shape[-1] - 1
    with np.errstate(divide="ignore"):
        powers = np.where(z > 0, np.log10(z), np.nan)
    seen = powers[np.isfinite(powers)].clip(-FAR, FAR)
    low, high = min(float(seen.min()), -1.0), max(float(seen.max()), 1.0)
    shown = np.where((powers >= low - 1) & (powers <= high + 1), powers, np.nan)
    colors = {n: theme.text() if c == theme.BLACK else c for n, c in zip(STARTS, OF_START, strict=True)}
    fig = basic.curves({n: shown[m, 0] for m, n in enumerate(STARTS)}, colors=colors, height=HEIGHT,
                       xlabel="layer", ylabel="over that of the " + ("last layer" if backward else "input"),
                       ends=True)  # fmt: skip
    fig.data[-1].line.width, fig.data[5].line.dash = 6, "dash"
    step = 1 if high - low <= 6 else 4
    marks = np.arange(np.ceil(low), np.floor(high) + 1)
    marks = marks[marks % step == 0]
    fig.update_yaxes(range=[low - 0.3, high + 0.3], tickvals=marks,
                     ticktext=["1" if m == 0 else f"10<sup>{m:.0f}</sup>" for m in marks])  # fmt: skip
    fig.update_xaxes(range=[0, L])
    tree: Tree = fig.to_plotly_json()
    for m in range(len(STARTS)):
        tree = turning(tree, m, y=shown[m])
    return tree
