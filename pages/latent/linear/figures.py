"""Two columns of a table with both models' ellipses and directions; a point, its answer and its posterior."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array

COLORS = {"PPCA": theme.INPUT, "FA": theme.OUTPUT}
LONG = {"PPCA": "PCA", "FA": "factor analysis"}


def reach(x: Any, pair: Sequence[int]) -> float:
    """Half the side of a square around 0 that holds nearly all of two columns."""
    return 1.15 * float(np.quantile(np.abs(array(x)[..., list(pair)]), 0.995))


def square(fig: go.Figure, names: Sequence[str], side: float, middle: Sequence[float] = (0, 0)) -> go.Figure:
    """Equal units on both axes, at least `side` to each side of the middle."""
    fig.update_xaxes(title=names[0], range=[middle[0] - side, middle[0] + side], constrain="domain")
    fig.update_yaxes(title=names[1], range=[middle[1] - side, middle[1] + side], scaleanchor="x",
                     constrain="domain")  # fmt: skip
    return fig


def through(direction: Any, pair: Sequence[int], length: float) -> np.ndarray:
    """The ends of a line through 0, (2, 2), seen in two columns."""
    d = array(direction)[list(pair)]
    return np.stack([-length * d, length * d])


def planes(
    points: Any, ellipses: dict[str, Any], lines: dict[str, Any], names: Sequence[str], side: float
) -> go.Figure:
    """Traces: 0 the points, then the ellipses (two standard deviations of p(x)), then the directions.

    Args:
        points: (N, 2); ellipses: model -> (P, 2); lines: model -> (2, 2).
    """
    p = array(points)
    fig = go.Figure(go.Scatter(x=p[:, 0], y=p[:, 1], mode="markers", name="data", hoverinfo="skip",
                               marker={"size": 6, "color": theme.HIDDEN, "opacity": 0.55}))  # fmt: skip
    for kind, shapes in (("ellipse", ellipses), ("line", lines)):
        for name, shape in shapes.items():
            s = array(shape)
            style = {"width": 3, "dash": "dot"} if kind == "ellipse" else {"width": 5}
            fig.add_trace(
                go.Scatter(x=s[:, 0], y=s[:, 1], mode="lines", hoverinfo="skip",
                           name=LONG[name] if kind == "line" else f"p(x) of {name}",
                           showlegend=kind == "line", line={"color": COLORS[name], **style})
            )  # fmt: skip
    return square(fig, names, side)


def moves(points: Any, ellipses: Sequence[Any], lines: Sequence[Any]) -> dict[str, Any]:
    """Moving parts of `planes`: (F, N, 2), and for each model (F, P, 2) and (F, 2, 2)."""
    sheets = [array(points), *map(array, ellipses), *map(array, lines)]
    return {
        f"data.{i}.{axis}": sheet[..., c] for i, sheet in enumerate(sheets) for c, axis in enumerate("xy")
    }


def shares(names: Sequence[str], values: dict[str, Any], noisy: int) -> go.Figure:
    """Shares of each column's variance that the factors take; trace 0 PPCA, trace 1 FA."""
    fig = go.Figure()
    for name, heights in values.items():
        fig.add_trace(go.Bar(x=list(range(len(names))), y=array(heights), name=LONG[name],
                             marker={"color": COLORS[name]}, showlegend=False))  # fmt: skip
    fig.add_vrect(x0=noisy - 0.48, x1=noisy + 0.48, line_width=0, fillcolor=theme.fade(theme.HIDDEN, 0.18),
                  layer="below")  # fmt: skip
    fig.update_xaxes(tickvals=list(range(len(names))), ticktext=list(names), showgrid=False)
    fig.update_yaxes(range=[0, 1.02])
    return fig.update_layout(title="Explained share", bargap=0.25)


