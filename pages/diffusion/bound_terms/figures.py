"""Bits of every step and their sum, on logarithmic time; the noised picture and the guess."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, image
from lab.figures.moving import per_frame, turning

BESIDE = (("dash", theme.BLUE), ("dot", theme.HIDDEN), ("dashdot", theme.PURPLE))  # looks of other curves


def over_time(
    values: Any,
    times: Sequence[int],
    ylabel: str,
    *,
    log: bool = False,
    name: str = "",
    others: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A curve (T,) over t = 1 … T on a logarithmic axis, with a point at each of `times`.

    Args:
        name: of the curve, where `others`, (T,) each, are drawn beside it by their names.
    """
    y, shown = array(values).astype(float), np.asarray(times)[:, None]
    x, line = np.arange(1, len(y) + 1), {"width": 3.5, "color": theme.OUTPUT}
    dot: dict[str, Any] = {
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"size": 15, "color": theme.VERMILLION},
    }
    dot |= {"x": per_frame(shown), "y": per_frame(y[shown - 1]), "zorder": 2, "showlegend": False}
    data = [{"x": x, "y": y, "mode": "lines", "name": name, "line": line, "zorder": 1}, dot]
    for (label, other), (dash, color) in zip((others or {}).items(), BESIDE, strict=False):
        line = {"width": 2.5, "color": color, "dash": dash}
        data.append(
            {"x": x, "y": array(other), "mode": "lines", "name": label, "hoverinfo": "skip", "line": line}
        )
    ticks = [v for v in (1, 10, 100, 1000) if v <= len(y)]
    across = {"tickvals": ticks, "range": [-0.05, float(np.log10(len(y))) + 0.05]}
    up = {"type": "log", "nticks": 3} if log else {"nticks": 5, "rangemode": "tozero"}
    layout: dict[str, Any] = {
        "xaxis": {"title": "t", "type": "log"} | across,
        "yaxis": {"title": ylabel, "exponentformat": "power"} | up,
        "showlegend": bool(others),
    }
    if others:  # the curves end high on the right: below them there is room for their names
        place_of = {"orientation": "v", "x": 1, "xanchor": "right", "y": 0.02, "yanchor": "bottom"}
        layout |= {"legend": place_of, "margin": {"t": 12}}
    return {"data": data, "layout": layout}


def two(noisy: Any, clean: Any) -> dict[str, Any]:
    """x_t above x̂_0, (F, 8, 8) each, as one picture a frame."""
    n, c = array(noisy), array(clean)
    gap = np.full((len(n), 1, n.shape[2]), np.nan, n.dtype)
    both = np.concatenate([n, gap, c], 1)
    return turning(image(both[0], zmin=0, zmax=1).update_layout(margin={"t": 8}), z=both)
