"""Masked autoregressive models drawn: network and degrees, masks, Jacobians, pixels as they come."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap

Live = Sequence[Any]  # a bool vector per layer


def network(
    ranks: Any,
    degrees: Sequence[Any],
    layers: Sequence[Any],
    direct: Any = None,
    live: Live | None = None,
) -> go.Figure:
    """The masked network: inputs left, outputs right, the number in a unit its rank or degree.

    A click reports x = layer, y = height and customdata = [layer, unit].

    Args:
        ranks: (n,) of the variables.
        degrees: (width,) per hidden layer.
        layers: (out, in) bool masks, one more than hidden layers.
        direct: (n, n) bool mask from inputs to outputs, or None.
        live: bool vectors, inputs first: the units on a path into the chosen one (its layer is the last).
    """
    rank = array(ranks)
    n = len(rank)
    numbers = [rank, *(array(m) for m in degrees), rank]
    last = len(numbers) - 1
    heights = [centred(len(v)) for v in numbers]
    chosen = [array(v).astype(bool) for v in live] if live is not None else []
    end = len(chosen) - 1
    pale: list[tuple[int, int, int, int]] = []  # (layer, unit) -> (layer, unit)
    bright: list[tuple[int, int, int, int]] = []
    wires = [(k, k + 1, array(mask).astype(bool)) for k, mask in enumerate(layers)]
    if direct is not None:
        wires.append((0, last, array(direct).astype(bool)))
    for start, stop, mask in wires:
        for out, inp in zip(*np.nonzero(mask), strict=True):
            # a wire is bright if it leads towards the chosen unit: both of its ends are on a path
            on = stop <= end and chosen[start][inp] and chosen[stop][out]
            (bright if on else pale).append((start, int(inp), stop, int(out)))
    fig = go.Figure()
    top = max(float(h.max()) for h in heights)
    for wire, color, width in ((pale, theme.fade(theme.HIDDEN, 0.3), 1), (bright, theme.VERMILLION, 3)):
        for far in (False, True):  # direct wires bow around the hidden units
            xs: list[float | None] = []
            ys: list[float | None] = []
            for a, i, b, j in wire:
                if (b - a > 1) == far:
                    y, z = heights[a][i], heights[b][j]
                    bow = (1 if y + z >= 0 else -1) * (top + 0.4 + 0.15 * abs(y - z))
                    xs += [a, (a + b) / 2, b, None] if far else [a, b, None]
                    ys += [y, bow, z, None] if far else [y, z, None]
            line = {"color": color, "width": width, "shape": "spline" if far else "linear"}
            fig.add_trace(go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", showlegend=False))
    for k, values in enumerate(numbers):
        base = theme.INPUT if k == 0 else theme.OUTPUT if k == last else theme.HIDDEN
        on = chosen[k] if k <= end else np.zeros(len(values), bool)
        faded = [base if not chosen or on[i] else theme.fade(base, 0.35) for i in range(len(values))]
        name = "x" if k == 0 else "output" if k == last else f"hidden {k}, unit"
        kind = "rank" if k in (0, last) else "degree"
        fig.add_trace(
            go.Scatter(
                x=[k] * len(values), y=heights[k], mode="markers+text", text=[str(v) for v in values],
                textfont={"color": "#FFFFFF" if k != last else "#000000", "size": theme.FONT_SIZE - 2},
                customdata=[[k, i] for i in range(len(values))], showlegend=False,
                marker={"size": 32 if max(map(len, numbers)) <= 9 else 24, "color": faded,
                        "line": {"width": 0}},
                hovertext=[f"{name} {i + 1}: {kind} {v}" for i, v in enumerate(values)], hoverinfo="text",
            )
        )  # fmt: skip
    labels = [
        {"x": k, "y": heights[k][i], "text": label, "showarrow": False, "xanchor": side, "xshift": shift}
        for i in range(n)
        for k, side, shift, label in ((0, "right", -22, f"x{i + 1}"), (last, "left", 22, f"x̂{i + 1}"))
    ]
    names = ["inputs", *(f"hidden {k + 1}" for k in range(len(degrees))), "outputs"]
    fig.update_xaxes(tickvals=list(range(last + 1)), ticktext=names, showgrid=False, zeroline=False,
                     range=[-0.35, last + 0.35])  # fmt: skip
    fig.update_yaxes(visible=False)
    height = max(380, 44 * max(map(len, numbers)) + 80)
    fig.update_layout(height=height, annotations=labels)
    return fig


def unit_at(sizes: Sequence[int], point: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """(layer, unit) of a point that was clicked in `network`; None if there is none of these sizes."""
    if point is None:
        return None
    layer = round(float(point["x"]))
    if not 0 <= layer < len(sizes):
        return None
    unit = round((sizes[layer] - 1) / 2 - float(point["y"]))
    return (layer, unit) if 0 <= unit < sizes[layer] else None


def centred(count: int) -> np.ndarray:
    """Heights of `count` units around zero, the first on top."""
    return (count - 1) / 2 - np.arange(count)


def mask_matrix(mask: Any, rows: Any, columns: Any, title: str = "") -> go.Figure:
    """One mask, ones dark; rows and columns named by rank or degree."""
    z = array(mask).astype(float)
    fig = heatmap(z, x=[str(c) for c in array(columns)], y=[str(r) for r in array(rows)], title=title,
                  scale="probability", colorbar=False, height=150 + 34 * len(z))  # fmt: skip
    fig.update_yaxes(showticklabels=True)
    return fig


def paths(counts: Any, order: Any, lost: Sequence[tuple[int, int]], title: str = "") -> go.Figure:
    """Path counts, outputs by inputs, both sorted by the order; × where a predecessor's edge is lost.

    Args:
        counts: (n, n), row = output i, column = input j, by variable.
        order: (n,) variables in the order they are visited.
        lost: (predecessor, variable) pairs.
    """
    visited = array(order)
    z = array(counts)[np.ix_(visited, visited)]
    fig = heatmap(np.log1p(z), x=names(visited, "x"), y=names(visited, "x̂"), title=title, scale="probability",
                  zmax=max(1.0, float(np.log1p(z).max())), colorbar=False, square=True)  # fmt: skip
    if len(visited) <= 16:
        dark = np.log1p(z) > 0.55 * max(1.0, float(np.log1p(z).max()))
        ink, size = np.where(dark, theme.paper(), theme.text()), theme.FONT_SIZE - 4
        fig.update_layout(
            annotations=[  # all at once: one by one, each would check all those before it again
                {"x": j, "y": i, "text": f"{count:.0f}", "showarrow": False,
                 "font": {"color": str(ink[i, j]), "size": size}}
                for (i, j), count in np.ndenumerate(z)
                if count
            ]
        )  # fmt: skip
    place = {int(v): t for t, v in enumerate(visited)}
    if lost:
        fig.add_trace(
            go.Scatter(
                x=[place[j] for j, _ in lost], y=[place[i] for _, i in lost], mode="markers",
                showlegend=False,
                marker={"symbol": "x", "size": 14 if len(visited) <= 16 else 6, "color": theme.VERMILLION},
                hovertext=[f"x{i + 1} cannot read x{j + 1}, drawn just before it" for j, i in lost],
                hoverinfo="text",
            )
        )  # fmt: skip
    fig.update_layout(height=420, margin_t=36)
    return fig


def measured(jacobian: Any, order: Any, title: str = "") -> go.Figure:
    """∂ logit / ∂ x, outputs by inputs, both sorted by the order."""
    visited = array(order)
    z = array(jacobian)[np.ix_(visited, visited)]
    fig = heatmap(z, x=names(visited, "x"), y=names(visited, "x̂"), title=title, scale="diverging",
                  colorbar=False, square=True, numbers=".1f" if len(visited) <= 6 else False)  # fmt: skip
    fig.update_traces(textfont={"size": theme.FONT_SIZE - 4})
    fig.update_layout(height=420, margin_t=36)
    return fig


def names(variables: np.ndarray, letter: str) -> list[str]:
    return [f"{letter}{v + 1}" for v in variables]
