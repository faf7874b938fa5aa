"""Outputs of one example in training and at the test; the cube of numbers that share statistics."""

from typing import Any

import numpy as np
import torch

from lab.figures import basic, theme
from lab.figures.basic import array, click_targets
from lab.figures.moving import Tree, per_frame, unrolling
from pages.convolution.normalization.cube import EQUAL, Cube
from pages.convolution.normalization.room import NORMS
from pages.convolution.normalization.testing import Tested

HEIGHT = 480


def outputs(one: Tested) -> Tree:
    """Output of one example: in the training batches, and at the test with each kind of statistics."""
    T = np.arange(1, len(one.training) + 1)
    lines = {
        "training": array(one.training),
        "test, running averages": array(one.running),
        "test, whole set": np.full(len(T), one.frozen),
    }
    colors = dict(zip(lines, (theme.HIDDEN, theme.OUTPUT, theme.INPUT), strict=True))
    fig = basic.curves(lines, T, xlabel="batch", ylabel="normalised example", colors=colors, mark=1,
                       height=HEIGHT)  # fmt: skip
    fig.data[0].update(mode="markers", marker_size=9)
    return unrolling(fig)


def variances(one: Tested) -> Tree:
    """The running averages of the variance, and the variance of the whole set."""
    T = np.arange(1, len(one.biased) + 1)
    lines = {
        "1/(B − 1), torch": array(one.unbiased),
        "1/B": array(one.biased),
        "whole set": np.full(len(T), one.variance),
    }
    colors = dict(zip(lines, (theme.OUTPUT, theme.GREEN, theme.INPUT), strict=True))
    fig = basic.curves(lines, T, xlabel="batch", ylabel="variance", colors=colors, mark=1, height=HEIGHT)
    fig.update_yaxes(rangemode="tozero")
    return unrolling(fig)


# --- Cube -----------------------------------------------------------------------------------------------


def cells(one: Cube) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of the cells on the sheet, (N, C, S) each, of x; and the sheet's shape (2,)."""
    N, C, S = one.x.shape
    n, c, s = np.indices((N, C, S))
    return c, n * (S + 1) + s, np.array([2 * C + 1, N * (S + 1) - 1])


def sheet(values: Any, rows: np.ndarray, columns: np.ndarray, shape: np.ndarray) -> np.ndarray:
    result = np.full(tuple(shape), np.nan)
    result[rows, columns] = array(values)
    return result


RIM_X, RIM_Y = (-0.46, 0.46, 0.46, -0.46, -0.46, np.nan), (-0.46, -0.46, 0.46, 0.46, -0.46, np.nan)


def outlines(places: np.ndarray, width: int, rim: tuple[float, ...]) -> np.ndarray:
    """One coordinate of a line around each of these cells, as long as around `width` cells."""
    lines = np.full((width, len(rim)), np.nan)
    lines[: len(places)] = places[:, None] + np.array(rim)
    return lines.ravel()


def cube(one: Cube) -> Tree:
    """x above and normalised below, an example a block; in frame f the cells of set f are in full."""
    rows, columns, shape = cells(one)
    N, C, S = one.x.shape
    parts = [(one.x, rows), (one.y, rows + C + 1)]
    data: list[dict[str, Any]] = []
    for values, place in parts:
        low, high = basic.scale_range(array(values), "diverging")
        how = {"zmin": low, "zmax": high or 1.0, "showscale": False, "hoverinfo": "skip", "xgap": 2,
               "ygap": 2, "colorscale": theme.scale("diverging"), "type": "heatmap"}  # fmt: skip
        lit = [sheet(torch.where(one.sets == f, values, torch.nan), place, columns, shape)
               for f in range(one.count)]  # fmt: skip
        data.append(how | {"z": sheet(values, place, columns, shape), "opacity": 0.18})
        numbers = {"texttemplate": "%{z:.1f}", "textfont": {"size": 15}} if N * S <= 16 else {}
        data.append(how | numbers | {"z": per_frame(lit)})
    where = [array(one.sets) == f for f in range(one.count)]
    width = max(int(w.sum()) for w in where)
    rims = np.array([[outlines(columns[w], width, RIM_X), outlines(rows[w], width, RIM_Y)] for w in where])
    data.append({
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": per_frame(rims[:, 0]), "y": per_frame(rims[:, 1]),
        "line": {"color": theme.VERMILLION, "width": 3},
    })  # fmt: skip
    click = click_targets(np.tile(columns.ravel(), 2), np.concatenate([p.ravel() for _, p in parts]), size=40)
    data.append(click.to_plotly_json())
    notes = [
        {"x": n * (S + 1) + (S - 1) / 2, "y": -0.6, "yanchor": "bottom", "text": f"example {n + 1}",
         "showarrow": False, "font": {"size": 17}}
        for n in range(N)
    ]  # fmt: skip
    quiet = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    labels = [f"C{c + 1}" for c in range(C)]
    layout = {
        "height": HEIGHT, "annotations": notes, "margin": {"l": 8, "r": 4, "t": 30, "b": 4},
        "xaxis": quiet | {"showticklabels": False, "range": [-0.6, shape[1] - 0.4]},
        "yaxis": quiet | {"range": [shape[0] - 0.4, -0.6], "ticktext": [*labels, *labels],
                          "tickvals": [*range(C), *range(C + 1, 2 * C + 1)],
                          "title": "x̂  normalised           x"},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def pressed(one: Cube, x: int, y: int) -> int | None:
    """Number of the set, from 1, of the cell at a place of the sheet; None beside all cells."""
    N, C, S = one.x.shape
    n, s, c = x // (S + 1), x % (S + 1), y if y < C else y - C - 1
    inside = 0 <= n < N and s < S and 0 <= c < C and y != C
    return int(one.sets[n, c, s]) + 1 if inside else None


def identities(one: Cube) -> Tree:
    """Which norms give the same numbers: an equals sign, or the largest difference."""
    gaps = array(one.gaps)
    short = ["batch", "ghost", "position", "C, HW", "C", "group", "instance"]
    same = gaps <= EQUAL
    fig = basic.heatmap(same.astype(float), short, short, colorbar=False, zmin=0, zmax=1, height=HEIGHT,
                        hover=False)  # fmt: skip
    text = [
        ["=" if same[i, j] else f"{gaps[i, j]:.1f}" for j in range(len(NORMS))] for i in range(len(NORMS))
    ]
    fig.update_traces(text=text, texttemplate="%{text}", textfont={"size": 15}, xgap=2, ygap=2)
    fig.update_xaxes(tickangle=-90)
    fig.update_layout(title="largest difference of x̂")
    return fig.to_plotly_json()
