"""Numbers made of parts: columns of bars that begin where another ends, and levels across them.

A film turns parts and levels whose values have a frame in front: `stacks` draws one frame, `turned` carries
them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import per_frame


@dataclass(frozen=True)
class Part:
    """One colour of bars: from `start` to `stop`, (N,) or (F, N) over N columns; NaN where there is none. A
    bar to infinity ends at the axis' end."""

    name: str
    color: str
    start: Any
    stop: Any
    numbers: bool = True  # written on the bars
    legend: bool = True  # else the columns' labels say what it is


@dataclass(frozen=True)
class Level:
    """A line across all columns at a value, or at one for every frame (F,)."""

    name: str
    color: str
    value: Any
    dash: str = "solid"


def at_frame(values: Any, at: int, rank: int) -> np.ndarray:
    """Values of one frame; what has no frames stays."""
    v = array(values).astype(float)
    return v[at] if v.ndim > rank else v


def numbered(start: np.ndarray, stop: np.ndarray, least: float = 0.005) -> list[str]:
    """The length of each bar with its sign; what is not there, or shorter than `least`, has no words."""
    return [
        "∞" if d == np.inf else "" if np.isnan(d) or abs(d) < least else f"{d:.2f}".replace("-", "−")
        for d in np.where(np.isnan(stop), np.nan, stop - np.where(np.isfinite(start), start, 0.0))
    ]


def room(reach: tuple[float, float] | None) -> float:
    """The shortest bar that has room for a number, on an axis of this reach."""
    return 0.005 if reach is None else max(0.005, 0.055 * (reach[1] - reach[0]))


def ends(part: Part, top: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, stop and the lengths to write, which may be infinite where the bar is not."""
    start, stop = np.broadcast_arrays(array(part.start).astype(float), array(part.stop).astype(float))
    text = np.where(start == np.inf, np.nan, stop)  # nothing can be written above infinity
    if top is None:
        return start, stop, text
    return np.where(start == np.inf, top, start), np.where(stop == np.inf, top, stop), text


def stacks(
    columns: Sequence[str],
    parts: Sequence[Part],
    levels: Sequence[Level] = (),
    *,
    at: int = 0,
    reach: tuple[float, float] | None = None,
    title: str = "",
    ylabel: str = "nats",
    label_size: int = theme.FONT_SIZE - 2,
) -> go.Figure:
    """Trace i is part i, then come the levels.

    Args:
        at: the frame that is shown.
        reach: ends of the value axis.
        label_size: of the columns' labels, where they are long.
    """
    fig = go.Figure()
    for part in parts:
        start, stop, text = (at_frame(v, at, 1) for v in ends(part, reach[1] if reach else None))
        fig.add_trace(
            go.Bar(
                x=list(range(len(columns))), y=stop - start, base=start, name=part.name, width=0.7,
                showlegend=part.legend,
                marker={"color": part.color, "line_width": 0}, constraintext="none",
                text=numbered(start, text, room(reach)) if part.numbers else None, textposition="inside",
                insidetextanchor="middle", textangle=0,
                textfont={"size": theme.FONT_SIZE - 2, "color": ink(part.color)},
                hovertemplate="%{y:.4f}<extra>" + part.name + "</extra>",
            )
        )  # fmt: skip
    for level in levels:
        value = float(at_frame(level.value, at, 0))
        fig.add_trace(
            go.Scatter(
                x=[-0.5, len(columns) - 0.5], y=[value, value], mode="lines", name=level.name,
                line={"color": level.color, "width": 4, "dash": level.dash},
                hovertemplate="%{y:.4f}<extra>" + level.name + "</extra>",
            )
        )  # fmt: skip
    fig.update_layout(barmode="overlay", title=title, showlegend=True)
    fig.update_xaxes(
        tickvals=list(range(len(columns))), ticktext=list(columns), range=[-0.5, len(columns) - 0.5],
        showgrid=False, zeroline=False, tickangle=0, tickfont={"size": label_size},
    )  # fmt: skip
    fig.update_yaxes(title=ylabel, range=list(reach) if reach is not None else None, nticks=7)
    return fig


def turned(
    columns: Sequence[str],
    parts: Sequence[Part],
    levels: Sequence[Level] = (),
    *,
    reach: tuple[float, float] | None = None,
    ylabel: str = "nats",
) -> dict[str, Any]:
    """`stacks` with its film."""
    tree = stacks(columns, parts, levels, reach=reach, ylabel=ylabel).to_plotly_json()
    for path, values in turning(parts, levels, reach).items():
        _, trace, leaf = path.split(".")
        tree["data"][int(trace)][leaf] = per_frame(values)
    return tree


def ink(color: str) -> str:
    """Black or white, whichever is read on this colour ("#RRGGBB")."""
    r, g, b = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#000000" if 0.299 * r + 0.587 * g + 0.114 * b > 125 else "#FFFFFF"


def turning(
    parts: Sequence[Part], levels: Sequence[Level] = (), reach: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Moving parts of `stacks`, whose axis has this `reach`: the parts and levels that have frames."""
    moves: dict[str, Any] = {}
    for i, part in enumerate(parts):
        start, stop, text = ends(part, reach[1] if reach else None)
        if start.ndim == 1:
            continue
        moves[f"data.{i}.base"], moves[f"data.{i}.y"] = start, stop - start
        if part.numbers:
            moves[f"data.{i}.text"] = [numbered(a, b, room(reach)) for a, b in zip(start, text, strict=True)]
    for i, level in enumerate(levels, start=len(parts)):
        if (value := array(level.value).astype(float)).ndim:
            moves[f"data.{i}.y"] = np.stack([value, value], 1)
    return moves
