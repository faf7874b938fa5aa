"""A picture that grows, where a head looks, the conditional of a pixel; completions, positions, probes."""

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from lab.figures import raster, theme
from lab.figures.basic import array, bars, heatmap
from lab.figures.moving import Tree, heatmaps, resting, turning
from pages.transformer.pixels.lens import Completed, Drawn
from pages.transformer.pixels.probe import Probed


def rings(places: list[int], width: int) -> dict[str, list[list[float]]]:
    """Column and row of a frame around one pixel, for each frame."""
    return {"x": [[p % width] for p in places], "y": [[p // width] for p in places]}


def picture(one: Drawn, width: int, levels: int) -> Tree:
    """The picture so far; the present pixel is framed."""
    known = torch.stack([one.picture(f) for f in range(len(one.places))]) / (levels - 1)
    z = array(known).reshape(-1, width, width)
    tree = turning(raster.canvas(known[0], width, one.places[0], title="picture"), 0, z=z)
    tree = turning(tree, 1, z=np.where(np.isnan(z), 1.0, np.nan))
    return turning(tree, 2, **rings(one.places, width))


def looks(one: Drawn, width: int, head: str) -> Tree:
    """Weights of the head that the present pixel is drawn by, on the pixels before it."""
    values = array(one.attention).reshape(-1, width, width)
    tree = heatmaps(
        values, None, None, f"attention of head {head}", scale="violet", square=True, colorbar=False, zmin=0,
        zmax=float(np.nanmax(values, initial=1e-6)), height=400,
    )  # fmt: skip
    for axis in ("xaxis", "yaxis"):
        tree["layout"][axis] |= {"visible": False}
    edge = {"color": theme.HIDDEN, "width": 1}  # of the picture: most weights are 0, and white
    tree["layout"]["shapes"] = [
        {"type": "rect", "x0": -0.5, "x1": width - 0.5, "y0": -0.5, "y1": width - 0.5, "line": edge}
    ]
    ring = raster.ring(one.places[0] % width, one.places[0] // width, width).to_plotly_json()
    tree["data"] = [*tree["data"], ring]
    return turning(tree, len(tree["data"]) - 1, **rings(one.places, width))


def conditional(one: Drawn) -> Tree:
    """p of every level of the present pixel; a dot on the one that is drawn."""
    K = one.p.shape[1]
    fig = bars([str(k) for k in range(K)], one.p[0], xlabel="level", ylabel="p", probability=True,
               title="conditional", height=400)  # fmt: skip
    some = list(range(0, K, max(1, K // 4)))
    fig.update_xaxes(tickvals=some, ticktext=[str(k) for k in some], tickangle=0)
    fig.update_traces(hovertext=None, hovertemplate="level %{x}: %{y:.3f}<extra></extra>")
    values = one.x[one.places]
    tops = one.p.gather(1, values.long()[:, None])[:, 0]
    labels = [str(int(v)) for v in values]
    return resting(turning(fig, y=one.p), (labels, tops.tolist(), theme.VERMILLION))


def completions(one: Completed, width: int, levels: int) -> go.Figure:
    """Completed pictures; what was given in full ink."""
    return raster.completions(one.pictures / (levels - 1), one.known, width, columns=4)


def given(one: Completed, width: int, levels: int) -> go.Figure:
    return raster.canvas(one.given / (levels - 1), width, title="given")


def similar(values: Tensor, width: int) -> Tree:
    """Similarity of every position to that of the frame."""
    maps = array(values).reshape(-1, width, width)
    tree = heatmaps(maps, None, None, "similarity to the framed pixel", scale="diverging", square=True,
                    zmin=-1, zmax=1, height=400)  # fmt: skip
    tree["data"] = [*tree["data"], raster.ring(0, 0, width).to_plotly_json()]
    return turning(tree, len(tree["data"]) - 1, **rings(list(range(len(maps))), width))


def offsets(values: Tensor) -> go.Figure:
    """Mean similarity by rows and columns apart."""
    reach = len(values) // 2
    names = [f"{d:+d}".replace("-", "−") if d else "0" for d in range(-reach, reach + 1)]
    return heatmap(
        values, names, names, "mean of all pixels", "diverging", zmin=-1, zmax=1, numbers=".2f",
        xlabel="columns apart", ylabel="rows apart", colorbar=False, square=True, height=400,
    )  # fmt: skip


def probes(one: Probed) -> go.Figure:
    """Accuracy of each probe, mean over seeds, with their standard deviation."""
    mean, sd = one.accuracy.mean(1), one.accuracy.std(1)
    best = int(mean[:-1].argmax())
    fig = bars(
        one.names, mean, [best, len(mean) - 1], ylabel=f"right of {one.tested} test digits", probability=True
    )
    fig.update_traces(error_y={"type": "data", "array": array(sd), "thickness": 2})
    fig.update_traces(
        text=[f"{m:.3f}" for m in mean.tolist()], textposition="inside", insidetextanchor="middle",
        textangle=0,
    )  # fmt: skip
    return fig
