"""Bars of a vector and its norms, outputs of a batch, gradients by layer, paths through residual layers."""

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import bars, curves
from lab.figures.moving import Tree, heatmaps, marking, per_frame, resting, turning
from pages.transformer.norms import depths, lens
from pages.transformer.norms.room import DEPTHS, FACTORS

HEIGHT = 460
COLORS = {"pre": theme.INPUT, "post": theme.ORANGE, "none": theme.VERMILLION}


def given(one: lens.Vector) -> go.Figure:
    """The vector itself."""
    names = [f"x{i + 1}" for i in range(len(one.x))]
    return bars(names, one.x, color=theme.INPUT, title="x", height=HEIGHT)


def normed(one: lens.Vector) -> go.Figure:
    """Its norms side by side, and what is claimed."""
    names = [f"{i + 1}" for i in range(len(one.x))]
    series = {"LayerNorm": (one.layer, theme.ATTENTION), "RMSNorm": (one.rms, theme.GREEN)}
    if len(one.claimed):
        series["claimed"] = (one.claimed, theme.HIDDEN)
    fig = go.Figure(
        [go.Bar(x=names, y=y, name=name, marker={"color": color}) for name, (y, color) in series.items()],
        {"barmode": "group", "height": HEIGHT, "showlegend": True, "xaxis": {"title": "feature"},
         "yaxis": {"title": "after the norm"}},
    )  # fmt: skip
    fig.update_xaxes(type="category")
    return fig


def labels(values: np.ndarray) -> tuple[list[str], list[str]]:
    _, n, d = values.shape
    return [f"x{i + 1}" for i in range(d)], [str(i + 1) for i in range(n)]


def outputs(one: lens.Change) -> Tree:
    """Outputs of all rows."""
    most = float(np.abs(one.outputs).max()) or 1.0
    return heatmaps(one.outputs, *labels(one.outputs), "output", scale="diverging", zmin=-most, zmax=most,
                    numbers=".2f", colorbar=False, ylabel="row", height=HEIGHT)  # fmt: skip


def apart(one: lens.Change) -> Tree:
    """How far the outputs are from what they were."""
    most = float(one.apart.max()) or 1.0
    return heatmaps(one.apart, *labels(one.apart), "change of the output", zmin=0, zmax=most, numbers=".2f",
                    colorbar=False, ylabel="row", height=HEIGHT)  # fmt: skip


def by_layer(part: str) -> Tree:
    """Norm of the gradient over the layer, at each depth."""
    found = depths.gradients(part)
    most = max(DEPTHS)
    x = np.arange(1, most + 1)
    padded = {
        name: np.array([np.pad(v, (0, most - len(v)), constant_values=np.nan) for v in values])
        for name, values in found.items()
    }
    fig = curves({name: values[-1] for name, values in padded.items()}, x, log_y=True, colors=COLORS,
                 xlabel="layer", ylabel="norm of the gradient", title="by layer", markers=True,
                 height=HEIGHT)  # fmt: skip
    every = np.concatenate([values.ravel() for values in padded.values()])
    low, high = np.nanmin(every), np.nanmax(every)
    fig.update_yaxes(range=[np.log10(low) - 0.5, np.log10(high) + 0.5], exponentformat="power")
    tree: Tree = fig.to_plotly_json()
    for i, values in enumerate(padded.values()):
        tree = turning(tree, i, y=values)
    layout = dict(tree["layout"])
    layout["xaxis"] = dict(layout["xaxis"]) | {"range": per_frame([[0.5, depth + 0.5] for depth in DEPTHS])}
    return {"data": tree["data"], "layout": layout}


def by_depth(part: str) -> Tree:
    """Norm of the gradient in the first layer over the depth."""
    found = depths.gradients(part)
    fig = curves({name: [v[0] for v in values] for name, values in found.items()}, DEPTHS, mark=DEPTHS[0],
                 log_y=True, colors=COLORS, markers=True, xlabel="depth L", title="in the first layer",
                 ylabel="norm of the gradient", height=HEIGHT)  # fmt: skip
    fig.update_xaxes(tickvals=list(DEPTHS))
    fig.update_yaxes(exponentformat="power")
    return marking(fig, DEPTHS)


def slope(one: depths.Jacobian) -> Tree:
    """The Jacobian over w."""
    fig = curves({"dy/dx": one.slopes}, FACTORS, mark=FACTORS[0], colors={"dy/dx": theme.ATTENTION},
                 xlabel="slope w of each sublayer", ylabel="dy/dx", height=HEIGHT)  # fmt: skip
    return resting(marking(fig, list(FACTORS)), (list(FACTORS), one.slopes.tolist(), theme.OUTPUT))


def paths(one: depths.Jacobian) -> Tree:
    """What the paths through k sublayers give."""
    names = [str(k) for k in range(one.terms.shape[1])]
    fig = bars(names, one.terms[0], color=theme.ATTENTION, xlabel="sublayers k on the path",
               ylabel="sum over these paths", height=HEIGHT)  # fmt: skip
    fig.update_traces(hovertext=None, hoverinfo="x+y")
    most = float(np.abs(one.terms).max()) * 1.06
    tree = turning(fig, y=one.terms)
    reach = np.maximum(np.abs(one.terms).max(1), 1) * 1.1
    layout = dict(tree["layout"])
    ranges = [[-min(r, most), min(r, most)] for r in reach.tolist()]
    layout["yaxis"] = dict(layout["yaxis"]) | {"range": per_frame(ranges)}
    return {"data": tree["data"], "layout": layout}
