"""A cloud among the means of its data with how its points have jumped, and a number of both sets of weights
along a training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, rule
from lab.figures.moving import per_frame

COLORS = (theme.HIDDEN, theme.OUTPUT)


TAILS = 100  # points whose jump is drawn


def jumps(clouds: Sequence[np.ndarray]) -> np.ndarray:
    """Ways that some points went since the look before, (F, 3 TAILS, 2): from, to, and a gap."""
    now = np.stack(clouds)[:, :TAILS]
    before = np.concatenate([now[:1], now[:-1]])
    return np.stack([before, now, np.full_like(now, np.nan)], 2).reshape(len(now), -1, 2)


def plane(clouds: Sequence[Any], means: Any, reach: float, title: str, side: int) -> dict[str, Any]:
    """Points (N, 2) at every look, over the means (K, 2), and the last jump of some."""
    line = {"color": theme.INPUT, "width": 3}
    cross = {"size": 14, "color": theme.INPUT, "symbol": "cross-thin", "line": line}
    dots, tail = {"size": 5, "color": COLORS[side]}, {"width": 1, "color": COLORS[side]}
    points = [array(c) for c in clouds]
    axes = planar.axes(reach, tickvals=[-1, 0, 1], showticklabels=False)
    return {
        "data": [
            planar.path(per_frame(jumps(points)), tail, opacity=0.6),
            planar.points(means, cross),
            planar.points(per_frame(points), dots),
        ],
        "layout": axes | {"showlegend": False, "title": title},
    }


def along(
    steps: Sequence[int],
    pairs: Sequence[tuple[float, float]],
    names: tuple[str, str],
    ylabel: str,
    first: int = 0,
) -> dict[str, Any]:
    """Both numbers over the steps, from look `first` on, on a log axis; a line stands at each look."""
    first = min(first, len(steps) - 1)
    fig = go.Figure()
    for side, (name, values) in enumerate(zip(names, zip(*pairs, strict=True), strict=True)):
        line = {"width": 3, "color": COLORS[side]}
        fig.add_scatter(x=steps[first:], y=values[first:], name=name, mode="lines", line=line)
    rule(fig, x=steps[0], line={"color": theme.VERMILLION, "width": 2})
    fig.update_xaxes(title="step", nticks=4)
    ticks = [digit * 10.0**power for power in range(-4, 4) for digit in (1, 3)]
    fig.update_yaxes(title=ylabel, type="log", tickvals=ticks, ticktext=[f"{v:g}" for v in ticks])
    fig.update_layout(meta=theme.NAMED_ENDS)
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {"x0": per_frame(steps), "x1": per_frame(steps)}
    return tree
