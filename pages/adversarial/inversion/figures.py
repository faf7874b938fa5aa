"""Target, reconstruction and their difference; the error at each step; pictures along an edit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import sheets, theme
from lab.figures.basic import array
from lab.figures.moving import turning
from pages.adversarial.inversion.lens import EDITS, Step

NAMES = ["target x", "made x*"]


def views(pictures: Any) -> dict[str, Any]:
    """(frames, 3, S, S) target, reconstruction, difference; the first two, with names above them."""
    two = array(pictures)[:, :2]
    fig = sheets.labelled(list(two[0]), NAMES, columns=2)
    return turning(fig, z=sheets.frames(two, 2, sheets.label_gap(two.shape[-1])))


def errors(steps: Sequence[Step]) -> dict[str, Any]:
    """Error by iteration, logarithmic, and a point at that of each frame."""
    fig = go.Figure()
    for name, tuned, color in (("search", False, theme.OUTPUT), ("tuning", True, theme.ATTENTION)):
        some = [s for s in steps if s.tuned == tuned]
        fig.add_scatter(
            x=[s.number for s in some], y=[s.error for s in some], name=name,
            mode="lines+markers+text", textposition="top left",
            text=[*[""] * (len(some) - 1), name if steps[-1].tuned else ""],
            line={"color": color, "width": 3}, marker={"size": 6}, showlegend=False,
        )  # fmt: skip
    ring = {"size": 15, "color": theme.INPUT, "line": {"width": 2, "color": theme.text()}}
    fig.add_scatter(mode="markers", showlegend=False, hoverinfo="skip", marker=ring)
    fig.update_xaxes(title="iteration")
    # powers of ten alone would leave most searches without one
    ticks = [m * 10.0**power for power in range(-6, 1) for m in (1, 2, 5)]
    names = [np.format_float_positional(v, trim="-") for v in ticks]
    fig.update_yaxes(type="log", title="mean squared error", tickvals=ticks, ticktext=names)
    fig.update_yaxes(ticklabelposition="outside right")
    return turning(fig, 2, x=[[s.number] for s in steps], y=[[s.error] for s in steps])


def edits(pictures: Any, result: Any, quantity: str, values: Any) -> dict[str, Any]:
    """The difference of `pictures` as in `views`, then what is made along the edit, with what is measured of
    each."""
    apart, result = array(pictures)[:, 2:], array(result)
    names = [
        f"{quantity} {value:.2f}" if step == 0 else f"{value:.2f}"
        for step, value in zip(EDITS, array(values), strict=True)
    ]
    row = np.concatenate([apart, np.broadcast_to(result, (len(apart), *result.shape))], 1)
    fig = sheets.labelled(list(row[0]), ["|x* − x|", *names], columns=row.shape[1])
    return turning(fig, z=sheets.frames(row, row.shape[1], sheets.label_gap(row.shape[-1])))
