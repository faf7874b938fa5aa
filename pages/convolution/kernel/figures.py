"""A kernel drawn: at work on a signal, and as the matrix that it is."""

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.basic import array, heatmap
from modules.trace import Trace


def reading(n: int, reads: Any) -> list[str]:
    """The colours of n inputs while some are read."""
    now = {int(i) for i in array(reads) if i >= 0}
    return [theme.INPUT if i in now else theme.fade(theme.INPUT, 0.3) for i in range(n)]


def writing(n: int, at: int) -> list[str]:
    """The colours of n outputs: the one that is written full, later ones not to be seen."""
    return [theme.OUTPUT if i == at else theme.fade(theme.OUTPUT, 0.4 if i < at else 0.0) for i in range(n)]


def sliding_frames(x: Any, trace: Trace) -> dict[str, list[list[str]]]:
    """The colours of `sliding` at every step."""
    return {
        "data.0.marker.color": [reading(len(x), step.values["reads"]) for step in trace],
        "data.1.marker.color": [writing(len(trace), at) for at in range(len(trace))],
    }


def sliding(x: Any, reads: Any, output: Any, at: int, height: int = 380) -> go.Figure:
    """A kernel at work: the signal (n,) with the inputs it `reads` now, the outputs up to `at` below."""
    values, done = array(x).astype(float), array(output).astype(float)
    fig = make_subplots(rows=2, cols=1, vertical_spacing=0.16)
    fig.add_bar(
        x=list(range(len(values))), y=values, row=1, col=1,
        marker={"color": reading(len(values), reads)},
    )  # fmt: skip
    fig.add_bar(
        x=list(range(len(done))), y=done, row=2, col=1,
        marker={"color": writing(len(done), at)},
    )  # fmt: skip
    fig.update_xaxes(title="input", range=[-0.6, len(values) - 0.4], showgrid=False, row=1, col=1)
    fig.update_xaxes(title="output", range=[-0.6, len(done) - 0.4], showgrid=False, row=2, col=1)
    fig.update_layout(height=height, showlegend=False, bargap=0.15)
    return fig


def matrix(values: Any, row: int, height: int = 380) -> go.Figure:
    """A convolution as the matrix that it is, (outputs, inputs), one row framed."""
    z = array(values)
    fig = heatmap(z, scale="diverging", numbers=".2~g" if z.shape[1] <= 8 else False, colorbar=False,
                  xlabel="input", ylabel="output", height=height)  # fmt: skip
    fig.add_shape(
        type="rect", x0=-0.5, x1=z.shape[1] - 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": theme.ORANGE, "width": 4},
    )  # fmt: skip
    return fig
