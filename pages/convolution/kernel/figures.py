"""A kernel drawn: at work on a signal, and as the matrix that it is."""

from typing import Any

import numpy as np
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, per_frame, turning
from modules.trace import Trace


def reading(n: int, reads: Any) -> list[str]:
    """The colours of n inputs while some are read."""
    now = {int(i) for i in array(reads) if i >= 0}
    return [theme.INPUT if i in now else theme.fade(theme.INPUT, 0.3) for i in range(n)]


def writing(n: int, at: int) -> list[str]:
    """The colours of n outputs: the one that is written full, later ones not to be seen."""
    return [theme.OUTPUT if i == at else theme.fade(theme.OUTPUT, 0.4 if i < at else 0.0) for i in range(n)]


def sliding(x: Any, trace: Trace, height: int = 380) -> Tree:
    """A kernel at work: the signal (n,) with the inputs that each step reads, the outputs so far below."""
    values, done = array(x).astype(float), array(trace.result).astype(float)
    fig = make_subplots(rows=2, cols=1, vertical_spacing=0.16)
    fig.add_bar(x=list(range(len(values))), y=values, row=1, col=1)
    fig.add_bar(x=list(range(len(done))), y=done, row=2, col=1)
    fig.update_xaxes(title="input", range=[-0.6, len(values) - 0.4], showgrid=False, row=1, col=1)
    fig.update_xaxes(title="output", range=[-0.6, len(done) - 0.4], showgrid=False, row=2, col=1)
    fig.update_layout(height=height, showlegend=False, bargap=0.15)
    reads = [reading(len(values), step.values["reads"]) for step in trace]
    writes = [writing(len(done), at) for at in range(len(done))]
    return turning(turning(fig, marker={"color": reads}), 1, marker={"color": writes})


def matrix(values: Any, height: int = 380) -> Tree:
    """A convolution as the matrix that it is, (outputs, inputs), the row of each step framed."""
    z = array(values)
    fig = heatmap(z, scale="diverging", numbers=".2~g" if z.shape[1] <= 8 else False, colorbar=False,
                  xlabel="input", ylabel="output", height=height)  # fmt: skip
    fig.add_shape(type="rect", x0=-0.5, x1=z.shape[1] - 0.5, line={"color": theme.ORANGE, "width": 4})
    tree, rows = fig.to_plotly_json(), np.arange(len(z))
    tree["layout"]["shapes"][0] |= {"y0": per_frame(rows - 0.5), "y1": per_frame(rows + 0.5)}
    return tree
