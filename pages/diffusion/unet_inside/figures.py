"""The U, sheets of feature maps, what a pixel reads, attention, and errors with and without skips."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from lab.figures import basic, sheets, theme
from lab.figures.moving import per_frame, turning
from pages.diffusion.unet_inside.lens import scaled
from pages.diffusion.unet_inside.shape import Shape, Stage


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


HIGH, GAP, ACROSS = 14.0, 6.0, 26.0  # of a level's strip, between two, between the two arms
PICTURE = 17.0


def u(shape: Shape) -> dict[str, Any]:
    """The U: x_t and the digit at the left, the way down, the way up, ε̂ and x̂₀ at the right; each level is a
    row, and what its skip carries is written on the line that joins both arms."""
    levels, strip = len(shape.left), 2 * HIGH
    left, right = PICTURE + GAP, PICTURE + GAP + strip + ACROSS
    end, rows = right + strip + GAP, [k * (HIGH + GAP) for k in range(levels)]
    small = PICTURE + GAP
    traces = [
        patch(shape.x, 0, 0, PICTURE, "xₜ"),
        patch(shape.digit.expand_as(shape.x), 0, small, PICTURE, "x₀"),
        patch(shape.noise / 3, end, 0, PICTURE, "ε̂", "diverging"),
        patch(shape.x0, end, small, PICTURE, "x̂₀"),
    ]
    notes = [
        label("xₜ", PICTURE / 2, 0),
        label("x₀", PICTURE / 2, small),
        label("ε̂", end + PICTURE / 2, 0),
        label("prediction x̂₀", end + PICTURE / 2, small),
    ]
    for arm, stages, at in ((left, shape.left, rows), (right, shape.right, rows[::-1])):
        for (name, stage), top in zip(stages.items(), at, strict=True):
            traces.append(patch(sheet(stage, shape.side), arm, top, HIGH, name, "diverging"))
            notes.append(label(f"{name} · {stage.size}", arm + strip / 2, top))
    middles = [top + HIGH / 2 for top in rows]
    for k, channels in enumerate(shape.skips):
        off = k in shape.off
        color = theme.VERMILLION if off else theme.GREEN
        notes.append(arrow((left + strip + 1, middles[k]), (right - 1, middles[k]), color, dash=off))
        words = f"skip {k}: 0" if off else f"skip {k}: {channels}"
        notes.append(label(words, (left + strip + right) / 2, middles[k], color))
    notes.append(arrow((left + strip + 1, middles[-1]), (right - 1, middles[-1]), theme.INPUT))
    for above, below in pairwise(range(levels)):
        inner = rows[above] + HIGH, rows[below] - GAP + 2
        for x, (start, stop) in ((left + 1, inner), (right + strip - 1, inner[::-1])):
            notes.append(arrow((x, start), (x, stop), theme.INPUT))
    notes.append(arrow((PICTURE + 0.5, middles[0]), (left - 0.5, middles[0]), theme.INPUT))
    notes.append(arrow((right + strip + 0.5, middles[0]), (end - 0.5, middles[0]), theme.INPUT))
    axis = {"visible": False, "fixedrange": True}
    return {
        "data": traces,
        "layout": {
            "xaxis": axis | {"range": [-1, end + PICTURE + 1], "constrain": "domain"},
            "yaxis": axis
            | {"range": [rows[-1] + HIGH + 0.5, -GAP + 1], "scaleanchor": "x", "constrain": "domain"},
            "annotations": notes,
            "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
            "showlegend": False,
        },
    }


def sheet(stage: Stage, side: int) -> Any:
    """A stage's maps as one strip, twice as wide as high, each time divided by its largest size."""
    return sheets.frames(scaled(stage.maps), 2 * max(1, side // stage.maps.shape[-1]))


def patch(z: Any, x: float, y: float, high: float, name: str, scale: theme.Scale = "grey") -> dict[str, Any]:
    """Pictures (F, h, w) at (x, y), `high` of the figure's units."""
    cell = high / z.shape[1]
    return {
        "type": "heatmap", "name": name, "z": per_frame(z), "x0": x + cell / 2, "dx": cell,
        "y0": y + cell / 2, "dy": cell, "colorscale": theme.scale(scale), "showscale": False,
        "zmin": -1 if scale == "diverging" else 0, "zmax": 1,
        "hovertemplate": f"{name}: %{{z:.2f}}<extra></extra>",
    }  # fmt: skip


def label(text: str, x: float, y: float, color: str | None = None) -> dict[str, Any]:
    """Words above a place."""
    return {"x": x, "y": y, "text": text, "showarrow": False, "yanchor": "bottom",
            "font": {"size": 14, "color": color or theme.text()}}  # fmt: skip


def arrow(
    start: tuple[float, float], stop: tuple[float, float], color: str, dash: bool = False
) -> dict[str, Any]:
    """An arrow between two places; one that nothing passes is thin."""
    return {
        "x": stop[0], "y": stop[1], "ax": start[0], "ay": start[1], "axref": "x", "ayref": "y", "text": "",
        "arrowhead": 2, "arrowwidth": 1 if dash else 3, "arrowcolor": color, "opacity": 0.5 if dash else 1.0,
    }  # fmt: skip
