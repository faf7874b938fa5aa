"""Partial sums against the exact value; estimates with their scatter; a map along a line; singular values."""

import math
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, rule

SCALED = (("by the flat kernel", theme.VERMILLION), ("by the map", theme.OUTPUT))  # ways to scale a kernel


def sums(exact: float, right: Any, without: Any, powers: Any, at: int) -> go.Figure:
    """Traces: 0 exact, 1 the series, 2 without 1/k, 3 powers of the trace, 4 the sum now."""
    n = list(range(1, len(array(right)) + 1))
    r = array(right)
    fig = go.Figure(
        go.Scatter(x=[n[0], n[-1]], y=[exact, exact], mode="lines", name="exact",
                   line={"color": theme.text(), "width": 2, "dash": "dot"})
    )  # fmt: skip
    for name, values, color in (
        ("series", r, theme.OUTPUT),
        ("no 1/k", array(without), theme.HIDDEN),
        ("(tr J)ᵏ", array(powers), theme.SKY),
    ):
        line = {"color": color, "width": 4 if color == theme.OUTPUT else 2}
        fig.add_trace(
            go.Scatter(x=n, y=values, mode="lines+markers", name=name, marker={"size": 8}, line=line)
        )
    fig.add_trace(go.Scatter(x=[at], y=[r[at - 1]], mode="markers", showlegend=False, hoverinfo="skip",
                             name="now", marker={"size": 17, "color": theme.OUTPUT}))  # fmt: skip
    seen = [exact, *r.tolist(), *array(without).clip(exact - 2, exact + 2).tolist()]
    room = 0.15 * (max(seen) - min(seen)) + 0.01
    fig.update_xaxes(title="terms n", nticks=8)
    return fig.update_yaxes(range=[min(seen) - room, max(seen) + room])  # powers of the trace may leave it


def estimates(
    exact: float, names: list[str], means: Any, sds: Any, at: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Means with one standard deviation to either side at frame `at`, and what moves: trace 0."""
    m, s = array(means).T, array(sds).T  # (frames, E)
    fig = go.Figure(
        go.Scatter(x=names, y=m[at], mode="markers", marker={"size": 13, "color": theme.OUTPUT},
                   error_y={"type": "data", "array": s[at], "thickness": 4, "width": 9}, showlegend=False)
    )  # fmt: skip
    rule(fig, y=exact, line={"color": theme.text(), "width": 2, "dash": "dot"})
    reach = max(0.12, 1.15 * float((abs(m - exact) + s)[abs(m - exact) + s < 1e3].max(initial=0.0)))
    fig.update_yaxes(title="estimate ± 1 sd", range=[exact - reach, exact + reach])
    return fig, {"data.0.y": m, "data.0.error_y.array": s}


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
    return fig


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


def norms(sides: Any, scaled: Any, at: int) -> go.Figure:
    """Norm of the map of pictures by their side, for both rules; trace 2 is the side now."""
    s, y = array(sides), array(scaled)
    fig = go.Figure()
    for i, (name, color) in enumerate(SCALED):
        line = {"width": 4, "color": color}
        fig.add_trace(go.Scatter(x=s, y=y[:, i], mode="lines+markers", name=name, line=line,
                                 marker={"size": 8}))  # fmt: skip
    fig.add_trace(go.Scatter(x=[s[at]] * 2, y=y[at], mode="markers", showlegend=False, hoverinfo="skip",
                             name="now", marker={"size": 17, "color": theme.text(),
                                                 "symbol": "circle-open", "line": {"width": 3}}))  # fmt: skip
    rule(fig, y=1, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_xaxes(title="side of the pictures", range=[0, s[-1] + 1], nticks=6,
                     ticklabelposition="outside right")  # fmt: skip
    return fig.update_yaxes(title="norm of the map", range=[0, max(1.25, 1.15 * float(y.max()))])


def way_back(errors: Any, at: int, least: float, most: float) -> tuple[go.Figure, dict[str, Any]]:
    """Errors over the steps at frame `at`, on a logarithmic axis, and what moves: traces 0 and 1."""
    e = array(errors).clip(least, most)  # (F, 2, steps)
    fig = go.Figure()
    for i, (name, color) in enumerate(SCALED):
        line = {"width": 4, "color": color}
        fig.add_trace(go.Scatter(x=list(range(e.shape[-1])), y=e[at, i], mode="lines+markers", name=name,
                                 line=line, marker={"size": 8}))  # fmt: skip
    fig.update_xaxes(title="step", nticks=6, range=[-1, e.shape[-1]])
    low, high = (math.log10(v) for v in (least, most))
    fig.update_yaxes(
        title="error", type="log", range=[low - 0.3, high + 0.3], exponentformat="power", dtick=2
    )
    return fig, {f"data.{i}.y": e[:, i] for i in range(2)}
