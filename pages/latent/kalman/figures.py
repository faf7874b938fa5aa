"""A path or a series with what is believed of it, forward and backward; gain and deviations over time."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_plane, rule

TARGETS = 41  # places a side that a click can add


def upto(values: Any, frames: int) -> np.ndarray:
    """(F, T, …): the first 1, 2, …, T of them, then all; NaN for the others."""
    v = array(values)
    shown = np.arange(len(v))[None] <= np.arange(frames)[:, None]
    return np.where(shown.reshape(*shown.shape, *[1] * (v.ndim - 1)), v, np.nan)


def back(values: Any, frames: int) -> np.ndarray:
    """(F, T, …): nothing for T frames, then the last one, the last two, …"""
    v = array(values)
    count = len(v)
    shown = np.arange(count)[None] >= 2 * count - 1 - np.arange(frames)[:, None]
    return np.where(shown.reshape(*shown.shape, *[1] * (v.ndim - 1)), v, np.nan)


def rings(filtered: Any, smoothed: Any) -> np.ndarray:
    """The ellipse of each frame, (2T, P, 2): forward, then backward."""
    return np.concatenate([array(filtered), array(smoothed)[::-1]])


def cross() -> dict[str, Any]:
    """Mark a frame that is seen."""
    return {"symbol": "x-thin", "size": 11, "line": {"width": 3, "color": theme.INPUT}}


def plane(result: dict[str, Any], at: int, clickable: bool) -> tuple[go.Figure, dict[str, Any]]:
    """Traces: 0 truth, 1 seen, 2 the filter's path, 3 the smoother's, 4 the prediction's ellipse, 5 the
    belief's; and what turns.

    Args:
        result: "truth" (T, 2) or None; "x", "filtered", "smoothed" (T, 2); "before", "after", "late" (T, P,
        2).
    """
    x = array(result["x"])
    frames = 2 * len(x)
    paths = {2: upto(result["filtered"], frames), 3: back(result["smoothed"], frames)}
    nothing = np.full_like(array(result["before"]), np.nan)
    ellipses = {4: rings(result["before"], nothing), 5: rings(result["after"], result["late"])}
    fig, there = go.Figure(), result["truth"] is not None
    truth = array(result["truth"]) if there else np.full((1, 2), np.nan)
    fig.add_scatter(x=truth[:, 0], y=truth[:, 1], mode="lines", name="truth", showlegend=there,
                    line={"color": theme.HIDDEN, "width": 3})  # fmt: skip
    fig.add_scatter(x=x[:, 0], y=x[:, 1], mode="markers", name="seen", marker=cross())
    for i, name, color in ((2, "filter", theme.OUTPUT), (3, "smoother", theme.ATTENTION)):
        fig.add_scatter(x=paths[i][at, :, 0], y=paths[i][at, :, 1], mode="lines+markers", name=name,
                        line={"color": color, "width": 4}, marker={"size": 6})  # fmt: skip
    for i, name, dash in ((4, "expected", "dot"), (5, "belief", "solid")):
        fig.add_scatter(x=ellipses[i][at, :, 0], y=ellipses[i][at, :, 1], mode="lines", name=name,
                        line={"color": theme.text(), "width": 3, "dash": dash})  # fmt: skip
    fig.update_traces(hoverinfo="skip")
    known = np.concatenate([x, truth, array(result["filtered"])])
    reach = 1.15 * float(np.nanmax(np.abs(known))) + 0.3
    if clickable:
        places = np.linspace(-reach, reach, TARGETS)
        fig.add_trace(click_plane(places, places))
        fig.update_layout(hoverdistance=-1)
    fig.update_xaxes(title="x₁", range=[-reach, reach], zeroline=False, constrain="domain")
    fig.update_yaxes(title="x₂", range=[-reach, reach], zeroline=False, scaleanchor="x", constrain="domain")
    moving = {**paths, **ellipses}
    return fig, {f"data.{i}.{n}": v[..., c] for i, v in moving.items() for c, n in enumerate("xy")}


def bands(middle: Any, deviation: Any, backward: bool) -> tuple[np.ndarray, np.ndarray]:
    """A polygon of two deviations to each side at every frame, x and y (2T, 2T): a polygon has no gaps, so
    what is not shown yet lies on the nearest place that is."""
    m, s = array(middle), 2 * array(deviation)
    count = len(m)
    now, place = np.arange(2 * count)[:, None], np.arange(count)[None]
    first = np.minimum(2 * count - 1 - now, count - 1)  # shown by the smoother, from here on
    at = np.maximum(place, first) if backward else np.minimum(place, now)
    return (np.concatenate([at + 1, at[:, ::-1] + 1], 1),
            np.concatenate([(m + s)[at], (m - s)[at][:, ::-1]], 1))  # fmt: skip


def line(result: dict[str, Any], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Traces: 0 truth, 1 seen, 2 and 3 the filter's band and mean, 4 and 5 the smoother's; and what turns.

    Args:
        result: "truth" (T,) or None; "x", "filtered", "smoothed" (T,), and their deviations "after", "late".
    """
    x = array(result["x"])
    count, t = len(x), np.arange(1, len(x) + 1)
    fig = go.Figure()
    moving: dict[str, np.ndarray] = {}
    if result["truth"] is not None:
        fig.add_scatter(x=t, y=array(result["truth"]), mode="lines", name="truth",
                        line={"color": theme.HIDDEN, "width": 3})  # fmt: skip
    else:
        fig.add_scatter(x=[None], y=[None], mode="lines", name="truth", showlegend=False)
    fig.add_scatter(x=t, y=x, mode="markers", name="seen", marker=cross())
    for i, mean, spread, name, color, show in (
        (2, "filtered", "after", "filter", theme.OUTPUT, upto),
        (4, "smoothed", "late", "smoother", theme.ATTENTION, back),
    ):
        across, up = bands(result[mean], result[spread], show is back)
        dots = show(result[mean], 2 * count)
        moving |= {f"data.{i}.x": across, f"data.{i}.y": up, f"data.{i + 1}.y": dots}
        fig.add_scatter(x=across[at], y=up[at], mode="lines", fill="toself", showlegend=False,
                        line={"width": 0}, fillcolor=theme.fade(color, 0.25))  # fmt: skip
        fig.add_scatter(x=t, y=dots[at], mode="lines+markers", name=name,
                        line={"color": color, "width": 4}, marker={"size": 7})  # fmt: skip
    fig.update_traces(hoverinfo="skip")
    ends = [bands(result["filtered"], result["after"], False)[1][-1], x]
    low, high = (float(f(np.concatenate(ends))) for f in (np.nanmin, np.nanmax))
    slack = 0.06 * (high - low) + 0.05
    fig.update_xaxes(title="t", range=[0.5, count + 0.5])
    fig.update_yaxes(title="z", range=[low - slack, high + slack])
    return fig, moving


def widths(
    gain: Any, deviations: dict[str, tuple[Any, str, str]], at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Gain and deviations over time, and a line at the present frame: the only shape.

    Args:
        gain: (T,), NaN where nothing was seen; deviations: name -> (T,), colour, dash.
    """
    g = array(gain)
    t = np.arange(1, len(g) + 1)
    fig = go.Figure()
    for name, (values, color, dash) in {**deviations, "gain": (g, theme.INPUT, "solid")}.items():
        fig.add_scatter(x=t, y=array(values), mode="lines", name=name, connectgaps=False,
                        line={"color": color, "width": 4, "dash": dash},
                        hovertemplate="t = %{x}: %{y:.3f}<extra></extra>")  # fmt: skip
    now = [*t.tolist(), *t[::-1].tolist()]
    rule(fig, x=now[at], line={"color": theme.text(), "width": 2, "dash": "dot"})
    top = max(1.05, 1.1 * float(np.nanmax(array(deviations["sd after x"][0]))))
    fig.update_xaxes(title="t", range=[0.5, len(g) + 0.5])
    fig.update_yaxes(range=[0, top])
    return fig, {"layout.shapes.0.x0": now, "layout.shapes.0.x1": now}
