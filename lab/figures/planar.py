"""Parts of a figure of the plane: a field of values over a window, points on it, axes of one scale.

All are Plotly's own dictionaries, for `go.Figure` or for a figure that carries its film.
"""

from typing import Any

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import per_frame


def field(values: Any, reach: float, *, edges: bool = False, **look: Any) -> dict[str, Any]:
    """Values (n, n) over [-reach, reach]², a row an x_2, upwards; (F, n, n) of a film.

    Args:
        edges: they stand as `lab.lenses.plane.corners` do, the edge of the window among them; else as
            `middles`.
        look: more of Plotly's heatmap.
    """
    n = len(values.values[0] if isinstance(values, per_frame) else values)
    step = 2 * reach / (n - 1 if edges else n)
    first = -reach if edges else -reach + step / 2
    where = {"x0": first, "dx": step, "y0": first, "dy": step}
    colours = {"colorscale": theme.scale("probability"), "hoverinfo": "skip"}
    return {"type": "heatmap", "z": values, **where, **colours, **look}


def points(places: Any, marker: dict[str, Any], **look: Any) -> dict[str, Any]:
    """Dots at places (N, 2), or (F, N, 2) of a film.

    Args:
        look: more of Plotly's scatter.
    """
    x, y = coordinates(places)
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": marker,
        **look,
    }


def path(places: Any, line: dict[str, Any], **look: Any) -> dict[str, Any]:
    """A line through places (N, 2), broken at NaN, or (F, N, 2) of a film."""
    x, y = coordinates(places)
    drawn = {"type": "scatter", "x": x, "y": y, "mode": "lines", "hoverinfo": "skip"}
    return {**drawn, "line": line, **look}


def coordinates(places: Any) -> tuple[Any, Any]:
    """x and y of places (..., 2), of a film where they are one."""
    if isinstance(places, per_frame):
        values = array(places.values)
        return per_frame(values[..., 0]), per_frame(values[..., 1])
    values = array(places)
    return values[..., 0], values[..., 1]


def axes(reach: float, names: tuple[str, str] = ("", ""), **both: Any) -> dict[str, Any]:
    """The layout's axes, from -reach to reach at one scale.

    Args:
        both: more of either axis.
    """
    axis = {"range": [-reach, reach], "zeroline": False, "constrain": "domain", **both}
    x, y = ({"title": {"text": name}} if name else {} for name in names)
    return {"xaxis": {**axis, **x}, "yaxis": {**axis, **y, "scaleanchor": "x"}}
