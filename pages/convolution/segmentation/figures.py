"""Maps of probabilities and classes, a picture that is labelled region by region, and grids of a U-Net."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from modules.convolution.regions import UNLABELLED
from pages.convolution.segmentation.lens import Assembly, Compared
from pages.convolution.segmentation.pyramid import Pyramid

HEIGHT = 540
COLORS = (theme.HIDDEN, theme.SKY, theme.VERMILLION)  # ground, cell, border
NOW = theme.ORANGE  # the region that is being made
GAP = 0.02  # between tiles, of the width
WIDEST = 0.9  # of the largest grid; two columns of grids are 1 apart
STEP = 0.25  # between two joining lines
LEGEND = {  # below the pictures
    "showlegend": True, "margin": {"l": 4, "r": 4, "t": 6, "b": 36},
    "legend": {"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.01, "yanchor": "top"},
}  # fmt: skip


def flat(colors: tuple[str, ...]) -> list[list[float | str]]:
    """A colour scale of whole numbers, one colour each."""
    count = len(colors)
    return [[(k + edge) / count, color] for k, color in enumerate(colors) for edge in (0, 1)]


def keys(names: Sequence[str], colors: Sequence[str]) -> list[dict[str, Any]]:
    """Entries of a legend, each a square."""
    return [
        {"type": "scatter", "x": [None], "y": [None], "mode": "markers", "name": name, "hoverinfo": "skip",
         "marker": {"size": 16, "color": color, "symbol": "square"}}
        for name, color in zip(names, colors, strict=True)
    ]  # fmt: skip


def tile(
    z: Any, name: Any, column: int, row: int, rows: int, columns: int, **look: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A heat map in a table of tiles: trace, its axes' layout, and its title; counted from the top left."""
    k = 1 + column + columns * row
    at = "" if k == 1 else str(k)
    side = (1 - GAP * (columns - 1)) / columns
    high = 1 / rows
    left = column * (side + GAP)
    x = {"domain": [left, left + side], "visible": False, "constrain": "domain", "anchor": f"y{at}"}
    y = {
        "domain": [1 - (row + 1) * high, 1 - row * high - 0.075], "visible": False, "anchor": f"x{at}",
        "scaleanchor": f"x{at}", "constrain": "domain", "autorange": "reversed",
    }  # fmt: skip
    title = {
        "x": 0.5, "xref": f"x{at} domain", "y": 1, "yref": f"y{at} domain", "xanchor": "center",
        "yanchor": "bottom", "text": name, "showarrow": False, "font": {"size": theme.FONT_SIZE + 1},
    }  # fmt: skip
    trace = {
        "type": "heatmap", "z": z, "showscale": False, "xaxis": f"x{at}", "yaxis": f"y{at}",
        "hovertemplate": "row %{y}, column %{x}: %{z:.3g}<extra></extra>", **look,
    }  # fmt: skip
    return trace, {f"xaxis{at}": x}, {f"yaxis{at}": y}, title


def pixels(one: Compared, classes: tuple[str, ...], names: tuple[str, str]) -> Tree:
    """The picture and its true classes; probabilities of the frame's class by both networks, and what each
    calls every pixel."""
    grey = {"zmin": 0, "zmax": 1, "colorscale": theme.scale("grey")}
    sure = {"zmin": 0, "zmax": 1, "colorscale": theme.scale("probability")}
    called = {"zmin": 0, "zmax": len(classes), "colorscale": flat(COLORS), "hoverinfo": "skip",
              "hovertemplate": None}  # fmt: skip
    tiles = [tile(array(one.of.x), "picture", 0, 0, 2, 3, **grey)]
    if one.of.truth is not None:
        tiles.append(tile(array(one.of.truth) + 0.5, "true classes", 0, 1, 2, 3, **called))
    for k, name in enumerate(names):
        p = per_frame(array(one.p[k]))
        title = per_frame([f"P({c.lower()}), {name}" for c in classes])
        tiles.append(tile(p, title, k + 1, 0, 2, 3, **sure))
        tiles.append(tile(array(one.told[k]) + 0.5, name, k + 1, 1, 2, 3, **called))
    layout: dict[str, Any] = {"height": HEIGHT}
    for _, x, y, _ in tiles:
        layout |= x | y
    if one.of.truth is None:  # nothing is known of its pixels: it stands in the middle
        layout["yaxis"] = layout["yaxis"] | {"domain": [0.25, 0.75]}
    layout["annotations"] = [title for *_, title in tiles]
    return {"data": [*(trace for trace, *_ in tiles), *keys(classes, COLORS)], "layout": layout | LEGEND}


def regions(one: Assembly, classes: tuple[str, ...]) -> Tree:
    """The picture, what is labelled of it, and in orange the region that is being made."""
    codes = []
    for moment in one.moments:
        z = array(moment.labels).astype(np.float32) + 0.5
        z[array(moment.labels == UNLABELLED)] = np.nan
        if moment.sweep >= 0:
            z[array(moment.state)] = len(classes) + 0.5
        codes.append(z)
    fig = basic.image(one.of.x, height=HEIGHT, hover=False)
    tree: dict[str, Any] = fig.to_plotly_json()
    overlay = {
        "type": "heatmap", "z": per_frame(np.array(codes)), "zmin": 0, "zmax": len(classes) + 1,
        "colorscale": flat((*COLORS, NOW)), "showscale": False, "opacity": 0.7, "hoverinfo": "skip",
    }  # fmt: skip
    tree["layout"] |= LEGEND
    return tree | {"data": [*tree["data"], overlay, *keys((*classes, "now"), (*COLORS, NOW))]}


