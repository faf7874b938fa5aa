"""A game on the plane: D as colours, data, what is made and where it is sent."""

from typing import Any

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame
from lab.lenses.plane_games import REACH, Look, segments


def board(data: Any, looks: list[Look], up: float = REACH) -> dict[str, Any]:
    """D over the plane, data, arrows and what is made, at each look.

    Args:
        up: what is seen at least above and below 0; less than REACH fills a place that is wider than high.
    """
    surfaces, result = (
        per_frame(array([one.surface for one in looks])),
        per_frame([one.made for one in looks]),
    )
    full = {"symbol": "square", "size": 14, "color": theme.scale("probability")[-1][1]}
    traces = [
        planar.field(surfaces, REACH, edges=True, zmin=0, zmax=1, zsmooth="fast", showscale=False),
        planar.points(data, {"size": 4, "color": theme.HIDDEN}, name="data"),
        planar.path(
            per_frame(segments(looks)), {"color": theme.VERMILLION, "width": 2}, name="−∇ of G's loss"
        ),
        planar.points(result, {"size": 5, "color": theme.OUTPUT}, name="generated"),
        planar.points([[None, None]], full, name="D = 1"),  # what the field's colour means
    ]
    axes = planar.axes(REACH, nticks=5)
    if up < REACH:
        axes["yaxis"] |= {"range": [-up, up], "constrain": "range"}
    return {"data": traces, "layout": axes}
