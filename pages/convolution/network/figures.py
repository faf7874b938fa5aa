"""A network drawn: all maps on one sheet, the product that makes one unit, and the probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, bars, click_plane, image
from lab.figures.moving import Tree, per_frame, turning
from pages.convolution.network.lens import Look
from pages.convolution.network.sheet import HIGH, Corner, Ran

ABOVE = 30  # cells over the maps, for their names


def framed(color: str, corners: Sequence[Corner], width: int) -> dict[str, Any]:
    """A frame that stands elsewhere in each frame of the film."""
    left, top, right, bottom = np.array(corners).T
    return {"type": "rect", "line": {"color": color, "width": width}, "x0": per_frame(left),
            "x1": per_frame(right), "y0": per_frame(top), "y1": per_frame(bottom)}  # fmt: skip


def sheet(ran: Ran, looks: Sequence[Look], height: int = 250) -> Tree:
    """All maps, each layer's divided by its largest value; layers that have not been computed are veiled."""
    z = array(ran.sheet)
    wide = z.shape[1]
    fig = image(z, zmin=0, zmax=1, height=height, hover=False)
    fig.data[0].hoverinfo = "skip"
    fig.add_trace(click_plane(np.arange(wide), np.arange(HIGH)))
    fig.layout.xaxis.range = [-0.5, wide + 3.5]
    fig.layout.yaxis.range = [HIGH + 3.5, -ABOVE - 0.5]
    fig.update_layout(plot_bgcolor=theme.grid(), meta=theme.SHRINKING)
    fig.layout.annotations = [
        {"x": (column.frame[0] + column.frame[2]) / 2, "y": -3.5, "showarrow": False, "yanchor": "bottom",
         "text": f"{column.short}<br>{len(column.maps)} × {column.maps.shape[-1]}²",
         "font": {"size": theme.FONT_SIZE - 4}}
        for column in ran.columns
    ]  # fmt: skip
    tree = fig.to_plotly_json()
    edges = [column.frame for column in ran.columns]
    ends = [edge[2] + 2 for edge in edges] + [wide + 99.0]  # at the logits all maps are there
    veil = {"type": "rect", "line": {"width": 0}, "fillcolor": theme.fade(theme.paper(), 0.9),
            "x0": per_frame(ends), "x1": wide + 199, "y0": -1.5, "y1": HIGH + 9}  # fmt: skip
    shapes = [
        veil,
        framed(theme.BLUE, [look.product.read for look in looks], 3),
        framed(theme.VERMILLION, [look.home for look in looks], 3),
        framed(theme.VERMILLION, [look.place for look in looks], 4),
    ]
    return tree | {"layout": tree["layout"] | {"shapes": shapes}}


def padded(x: Any, side: int) -> np.ndarray:
    """A small matrix in the middle of one of NaN, (side, side); None is all NaN."""
    result = np.full((side, side), np.nan)
    if x is not None:
        z = array(x)
        top, left = ((side - n) // 2 for n in z.shape)
        result[top : top + z.shape[0], left : left + z.shape[1]] = z
    return result


def product(looks: Sequence[Look], height: int = 240) -> Tree:
    """Patch × kernel = products, from layer to layer, each divided by its largest number; a pooling has a
    patch alone."""
    side = max(max(look.product.patch.shape) for look in looks if look.product.patch is not None)
    names = ("patch", "kernel", "products")
    fig = make_subplots(rows=1, cols=3, horizontal_spacing=0.09, subplot_titles=names)
    frames = [np.stack([padded(getattr(look.product, name), side) for look in looks]) for name in names]
    for index, values in enumerate(frames, 1):
        fig.add_heatmap(
            z=values[0], zmin=-1, zmax=1, colorscale=theme.scale("diverging"), showscale=False,
            xgap=2, ygap=2, hoverinfo="skip", row=1, col=index,
        )  # fmt: skip
    for index, sign in ((1, "×"), (2, "=")):
        left, right = (fig.layout[f"xaxis{n if n > 1 else ''}"].domain for n in (index, index + 1))
        fig.add_annotation(x=(left[1] + right[0]) / 2, y=0.5, xref="paper", yref="paper", text=sign,
                           showarrow=False, font={"size": 26})  # fmt: skip
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False, autorange="reversed")
    fig.update_layout(height=height, margin={"t": 40, "l": 4, "r": 4, "b": 4})
    tree: Tree = fig
    for trace, values in enumerate(frames):
        reach = np.nan_to_num(np.abs(values)).max((1, 2), keepdims=True)
        tree = turning(tree, trace, z=values / np.where(reach > 0, reach, 1))
    return tree


def probabilities(ran: Ran, looks: Sequence[Look], off: bool, height: int = 240) -> Tree:
    """Probabilities of the classes, and what they are without the framed map where that is switched off."""
    p = array(ran.logits.softmax(0))
    names = [str(k) for k in range(len(p))]
    if not off:
        fig = bars(names, p, highlight=int(p.argmax()), probability=True, ylabel="probability", height=height)
        return turning(fig, y=np.tile(p, (len(looks), 1)))
    fig = bars(names, p, baseline=p, probability=True, ylabel="probability", height=height,
               names=("without the map", "all maps"))  # fmt: skip
    return turning(fig, 1, y=np.stack([array(look.without) for look in looks]))
