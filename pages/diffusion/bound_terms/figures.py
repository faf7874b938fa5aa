"""Pictures by how noisy they are, with the bits of each; the sum of the bits, on logarithmic time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.figures import sheets, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame

BESIDE = (("dash", theme.BLUE), ("dot", theme.HIDDEN), ("dashdot", theme.PURPLE))  # looks of other curves


def so_far(values: Any, times: Sequence[int], name: str, others: Mapping[str, Any]) -> dict[str, Any]:
    """Bits up to t (T,) over t = 1 … T on a logarithmic axis, with a point at each of `times`; `others`, (T,)
    each, are drawn beside them by their names."""
    y, shown = array(values).astype(float), np.asarray(times)[:, None]
    x, line = np.arange(1, len(y) + 1), {"width": 3.5, "color": theme.OUTPUT}
    dot: dict[str, Any] = {
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"size": 15, "color": theme.VERMILLION},
    }
    dot |= {"x": per_frame(shown), "y": per_frame(y[shown - 1]), "zorder": 2, "showlegend": False}
    data = [{"x": x, "y": y, "mode": "lines", "name": name, "line": line, "zorder": 1}, dot]
    for (label, other), (dash, color) in zip(others.items(), BESIDE, strict=False):
        line = {"width": 2.5, "color": color, "dash": dash}
        data.append(
            {"x": x, "y": array(other), "mode": "lines", "name": label, "hoverinfo": "skip", "line": line}
        )
    ticks = [v for v in (1, 10, 100, 1000) if v <= len(y)]
    across = {"tickvals": ticks, "range": [-0.05, float(np.log10(len(y))) + 0.05]}
    layout: dict[str, Any] = {
        "xaxis": {"title": "t", "type": "log"} | across,
        "yaxis": {"title": "bits up to t", "nticks": 5, "rangemode": "tozero"},
        "showlegend": bool(others),
        "meta": theme.NAMED_ENDS,
    }
    return {"data": data, "layout": layout}


def spent(
    pictures: Any, names: Sequence[str], bits: Sequence[float], places: Sequence[int]
) -> dict[str, Any]:
    """Columns of x_t over x̂_0, (2, C, S, S), and below each the bits of its steps; a frame stands around one
    of them."""
    fig = sheets.over_bars(pictures, ["xₜ", "x̂₀"], names, bits, "t", "bits")
    return sheets.walking(fig, array(pictures).shape[-1], places, None, len(pictures))
