"""Two directions over the words of a sentence, and what follows for the tag of its homograph."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from datamodules.homographs import SENSES
from lab.figures import theme
from lab.figures.basic import array, bars, heatmap, ticks
from lab.figures.moving import Tree, per_frame, turning
from pages.recurrent.tagging import lens
from pages.recurrent.tagging.lens import Reading, Sentence
from pages.recurrent.tagging.room import STATE

BOTH, LEFT = "both ways", "from the left"


def directions(result: Reading, text: Sentence, show: str, sense: str) -> Tree:
    """Word by word: P of a sense on top, by both taggers; below what the units of either direction hold."""
    words, at = text.words, text.at
    labels = [f"<b>{word}</b>" if t == at else word for t, word in enumerate(words)]
    fig = make_subplots(
        rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.3, 0.35, 0.35]
    )
    places = list(range(at, len(words)))
    lines = {BOTH: (result.both, theme.OUTPUT), LEFT: (result.left, theme.HIDDEN)}
    for name, (p, color) in lines.items():
        fig.add_scatter(
            x=places, y=array(lens.of_sense(p, sense)), name=name, mode="lines+markers",
            line={"width": 3, "color": color}, marker={"size": 8}, row=1, col=1,
        )  # fmt: skip
    scale: theme.Scale = "diverging" if show == STATE else "probability"
    low = -1 if show == STATE else 0
    for row, way in enumerate(result.seen[-1], 2):
        map_ = heatmap(way, scale=scale, zmin=low, zmax=1, colorbar=row == 3, hover=False).data[0]
        map_.update(hoverinfo=None, hovertemplate="unit %{y}, word %{x}: %{z:.3f}<extra></extra>")
        fig.add_trace(map_, row=row, col=1)
    fig.data[-1].colorbar.update(len=0.7, y=0.35)
    fig.update_yaxes(title=f"P({sense})", range=[-0.05, 1.05], tickvals=[0, 0.5, 1], row=1, col=1)
    for row, name in ((2, "forward"), (3, "backward")):
        fig.update_yaxes(title=name, tickvals=[], showgrid=False, zeroline=False,
                         autorange="reversed", row=row, col=1)  # fmt: skip
    fig.update_xaxes(range=[-0.5, len(words) - 0.5], tickvals=[], showgrid=False, zeroline=False)
    fig.update_xaxes(ticks(labels, len(words)) | {"tickangle": -45}, row=3, col=1)
    fig.add_shape(
        type="rect", xref="x", yref="paper", y0=0, y1=1, line={"color": theme.VERMILLION, "width": 3}
    )
    fig.update_layout(height=460, showlegend=True)
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {
        "x0": per_frame(np.array(places) - 0.5),
        "x1": per_frame(np.array(places) + 0.5),
    }
    for trace, way in ((2, result.seen[:, 0]), (3, result.seen[:, 1])):
        tree = turning(tree, trace, z=array(way))
    return tree


def reach(result: Tensor, text: Sentence) -> go.Figure:
    """What each word moves the log odds by, (2, T): by the bidirectional tagger and from the left."""
    return bars(
        text.words, result[0], baseline=result[1], names=(BOTH, LEFT), ylabel="|∂ log odds / ∂ word|",
        highlight=range(len(text.words)),
    )  # fmt: skip


def tags(result: Reading) -> Tree:
    """P of the five senses for the homograph, by both taggers."""
    fig = bars(
        SENSES, result.both[-1], baseline=result.left[-1], names=(BOTH, LEFT), horizontal=True,
        probability=True, xlabel="P(tag)",
    )  # fmt: skip
    fig.update_layout(showlegend=False)  # the colours are those of the curves beside
    return turning(turning(fig, 0, x=array(result.left)), 1, x=array(result.both))
