"""A mixture drawn: points in the colours of their components, ellipses, the staircase, curves over a knob."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_plane, curves

Range = tuple[float, float]
TARGETS = 41  # places a side that a click can add
LATEST = 11  # half-steps that the staircase shows behind the present one


def mixed(r: Any) -> list[str]:
    """The colour of each point, the components' colours in proportion to r (N, K): "#RRGGBB"."""
    palette = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in theme.CATEGORIES], float)
    rgb = np.rint(array(r) @ palette[: array(r).shape[1]]).astype(int)  # (N, 3)
    return [f"#{a:02X}{b:02X}{c:02X}" for a, b, c in rgb.tolist()]


def plane(
    points: Any, colours: list[str], ellipses: Any, means: Any, window: tuple[Range, Range],
    names: tuple[str, str] = ("x₁", "x₂"), ring: Any = None,
) -> go.Figure:  # fmt: skip
    """Points, and for each component an ellipse; traces: points, K ellipses, means, ring, places to click.

    Args:
        points: (N, 2); colours: N.
        ellipses: (K, M, 2); means (K, 2).
        ring: (2,) around a point, or None.
    """
    p, e, m = array(points), array(ellipses), array(means)
    fig = go.Figure(
        go.Scatter(
            x=p[:, 0], y=p[:, 1], mode="markers", hoverinfo="skip", showlegend=False,
            marker={"size": 9, "color": colours, "line": {"width": 0.5, "color": theme.paper()}},
        )
    )  # fmt: skip
    for k, line in enumerate(e):
        fig.add_scatter(
            x=line[:, 0], y=line[:, 1], mode="lines", hoverinfo="skip", showlegend=False,
            line={"width": 4, "color": theme.CATEGORIES[k]},
        )  # fmt: skip
    fig.add_scatter(
        x=m[:, 0], y=m[:, 1], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"symbol": "x", "size": 13, "color": list(theme.CATEGORIES[: len(m)]),
                "line": {"width": 2, "color": theme.text()}},
    )  # fmt: skip
    at = [] if ring is None else [array(ring)]
    fig.add_scatter(
        x=[v[0] for v in at], y=[v[1] for v in at], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"symbol": "circle-open", "size": 20, "color": theme.VERMILLION, "line": {"width": 3}},
    )  # fmt: skip
    (a, b), (c, d) = window
    fig.add_trace(click_plane(np.linspace(a, b, TARGETS), np.linspace(c, d, TARGETS)))
    fig.update_layout(hoverdistance=-1)
    fig.update_xaxes(title=names[0], range=[a, b], zeroline=False, constrain="domain")
    fig.update_yaxes(title=names[1], range=[c, d], zeroline=False, scaleanchor="x", constrain="domain")
    return fig


def moves(colours: Sequence[list[str]], ellipses: Any, means: Any, rings: Any = None) -> dict[str, Any]:
    """Moving parts of `plane`: colours of F frames, ellipses (F, K, M, 2), means (F, K, 2), rings (F, 2)."""
    e, m = array(ellipses), array(means)
    count = e.shape[1]
    frames: dict[str, Any] = {"data.0.marker.color": [list(row) for row in colours]}
    for k in range(count):
        frames[f"data.{k + 1}.x"], frames[f"data.{k + 1}.y"] = e[:, k, :, 0], e[:, k, :, 1]
    frames[f"data.{count + 1}.x"], frames[f"data.{count + 1}.y"] = m[..., 0], m[..., 1]
    if rings is not None:
        ring = array(rings)
        frames[f"data.{count + 2}.x"], frames[f"data.{count + 2}.y"] = ring[:, :1], ring[:, 1:]
    return frames


def staircase(log_p: Any, elbo: Any, at: int) -> go.Figure:
    """log p and the bound after each half-step up to `at`; traces: log p, the bound, both as they stand."""
    p, bound = array(log_p), array(elbo)
    steps = np.arange(len(p))
    fig = go.Figure()
    for values, name, color, width in (
        (p, "log p", theme.text(), 4), (bound, "bound (ELBO)", theme.OUTPUT, 3)
    ):  # fmt: skip
        fig.add_scatter(
            x=steps, y=shown(values, at), name=name, mode="lines+markers",
            line={"width": width, "color": color},
            marker={"size": 9 if color == theme.OUTPUT else 5, "color": color},
            hovertemplate="half-step %{x}: %{y:.4f}<extra></extra>",
        )  # fmt: skip
    across, up = window(p, bound, at)
    fig.update_xaxes(title="half-steps", range=across, zeroline=False)
    fig.update_yaxes(title="nats per point", range=up, zeroline=False)
    return fig


def window(log_p: Any, bound: Any, at: int) -> tuple[list[float], list[float]]:
    """The ranges of the staircase: the last steps and the next, wide enough that a step is seen."""
    first = max(0, at - LATEST)
    values = np.concatenate([array(log_p)[first : at + 2], array(bound)[first : at + 2]])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    margin = max(0.15 * (high - low), 1e-3)
    return [first - 0.5, first + LATEST + 1.5], [low - margin, high + margin]


def shown(values: Any, at: int) -> np.ndarray:
    """The values up to `at`, NaN after."""
    return np.where(np.arange(len(values)) <= at, array(values), np.nan)


def climbs(log_p: Any, elbo: Any) -> dict[str, Any]:
    """Moving parts of `staircase`: it grows by a half-step a frame."""
    frames = range(len(log_p))
    ranges = [window(log_p, elbo, at) for at in frames]
    return {
        "data.0.y": np.stack([shown(log_p, at) for at in frames]),
        "data.1.y": np.stack([shown(elbo, at) for at in frames]),
        "layout.xaxis.range": np.array([across for across, _ in ranges]),
        "layout.yaxis.range": np.array([up for _, up in ranges]),
    }


def over_knob(lines: Mapping[str, Any], x: Sequence[float], at: float, xlabel: str, ylabel: str) -> go.Figure:
    """Curves over the values of a film's knob, with a line (shape 0 of the layout) where it stands."""
    fig = curves(lines, list(x), mark=at, xlabel=xlabel, ylabel=ylabel, markers=True)
    fig.update_yaxes(zeroline=False)
    return fig


def knob_moves(x: Sequence[float]) -> dict[str, Any]:
    """The line of `over_knob` at each frame."""
    return {f"layout.shapes.0.x{end}": list(x) for end in (0, 1)}
