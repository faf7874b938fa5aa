"""Pairs that count as the same, and how likely two of n draws are."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from pages.adversarial.birthday.lens import DRAWS, Found, probability


def chances(found: list[Found], at: int, support: int) -> go.Figure:
    """P of two that are the same: trace 0 measured, 1 with the estimate of N, 2 with a given N."""
    n = list(range(1, DRAWS + 1))
    now = found[at]
    lines = {
        "measured": now.measured, "estimate of N": probability(now.support), f"N = {support:,}":
        probability(support),
    }  # fmt: skip
    colors = dict(zip(lines, (theme.OUTPUT, theme.INPUT, theme.HIDDEN), strict=True))
    fig = basic.curves(lines, n, xlabel="draws", ylabel="P(two are the same)", colors=colors)
    fig.add_hline(y=0.5, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_yaxes(range=[-0.02, 1.03], tickvals=[0.25, 0.5, 0.75, 1])
    return fig.update_xaxes(range=[0, DRAWS], tickvals=[0, 100, 200, 300, 400])


def moves(found: list[Found]) -> dict[str, Any]:
    """What turns in `chances`."""
    return {
        "data.0.y": np.stack([array(one.measured) for one in found]),
        "data.1.y": np.stack([array(probability(one.support)) for one in found]),
    }