def evidence(one: Assembly, classes: tuple[str, ...]) -> Tree:
    """Σ P of the classes: pale over what is unlabelled, full in the region that is labelled."""
    sums = array(one.evidence)
    fig = basic.bars(classes, sums[0], horizontal=True, xlabel="Σ P", height=HEIGHT)
    fig.update_xaxes(range=[0, one.of.x.numel()], nticks=4)
    tree: dict[str, Any] = fig.to_plotly_json()
    colors = []
    for moment in one.moments:
        label = one.steps[moment.step].label if moment.sweep >= 0 else None
        colors.append([
            NOW if k == label else theme.fade(c, 0.4) if math.isfinite(moment.sums[k]) else c
            for k, c in enumerate(COLORS)
        ])  # fmt: skip
    bar = tree["data"][0] | {"x": per_frame(sums), "hoverinfo": "x+y"}
    bar.pop("hovertext", None)
    bar["marker"] = {"color": per_frame(colors)}
    tree["layout"]["shapes"] = [{
        "type": "line", "xref": "x", "yref": "paper", "x0": one.needed, "x1": one.needed, "y0": 0, "y1": 1,
        "line": {"color": theme.text(), "width": 2, "dash": "dot"},
    }]  # fmt: skip
    return tree | {"data": [bar]}


# --- Sizes ----------------------------------------------------------------------------------------------


def square(middle: float, side: float) -> tuple[list[float], list[float]]:
    """The closed line around a square by its middle, on one line."""
    left, right, half = middle - side / 2, middle + side / 2, side / 2
    return [left, right, right, left, left], [-half, -half, half, half, -half]


def stroke(x: Any, y: Any, color: str, width: float, dash: str = "solid") -> dict[str, Any]:
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "hoverinfo": "skip", "showlegend": False,
            "line": {"color": color, "width": width, "dash": dash}}  # fmt: skip


def grids(one: Pyramid) -> Tree:
    """All grids to one scale, down and up: before and after convolutions, and the cropped windows."""
    scale = WIDEST / one.n
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    windows = {g.level: g for g in one.grids if g.up}
    for column, grid in enumerate(one.grids):
        color = theme.VERMILLION if grid.fails else theme.OUTPUT if grid.up else theme.INPUT
        lines = [(grid.before, theme.fade(color, 0.6), "solid"), (grid.after, color, "solid")]
        if not grid.up and grid.level in windows and windows[grid.level].crop:
            lines.append((windows[grid.level].before, theme.OUTPUT, "dash"))
        for side, shade, dash in lines:
            fill = {"fill": "toself", "fillcolor": theme.fade(color, 0.18)} if side == grid.after else {}
            data.append(stroke(*square(column, scale * side), shade, 3, dash) | fill)
        notes.append({
            "x": column, "y": scale * grid.before / 2 + 0.04, "yanchor": "bottom", "showarrow": False,
            "text": f"{grid.before}<br><b>{grid.after}</b>",
            "font": {"size": theme.FONT_SIZE + 2, "color": theme.text()},
        })  # fmt: skip
        if grid.fails:
            notes.append({
                "x": column + 0.6, "y": 0, "xanchor": "left", "showarrow": False,
                "text": "odd" if grid.after else "nothing left",
                "font": {"size": theme.FONT_SIZE + 2, "color": theme.VERMILLION},
            })  # fmt: skip
        if grid.up:
            depth = -0.5 - STEP * (one.levels - grid.level)
            kept = -scale * one.grids[grid.level].before / 2
            sides = [grid.level, grid.level, column, column]
            ends = [kept, depth, depth, -scale * grid.before / 2]
            data.append(stroke(sides, ends, theme.soft(), 2))
            notes.append({
                "x": grid.level + 0.5, "y": depth, "showarrow": False, "bgcolor": theme.paper(),
                "text": f"crop {grid.crop}" if grid.crop else "join",
                "font": {"size": theme.FONT_SIZE, "color": theme.text()},
            })  # fmt: skip
    edges = [square(column, scale * g.before + 0.08) for column, g in enumerate(one.grids)]
    frame_x, frame_y = (per_frame([edge[axis] for edge in edges]) for axis in (0, 1))
    data.append(stroke(frame_x, frame_y, theme.text(), 2, "dot"))
    deep = -0.6 - STEP * one.levels if any(g.up for g in one.grids) else -0.6
    layout = {
        "height": HEIGHT - 170, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "annotations": notes,
        "xaxis": {"visible": False, "range": [-0.6, max(len(one.grids), 4) - 0.4]},
        "yaxis": {"visible": False, "range": [deep, 1.2], "scaleanchor": "x"},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def legal(one: Pyramid) -> Tree:
    """Legal sides with what is classified of each, and the side that was asked for."""
    most = max(2 * one.least, int(1.3 * one.n))
    pairs = one.legal(most)
    n, output = zip(*pairs, strict=True)
    good = one.output is not None
    layout = {
        "height": 165, "margin": {"l": 70, "r": 10, "t": 8, "b": 46},
        "xaxis": {"title": "side n", "range": [0, most]},
        "yaxis": {"title": "classified", "rangemode": "tozero", "nticks": 4},
        "shapes": [{"type": "line", "xref": "x", "yref": "paper", "x0": one.n, "x1": one.n, "y0": 0, "y1": 1,
                    "line": {"color": theme.OUTPUT if good else theme.VERMILLION, "width": 4}}],
    }  # fmt: skip
    dots = {"type": "scatter", "x": n, "y": output, "mode": "markers", "showlegend": False,
            "marker": {"size": 9, "color": theme.BLUE},
            "hovertemplate": "n = %{x}: %{y} classified<extra></extra>"}  # fmt: skip
    return {"data": [dots], "layout": layout}
