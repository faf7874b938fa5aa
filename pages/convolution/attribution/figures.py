"""Maps over a digit or along a signal, tile by tile, and curves beside them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from plotly.subplots import make_subplots
from torch import Tensor

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, resting, turning
from lab.lenses.attribution import Path
from pages.convolution.attribution.lens import OF_GRADIENTS, Asked, Cascade, Deletion
from pages.convolution.attribution.room import CAM, GRADIENT, INTEGRATED, OCCLUSION, RANDOM, TIMES

SHORT = {GRADIENT: "gradient", TIMES: "grad × input", CAM: "Grad-CAM", OCCLUSION: "occlusion",
         INTEGRATED: "integrated", RANDOM: "random"}  # fmt: skip
COLORS = {GRADIENT: theme.HIDDEN, TIMES: theme.SKY, CAM: theme.GREEN, OCCLUSION: theme.PURPLE,
          INTEGRATED: theme.BLUE, RANDOM: theme.VERMILLION}  # fmt: skip
HEIGHT = 520
INPUTS = ("input", "αx + (1 − α)x′")  # tiles of ink, not of a map


def scaled(values: Any, each: bool) -> np.ndarray:
    """Values (F, positions...) in [−1, 1]: over all frames, or in each frame by itself."""
    v = array(values).astype(np.float32)
    reach = np.abs(v).reshape(len(v), -1).max(1)
    reach = reach if each else np.full_like(reach, reach.max())
    reach[reach == 0] = 1
    return v / reach.reshape(-1, *[1] * (v.ndim - 1))


def tiles(x: Tensor, maps: Mapping[str, Any], columns: int, each: bool = False) -> Tree:
    """Maps (F, positions...) by name, each on a scale of its own, over the outline of x (positions...).

    Args:
        each: a scale of its own in every frame too.
    """
    rows = -(-len(maps) // columns)
    fig = make_subplots(
        rows=rows, cols=columns, subplot_titles=list(maps), horizontal_spacing=0.03, vertical_spacing=0.12
    )
    fig.update_annotations(font_size=theme.FONT_SIZE - 1)
    turns: dict[int, dict[str, Any]] = {}
    for k, (name, values) in enumerate(maps.items()):
        at = {"row": k // columns + 1, "col": k % columns + 1}
        draw = picture if x.ndim == 2 else signal
        frames = array(values) if name in INPUTS else scaled(values, each)
        for trace, leaf in draw(x, frames, name in INPUTS):
            turns[len(fig.data)] = leaf
            fig.add_trace(trace, **at)
    fig.update_xaxes(visible=False, constrain="domain")
    fig.update_yaxes(visible=False)
    if x.ndim == 2:
        for k in range(1, len(maps) + 1):
            fig.update_layout({f"yaxis{k}": {"scaleanchor": f"x{k}", "constrain": "domain"}})
        fig.update_yaxes(range=[x.shape[0] - 0.5, -0.5])
        fig.update_xaxes(range=[-0.5, x.shape[1] - 0.5])
    fig.update_layout(height=HEIGHT, margin={"l": 4, "r": 4, "t": 40, "b": 4}, showlegend=False, bargap=0.1)
    tree: Tree = fig.to_plotly_json()
    for trace, leaf in turns.items():
        if len(next(iter(leaf.values()), ())) > 1:
            tree = turning(tree, trace, **leaf)
    return tree


def picture(x: Tensor, frames: np.ndarray, ink: bool) -> list[tuple[Any, dict[str, Any]]]:
    """Traces of a tile and what turns of each: a heat map, the digit's outline over it."""
    low, colors = (0.0, theme.scale("grey")) if ink else (-1.0, theme.scale("diverging"))
    heat = go.Heatmap(
        z=frames[0], zmin=low, zmax=1.0, colorscale=colors, showscale=False,
        hovertemplate="row %{y}, column %{x}: %{z:.3f}<extra></extra>",
    )  # fmt: skip
    if ink:
        return [(heat, {"z": frames})]
    outline = go.Contour(
        z=array(x), contours={"start": 0.5, "end": 0.5, "size": 1, "coloring": "none"}, showscale=False,
        line={"color": theme.soft(), "width": 2}, hoverinfo="skip",
    )  # fmt: skip
    return [(heat, {"z": frames}), (outline, {})]


def signal(x: Tensor, frames: np.ndarray, ink: bool) -> list[tuple[Any, dict[str, Any]]]:
    """Traces of a tile and what turns of each: bars up and down, the signal over them."""
    at = list(range(len(x)))
    if ink:
        line = {"color": theme.INPUT, "width": 3}
        return [(go.Scatter(x=at, y=frames[0], mode="lines", line=line), {"y": frames})]
    high, low = frames.clip(0), frames.clip(max=0)
    reach = float(x.abs().max()) or 1.0
    return [
        (go.Bar(x=at, y=high[0], marker={"color": theme.POSITIVE}), {"y": high}),
        (go.Bar(x=at, y=low[0], marker={"color": theme.NEGATIVE}), {"y": low}),
        (go.Scatter(x=at, y=array(x) / reach, mode="lines", hoverinfo="skip",
                    line={"color": theme.soft(), "width": 2}), {}),
    ]  # fmt: skip


