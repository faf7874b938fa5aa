"""Sheets of feature maps, what a pixel reads, attention, and errors with and without skips."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.figures import basic, sheets, theme
from lab.figures.moving import per_frame, turning


def maps(values: Any, title: str) -> dict[str, Any]:
    """Maps (F, M, h, w) from −1 to 1 as a sheet, on the diverging scale."""
    z = sheets.frames(values)
    return turning(basic.image(z[0], title=title, scale="diverging", zmin=-1, zmax=1), z=z)


def picture(values: Any, title: str) -> dict[str, Any]:
    """Pictures (F, 8, 8) from 0 to 1."""
    return turning(basic.image(values[0], title=title, zmin=0, zmax=1), z=values)


def ringed(values: Any, row: int, column: int) -> dict[str, Any]:
    """Weights (F, h, w) from 0 to 1 on the violet scale; a frame around a cell."""
    fig = basic.image(values[0], scale="violet", zmin=0, zmax=1)
    fig.add_shape(type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
                  line={"color": theme.VERMILLION, "width": 4})  # fmt: skip
    return turning(fig, z=values)


def by_time(times: Sequence[int], lines: Mapping[str, Any], ylabel: str, top: float) -> dict[str, Any]:
    """Numbers (F,) by name against t; a line stands at each t."""
    fig = basic.curves(lines, times, xlabel="t", ylabel=ylabel, mark=times[0])
    fig.update_xaxes(range=[0, 1000], tickvals=[250, 500, 750])
    fig.update_yaxes(range=[0, top], nticks=5)
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {"x0": per_frame(times), "x1": per_frame(times)}
    return tree
