"""Partial sums against the exact value; estimates with their scatter; a map along a line; singular values."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule
from lab.figures.moving import per_frame, turning

SCALED = (("by the flat kernel", theme.VERMILLION), ("by the map", theme.OUTPUT))  # ways to scale a kernel


def sums(exact: float, right: Any, without: Any, powers: Any) -> dict[str, Any]:
    """The exact value, the series, without 1/k, powers of the trace, and the sum at each frame."""
    r, other = array(right), array(without)
    n = np.arange(1, len(r) + 1)
    dotted = {"color": theme.text(), "width": 2, "dash": "dot"}
    data: list[dict[str, Any]] = [
        {"x": n[[0, -1]], "y": [exact, exact], "mode": "lines", "name": "exact", "line": dotted}
    ]
    lines = {"series": (r, theme.OUTPUT, 4), "no 1/k": (other, theme.HIDDEN, 2)}
    for name, (y, color, width) in {**lines, "(tr J)ᵏ": (array(powers), theme.SKY, 2)}.items():
        line = {"color": color, "width": width}
        data.append(
            {"x": n, "y": y, "mode": "lines+markers", "name": name, "marker": {"size": 8}, "line": line}
        )
    now = {"x": per_frame(n[:, None]), "y": per_frame(r[:, None]), "mode": "markers", "name": "now"}
    dot = {"size": 17, "color": theme.OUTPUT}
    data.append(now | {"showlegend": False, "hoverinfo": "skip", "marker": dot})
    results = [exact, *r.tolist(), *other.clip(exact - 2, exact + 2).tolist()]
    room = 0.15 * (max(results) - min(results)) + 0.01  # powers of the trace may leave it
    axis = {"range": [min(results) - room, max(results) + room]}
    across = {"title": "terms n", "nticks": 8}
    return {"data": data, "layout": {"xaxis": across, "yaxis": axis, "meta": theme.NAMED_ENDS}}


def estimates(exact: float, names: list[str], means: Any, sds: Any) -> dict[str, Any]:
    """Means with one standard deviation to either side, (E, F) each."""
    m, s = array(means).T, array(sds).T  # (F, E)
    fig = go.Figure(
        go.Scatter(x=names, mode="markers", marker={"size": 13, "color": theme.OUTPUT}, showlegend=False,
                   error_y={"type": "data", "thickness": 4, "width": 9})
    )  # fmt: skip
    rule(fig, y=exact, line={"color": theme.text(), "width": 2, "dash": "dot"})
    reach = max(0.12, 1.15 * float((abs(m - exact) + s)[abs(m - exact) + s < 1e3].max(initial=0.0)))
    fig.update_yaxes(title="estimate ± 1 sd", range=[exact - reach, exact + reach])
    return turning(fig, y=m, error_y={"array": s})


def line(t: Any, components: Any, zeros: Any) -> go.Figure:
    """Both numbers of h + f(h) along a line; rings where both are 0."""
    fig = go.Figure()
    for values, name, color in zip(array(components), ("first number", "second number"),
                                   (theme.INPUT, theme.OUTPUT), strict=True):  # fmt: skip
        fig.add_trace(
            go.Scatter(x=array(t), y=values, mode="lines", name=name, line={"width": 4, "color": color})
        )
    fig.add_trace(
        go.Scatter(x=array(zeros), y=0 * array(zeros), mode="markers", name="both 0",
                   marker={"size": 20, "symbol": "circle-open", "color": theme.VERMILLION,
                           "line": {"width": 4}})
    )  # fmt: skip
    fig.update_xaxes(title="t along the line", nticks=7)
    fig.update_yaxes(title="h + f(h)")
    return fig.update_layout(meta=theme.NAMED_ENDS)


def values(before: Any, after: Any, eigen: Any) -> go.Figure:
    """Singular values of M before and after, and moduli of its eigenvalues after, on a logarithmic axis."""
    fig = go.Figure()
    for name, v, color in (
        ("σ before", before, theme.HIDDEN),
        ("σ after", after, theme.OUTPUT),
        ("|λ| after", eigen, theme.SKY),
    ):
        y = array(v).clip(1e-4)
        fig.add_trace(go.Bar(x=["largest", "smallest"], y=y, name=name, marker={"color": color},
                             text=[f"{one:.2g}" for one in array(v)], textposition="outside",
                             cliponaxis=False))  # fmt: skip
    rule(fig, y=1, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_yaxes(type="log", range=[-4, 1.9], exponentformat="power", dtick=1)
    return fig


def norms(sides: Any, scaled: Any) -> dict[str, Any]:
    """Norm of the map of pictures by their side, for both rules; rings at the side of each frame."""
    s, y = array(sides), array(scaled)
    fig = go.Figure()
    for i, (name, color) in enumerate(SCALED):
        line = {"width": 4, "color": color}
        fig.add_trace(go.Scatter(x=s, y=y[:, i], mode="lines+markers", name=name, line=line,
                                 marker={"size": 8}))  # fmt: skip
    ring = {"size": 17, "color": theme.text(), "symbol": "circle-open", "line": {"width": 3}}
    fig.add_trace(go.Scatter(mode="markers", showlegend=False, hoverinfo="skip", name="now", marker=ring))
    rule(fig, y=1, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_xaxes(title="side of the pictures", range=[0, s[-1] + 1], nticks=6,
                     ticklabelposition="outside right")  # fmt: skip
    fig.update_yaxes(title="norm of the map", range=[0, max(1.25, 1.15 * float(y.max()))])
    fig.update_layout(meta=theme.NAMED_ENDS)
    return turning(fig, 2, x=np.stack([s, s], 1), y=y)


def way_back(errors: Any, least: float, most: float) -> dict[str, Any]:
    """Errors over the steps of each frame, (F, 2, steps), on a logarithmic axis."""
    e = array(errors).clip(least, most)
    data = [
        {"x": list(range(e.shape[-1])), "y": per_frame(e[:, i]), "mode": "lines+markers", "name": name,
         "line": {"width": 4, "color": color}, "marker": {"size": 8}}
        for i, (name, color) in enumerate(SCALED)
    ]  # fmt: skip
    low, high = (math.log10(v) for v in (least, most))
    powers = {"type": "log", "range": [low - 0.3, high + 0.3], "exponentformat": "power", "dtick": 2}
    steps = {"title": "step", "nticks": 6, "range": [-1, e.shape[-1]]}
    axes = {"xaxis": steps, "yaxis": {"title": "error", **powers}}
    return {"data": data, "layout": axes | {"meta": theme.NAMED_ENDS}}
