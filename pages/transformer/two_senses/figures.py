"""Vectors of one word as points in the plane of each layer, and how many lie on their side."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, bars, rule, scatter
from lab.figures.moving import Tree, turning
from pages.transformer.two_senses.lens import Parted, names
from pages.transformer.two_senses.sentences import SENSES


def clouds(one: Parted, own: Any) -> Tree:
    """Held-out sentences coloured by sense, the reader's as a star, and the line that parts the senses."""
    points, star, kinds = array(one.points), array(own), array(one.senses).astype(int)
    fig = scatter(points[-1], kinds, names=SENSES, hover=one.sentences, size=12, opacity=0.55, equal=False,
                  xlabel="from garment to place, x", ylabel="most variance beside it")  # fmt: skip
    edge = {"width": 4, "color": theme.VERMILLION}
    fig.add_scatter(
        x=[0], y=[0], mode="markers", name="yours", hoverinfo="name",
        marker={"symbol": "star-open", "size": 30, "color": theme.VERMILLION, "line": edge},
    )  # fmt: skip
    both = np.concatenate([points, star[:, None]], 1)
    reach = 1.12 * np.abs(both).max((0, 1))  # one scale for all layers
    fig.update_xaxes(range=[-reach[0], reach[0]])
    fig.update_yaxes(range=[-reach[1], reach[1]], showticklabels=False)
    rule(fig, x=0, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    tree = fig.to_plotly_json()
    for trace, mine in enumerate((kinds == 0, kinds == 1)):
        tree = turning(tree, trace, x=points[:, mine, 0], y=points[:, mine, 1])
    return turning(tree, 2, x=star[:, :1], y=star[:, 1:])


def accuracy(one: Parted) -> Tree:
    """Share on their side by layer, the mean over splits with their standard deviation."""
    mean, sd, L = one.right.mean(0), one.right.std(0), one.right.shape[1]
    fig = bars([name.replace("the embedding", "emb.").removeprefix("layer ") for name in names(one)], mean,
               xlabel="layer", ylabel="held-out, on their side", probability=True)  # fmt: skip
    fig.update_traces(
        error_y={"type": "data", "array": array(sd), "thickness": 2}, text=[f"{m:.2f}" for m in mean],
        textposition="inside", insidetextanchor="start", textangle=0,
        textfont={"color": theme.text()},
    )  # fmt: skip
    rule(fig, y=0.5, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    pale = theme.fade(theme.OUTPUT, 0.35)
    colors = [[theme.OUTPUT if l == f else pale for l in range(L)] for f in range(L)]
    return turning(fig, marker={"color": colors})
