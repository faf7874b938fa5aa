"""Pictures in the square panels of one figure, with a frame in each that a film moves."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame

HEIGHT = 470
LIGHT = [[0, "#000000"], [1, "#FFFFFF"]]  # light is light, in the dark too
Span = tuple[float, float]


class Sheet:
    """A figure of square panels that is filled one by one."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {
            "annotations": [], "shapes": [], "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
            "plot_bgcolor": theme.grid(), "hoverdistance": -1, "showlegend": False,
        }  # fmt: skip
        self.count = 0

    def panel(
        self, title: str, traces: Sequence[dict[str, Any]], shape: Sequence[int], x: Span, y: Span,
        around: int = 0, boxes: Any = None, size: int = 18,
    ) -> None:  # fmt: skip
        """Add a panel (H, W) in this part of the figure, a frame per film frame of `boxes` (F, 4) in it."""
        at = str(self.count + 1) if self.count else ""
        self.count += 1
        (high, wide), rim = shape, 0.5 + around
        edge = 0.02 * max(high, wide)
        self.data += [trace | {"xaxis": f"x{at}", "yaxis": f"y{at}"} for trace in traces]
        plain = {"tickvals": [], "showgrid": False, "zeroline": False, "constrain": "domain"}
        self.layout[f"xaxis{at}"] = plain | {
            "domain": list(x), "anchor": f"y{at}", "range": [-rim - edge, wide - 1 + rim + edge],
        }  # fmt: skip
        self.layout[f"yaxis{at}"] = plain | {
            "domain": list(y), "anchor": f"x{at}", "range": [high - 1 + rim + edge, -rim - edge],
            "scaleanchor": f"x{at}",
        }  # fmt: skip
        self.layout["annotations"].append({
            "x": 0.5, "xref": f"x{at} domain", "y": 1, "yref": f"y{at} domain", "yanchor": "bottom",
            "text": title, "showarrow": False, "font": {"size": size},
        })  # fmt: skip
        if boxes is not None:
            x0, x1, y0, y1 = (per_frame(edge) for edge in array(boxes).T)
            self.layout["shapes"].append({
                "type": "rect", "xref": f"x{at}", "yref": f"y{at}", "x0": x0, "x1": x1, "y0": y0, "y1": y1,
                "line": {"color": theme.ORANGE, "width": 4},
            })  # fmt: skip

    @property
    def tree(self) -> Tree:
        return {"data": self.data, "layout": self.layout}


def shade(z: Any, low: float, high: float, colors: Any) -> dict[str, Any]:
    """A picture (H, W) from one colour to another."""
    return {"type": "heatmap", "z": array(z).astype(np.float32), "zmin": low, "zmax": high,
            "colorscale": colors, "showscale": False, "hoverinfo": "skip"}  # fmt: skip


def signed(z: Any, reach: float) -> dict[str, Any]:
    return shade(z, -reach, reach, theme.scale("diverging"))


def cells(row: int, columns: int) -> np.ndarray:
    """Edges of the cells of a row, (F, 4)."""
    j = np.arange(columns)
    rows = np.full(columns, float(row))
    return np.stack([j - 0.5, j + 0.5, rows - 0.5, rows + 0.5], 1)


def reach_of(values: Any) -> float:
    return float(np.abs(array(values)).max()) or 1.0


def between(z: Any, bright: bool) -> dict[str, Any]:
    """An output as light from 0 to 1, or as a difference, blue and red."""
    return shade(z, 0.0, 1.0, LIGHT) if bright else signed(z, reach_of(z))
