"""A map of a layer to choose a unit on, and the frame that moves along its row."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, per_frame


def feature_map(values: Any, row: int, across: int, height: int = 420) -> Tree:
    """One map, clickable: (H, W) of a channel, or (channels, positions) of a 1-D layer; a frame goes along
    `across` units of a row.

    A click reports x = column, y = row.
    """
    z, columns = array(values), np.arange(across)
    wide = z.shape[0] < z.shape[1] / 2
    fig = heatmap(z, scale="diverging", clickable=True, square=not wide, height=height)
    fig.update_traces(selector={"type": "scatter"}, marker_size=max(6, min(36, 380 // max(z.shape))))
    fig.add_shape(type="rect", y0=row - 0.5, y1=row + 0.5, line={"color": theme.VERMILLION, "width": 4})
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {"x0": per_frame(columns - 0.5), "x1": per_frame(columns + 0.5)}
    return tree