def logits(one: Asked) -> go.Figure:
    """Logits of the classes, those that are asked for in full colour."""
    chosen = [k for k in (one.target, one.against) if k is not None]
    names = [str(k) for k in range(len(one.logits))]
    fig = basic.bars(
        names, one.logits, chosen, horizontal=True, xlabel="logit", ylabel="class", height=HEIGHT
    )
    return fig.update_xaxes(nticks=4)


def sums(alphas: Tensor, reached: Tensor, change: Tensor) -> Tree:
    """The sum of the attributions and the change of S along the way, dots where the frame is."""
    fig = basic.curves(
        {"S(α) − S(0)": array(change), "sum": array(reached)}, array(alphas), xlabel="α", height=HEIGHT,
        colors={"S(α) − S(0)": theme.HIDDEN, "sum": theme.BLUE},
    )  # fmt: skip
    fig.data[1].line.dash = "dash"
    fig.update_xaxes(range=[-0.04, 1.04], nticks=3)
    a = array(alphas)
    return resting(fig, (a, array(change), theme.HIDDEN), (a, array(reached), theme.BLUE))


def correlations(result: Cascade) -> Tree:
    """Correlation with the map of the trained network, by the number of random layers."""
    rows = {SHORT[name]: row for name, row in zip(OF_GRADIENTS, array(result.correlations), strict=True)}
    colors = {SHORT[name]: COLORS[name] for name in OF_GRADIENTS}
    places = list(range(result.correlations.shape[1]))
    fig = basic.curves(rows, places, xlabel="random layers", ylabel="rank correlation", colors=colors,
                       height=HEIGHT, markers=True)  # fmt: skip
    fig.update_yaxes(range=[min(-0.08, float(result.correlations.min()) - 0.08), 1.08], nticks=5)
    fig.update_xaxes(dtick=1, range=[-0.3, places[-1] + 0.3])
    dots = [(places, list(row), colors[name]) for name, row in rows.items()]
    return resting(fig, *dots, size=18)


def losses(result: Deletion, method: str) -> Tree:
    """S as inputs go, in the order of each map; a dot on the chosen one."""
    share = array(result.share)
    names = [name for name in result.scores if name != method] + [method]
    fig = basic.curves(
        {SHORT[name]: (share, array(result.scores[name])) for name in names}, xlabel="share gone", ylabel="S",
        colors={SHORT[name]: COLORS[name] for name in names}, height=HEIGHT,
    )  # fmt: skip
    for trace, name in zip(fig.data, names, strict=True):
        trace.line.width = 5 if name == method else 2
        trace.line.dash = "dot" if name == RANDOM else "solid"
    fig.update_xaxes(tickformat=".0%", nticks=3, range=[-0.03, 1.03])
    return resting(fig, (share, array(result.scores[method]), COLORS[method]), size=18)


def remaining(x: Tensor, result: Deletion, baseline: float) -> Tree:
    """What is left of the input, and what is gone in red."""
    gone = array(result.gone)
    if x.ndim == 2:
        fig = basic.image(x, height=HEIGHT, hover=False)
        veil = np.where(gone, 1.0, np.nan).astype(np.float32)
        fig.add_trace(
            go.Heatmap(z=veil[0], zmin=0, zmax=1, showscale=False, hoverinfo="skip",
                       colorscale=[[0, theme.fade(theme.VERMILLION, 0.35)],
                                   [1, theme.fade(theme.VERMILLION, 0.35)]])
        )  # fmt: skip
        return turning(turning(fig, z=result.inputs), 1, z=veil)
    at = list(range(len(x)))
    fig = basic.curves({"input": array(x)}, at, xlabel="input", ylabel="value", height=HEIGHT,
                       colors={"input": theme.INPUT})  # fmt: skip
    dots = np.where(gone, baseline, np.nan)
    fig.add_scatter(x=at, y=dots[0], mode="markers", marker={"size": 10, "color": theme.VERMILLION})
    fig.update_layout(showlegend=False)
    return turning(turning(fig, y=result.inputs), 1, y=dots)


def single(maps: Mapping[str, Tensor]) -> dict[str, Any]:
    """Maps of one frame, by their short names."""
    return {SHORT[name]: values[None] for name, values in maps.items()}


def along(path: Path) -> dict[str, Any]:
    """Tiles of a way: the input, the gradient of the step that ends here, what it adds, and the sum."""
    start = torch.zeros_like(path.gradients[:1])
    return {
        INPUTS[1]: path.points[:, 0],
        "gradient": torch.cat([start, path.gradients]),
        "this step adds": torch.cat([start, path.sums.diff(dim=0)]),
        "sum so far": path.sums,
    }
