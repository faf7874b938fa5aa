"""A kernel drawn: at work on a signal, and as the matrix that it is."""

from typing import Any

import numpy as np
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, heatmap, ticks
from lab.figures.moving import Tree, per_frame, turning
from pages.convolution.kernel.lens import Slid


def reading(n: int, reads: Any) -> list[str]:
    """The colours of n inputs while some are read."""
    now = {int(i) for i in array(reads) if i >= 0}
    return [theme.INPUT if i in now else theme.fade(theme.INPUT, 0.3) for i in range(n)]


def writing(n: int, at: int) -> list[str]:
    """The colours of n outputs: the one that is written full, later ones not to be seen."""
    return [theme.OUTPUT if i == at else theme.fade(theme.OUTPUT, 0.4 if i < at else 0.0) for i in range(n)]


def sliding(result: Slid, height: int = 380) -> Tree:
    """A kernel at work, every position above the next row's: the signal with the inputs that a step reads
    (crosses are padding), the kernel where it stands, the outputs so far at the middle of what they read."""
    values, done, window = (
        array(result.x[0]).astype(float),
        array(result.trace.result).astype(float),
        result.window,
    )
    n, p = len(values), window.padding
    reads = np.arange(len(done))[:, None] * window.stride - p + np.arange(window.kernel) * window.dilation
    middles, padded = reads.mean(1), [*range(-p, 0), *range(n, n + p)]
    fig = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.09, row_heights=[0.4, 0.2, 0.4])
    fig.add_bar(x=list(range(n)), y=values, row=1, col=1)
    fig.add_bar(x=reads[0], y=result.taps, row=2, col=1)
    fig.update_traces(
        selector=1, marker_color=[theme.POSITIVE if w > 0 else theme.NEGATIVE for w in result.taps]
    )
    fig.add_bar(x=list(middles), y=list(done), row=3, col=1)
    fig.update_traces(width=0.8)
    fig.add_scatter(
        x=padded, y=[0] * len(padded), mode="markers", hovertext="zero padding", hoverinfo="text",
        marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": theme.HIDDEN}},
        row=1, col=1,
    )  # fmt: skip
    fig.update_xaxes(range=[min(-p, 0) - 0.6, n + p - 0.4], showgrid=False, zeroline=False)
    fig.update_xaxes(ticks(None, n) | {"showticklabels": True}, row=1, col=1)
    labels = ticks(None, len(done))
    fig.update_xaxes(
        tickvals=[middles[i] for i in labels["tickvals"]], ticktext=labels["tickvals"], row=3, col=1
    )
    for row, name in enumerate(("input x", "kernel", "output"), 1):
        fig.update_yaxes(title=name, nticks=4 if row == 2 else 6, row=row, col=1)
    fig.add_vrect(
        x0=0, x1=1, row=1, col=1, line_width=0, fillcolor=theme.fade(theme.OUTPUT, 0.15), layer="below"
    )
    fig.update_layout(height=height, showlegend=False)
    colors = [reading(n, step.values["reads"]) for step in result.trace]
    tree = turning(turning(fig, marker={"color": colors}), 1, x=reads)
    tree = turning(tree, 2, marker={"color": [writing(len(done), at) for at in range(len(done))]})
    band = {"yref": "paper", "y0": fig.layout.yaxis2.domain[0], "y1": 1}
    tree["layout"]["shapes"][0] |= band | {
        "x0": per_frame(reads[:, 0] - 0.5),
        "x1": per_frame(reads[:, -1] + 0.5),
    }
    return tree


def matrix(values: Any, height: int = 380) -> Tree:
    """A convolution as the matrix that it is, (outputs, inputs), the row of each step framed."""
    z = array(values)
    fig = heatmap(z, scale="diverging", numbers=".2~g" if z.shape[1] <= 8 else False, colorbar=False,
                  xlabel="input", ylabel="output", height=height)  # fmt: skip
    fig.update_layout(plot_bgcolor=theme.grid())  # between cells, so that those of weight 0 are seen too
    fig.add_shape(type="rect", x0=-0.5, x1=z.shape[1] - 0.5, line={"color": theme.ORANGE, "width": 4})
    tree, rows = fig.to_plotly_json(), np.arange(len(z))
    tree["layout"]["shapes"][0] |= {"y0": per_frame(rows - 0.5), "y1": per_frame(rows + 0.5)}
    return tree
