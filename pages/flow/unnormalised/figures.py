"""A target beside the flow that is fitted to it."""

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import planar, theme
from lab.figures.basic import array


def pair(target: Any, flow: Any, samples: Any, weights: Any, reach: float) -> go.Figure:
    """Log-densities of the target (trace 0) and of the flow (1), samples of the flow on the target, coloured
    by their weights (2).

    Args:
        target, flow: (S, S) as 0 to 255. samples: (N, 2). weights: (N,), 1 on average.
    """
    titles = ["target, weighed samples", "flow"]
    fig = make_subplots(rows=1, cols=2, subplot_titles=titles, horizontal_spacing=0.04)
    for column, values in enumerate((target, flow), start=1):
        ground = planar.field(array(values), reach, zmin=0, zmax=255, zsmooth="fast", showscale=False)
        fig.add_trace(ground, 1, column)
    p = array(samples)
    fig.add_trace(
        go.Scatter(
            x=p[:, 0], y=p[:, 1], mode="markers", hoverinfo="skip", showlegend=False,
            marker={
                "size": 7, "color": array(weights), "cmin": 0, "cmax": 2,
                "line": {"width": 0.5, "color": theme.text()},
                "colorscale": [[0, theme.HIDDEN], [0.5, theme.OUTPUT], [1, theme.VERMILLION]],
                "colorbar": {"orientation": "h", "thickness": 10, "len": 0.45, "x": 0.22, "y": -0.24,
                             "tickvals": [0, 1, 2], "ticktext": ["w = 0", "mean", "twice the mean"],
                             "tickfont": {"size": theme.FONT_SIZE - 4}, "outlinewidth": 0},
            },
        ), 1, 1,
    )  # fmt: skip
    for column in (1, 2):
        fig.update_xaxes(range=[-reach, reach], zeroline=False, constrain="domain", row=1, col=column)
        fig.update_yaxes(range=[-reach, reach], zeroline=False, scaleanchor=("x", "x2")[column - 1],
                         constrain="domain", showticklabels=column == 1, row=1, col=column)  # fmt: skip
    return fig.update_layout(margin={"t": 40})