def shrunk(
    points: Any,
    chosen: int,
    parts: dict[str, Any],
    names: Sequence[str],
    side: float,
    middle: Sequence[float],
) -> go.Figure:
    """Traces: 0 the points, to be clicked; 1 PCA's line, or nothing; 2 p(x)'s ellipse; 3 the posterior's
    spread; 4 the arrow's shaft; 5 where it ends; 6 the point; 7 PCA's projection.

    Args:
        parts: "line" (2, 2), "model" (P, 2), "spread" (P, 2), "answer" (2,), "projection" (2,).
    """
    p = array(points)
    fig = go.Figure(
        go.Scatter(x=p[:, 0], y=p[:, 1], mode="markers", name="data (click one)", hoverinfo="none",
                   customdata=np.arange(len(p)), showlegend=False,
                   marker={"size": 9, "color": theme.HIDDEN, "opacity": 0.5})
    )  # fmt: skip

    def line(at: Any, name: str, color: str, width: float, dash: str = "solid") -> None:
        at = array(at)
        style = {"color": color, "width": width, "dash": dash}
        fig.add_trace(go.Scatter(x=at[:, 0], y=at[:, 1], mode="lines", name=name, hoverinfo="skip",
                                 showlegend=False, line=style))  # fmt: skip

    def dot(at: Any, name: str, color: str, symbol: str, size: int) -> None:
        at = array(at)
        fig.add_trace(go.Scatter(x=[at[0]], y=[at[1]], mode="markers", name=name, hoverinfo="skip",
                                 marker={"color": color, "size": size, "symbol": symbol,
                                         "line": {"width": 4, "color": color}}))  # fmt: skip

    line(parts["line"], "PCA", theme.INPUT, 3)
    line(parts["model"], "p(x)", theme.INPUT, 3, "dot")
    line(parts["spread"], "posterior", theme.ATTENTION, 7)
    line(shaft(p[chosen], parts["answer"]), "shrinks", theme.VERMILLION, 4)
    dot(parts["answer"], "W E[z|x] + μ", theme.VERMILLION, "circle", 13)
    dot(p[chosen], "x", theme.text(), "circle", 11)
    dot(parts["projection"], "PCA's", theme.INPUT, "x-thin", 15)
    return square(fig, names, side, middle)


def shaft(start: Any, end: Any) -> np.ndarray:
    """(2, 2)"""
    return np.stack([array(start), array(end)])


def shrinking(chosen: Any, models: Any, spreads: Any, answers: Any) -> dict[str, Any]:
    """Moving parts of `shrunk`: (F, P, 2), (F, P, 2), (F, 2); chosen (2,) stays."""
    model, spread, answer = array(models), array(spreads), array(answers)
    start = np.broadcast_to(array(chosen), answer.shape)
    arrows = np.stack([start, answer], 1)
    results: dict[str, Any] = {}
    for c, axis in enumerate("xy"):
        results |= {f"data.2.{axis}": model[..., c], f"data.3.{axis}": spread[..., c],
                  f"data.4.{axis}": arrows[..., c], f"data.5.{axis}": answer[:, c : c + 1]}  # fmt: skip
    return results


GRID = np.linspace(-4, 4, 1601)


def bell(mean: float, variance: float) -> np.ndarray:
    """A Gaussian's density on GRID, over its peak."""
    return np.exp(-0.5 * (GRID - mean) ** 2 / variance)


def posterior(mean: Any, covariance: Any) -> tuple[go.Figure, str]:
    """p(z) and p(z|x), curves of one factor or ellipses of the first two; trace 1 is the posterior."""
    m, c = array(mean), array(covariance)
    fig = go.Figure()
    if len(m) == 1:
        shapes = [("p(z)", GRID, bell(0, 1)), ("p(z | x)", GRID, bell(m[0], c[0, 0]))]
    else:
        shapes = [("p(z)", *around([0, 0], np.eye(2)).T), ("p(z | x)", *around(m, c).T)]
    for (name, x, y), color in zip(shapes, (theme.HIDDEN, theme.ATTENTION), strict=True):
        style = {"line": {"color": color, "width": 4}, "fillcolor": theme.fade(color, 0.15)}
        fig.add_trace(go.Scatter(x=x, y=y, mode="lines", name=name, hoverinfo="skip", fill="toself", **style))
    if len(m) == 1:
        fig.update_xaxes(title="z")
        fig.update_yaxes(title="density over its peak", range=[0, 1.1])
        return fig, "curves"
    return square(fig, ("z₁", "z₂"), 4), "ellipses"


def around(mean: Any, covariance: Any) -> np.ndarray:
    """Two standard deviations of the first two factors, (P, 2)."""
    angle = np.linspace(0, 2 * np.pi, 73)
    root = np.linalg.cholesky(array(covariance)[:2, :2])
    return array(mean)[:2] + 2 * np.stack([np.cos(angle), np.sin(angle)], 1) @ root.T


def narrowing(means: Any, covariances: Any) -> dict[str, Any]:
    """Moving parts of `posterior`: means (F, K), covariances (F, K, K)."""
    m, c = array(means), array(covariances)
    if m.shape[1] == 1:
        return {"data.1.y": np.stack([bell(a[0], b[0, 0]) for a, b in zip(m, c, strict=True)])}
    shapes = np.stack([around(a, b) for a, b in zip(m, c, strict=True)])
    return {"data.1.x": shapes[..., 0], "data.1.y": shapes[..., 1]}
