"""A drawing under noise, and the histogram of one of its pixels."""

import math
from typing import Any

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, turning

REACH = 3.0  # end of the scale


def drawing(pictures: Any) -> dict[str, Any]:
    """Values (F, S, S) from −REACH to REACH on the diverging scale: ink is 1, paper −1."""
    return turning(basic.image(pictures[0], scale="diverging", zmin=-REACH, zmax=REACH), z=pictures)


def pixel(edges: Any, histogram: Any, distribution: Any) -> dict[str, Any]:
    """Draws of a pixel and their distribution (F, B) in the same bins, and N(0, 1), where all of them end."""
    e = array(edges)
    middle = (e[1:] + e[:-1]) / 2
    normal = array((-0.5 * edges[:-1].add(float(e[1] - e[0]) / 2).square()).exp() / math.sqrt(2 * math.pi))
    fill = {"color": theme.fade(theme.INPUT, 0.6), "line": {"width": 0}}
    bars = {"type": "bar", "name": "draws", "width": float(e[1] - e[0]), "hoverinfo": "x+y", "marker": fill}
    lines = {
        "law": (per_frame(distribution), {"color": theme.OUTPUT, "width": 4, "shape": "hvh"}),
        "N(0, 1)": (normal, {"color": theme.HIDDEN, "width": 3, "dash": "dash"}),
    }
    data: list[dict[str, Any]] = [bars | {"x": middle, "y": per_frame(histogram)}]
    for name, (y, line) in lines.items():
        data.append({"x": middle, "y": y, "name": name, "mode": "lines", "hoverinfo": "skip", "line": line})
    axes = {
        "xaxis": {"title": "value of the pixel", "range": [-4, 4], "tickvals": [-3, 0, 3]},
        "yaxis": {"title": "density", "range": [0, 1.6], "nticks": 4},
    }
    return {"data": data, "layout": axes}
