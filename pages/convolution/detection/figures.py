"""A picture under its grid with boxes that come and go, bars of scores, a cell's numbers, and curves."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting
from pages.convolution.detection.judging import Judged
from pages.convolution.detection.lens import Cells, Look, Run

HEIGHT = 520
COLORS = {"waiting": theme.HIDDEN, "kept": theme.BLUE, "taken": theme.OUTPUT, "dropped": theme.VERMILLION}
WIDTHS = {"waiting": 3, "kept": 5, "taken": 6, "dropped": 3}
SHOWN = 24  # bars
NUMBERS = ("x", "y", "√w", "√h", "conf.")


def outline(box: Any) -> tuple[list[float], list[float]]:
    """The closed line around a box, and a gap after it; all gaps for None."""
    if box is None:
        return [math.nan] * 6, [math.nan] * 6
    left, top, right, bottom = (float(v) for v in box)
    return [left, right, right, left, left, math.nan], [top, top, bottom, bottom, top, math.nan]


def lines(frames: list[list[Any]], color: str, width: float, dash: str = "solid") -> dict[str, Any]:
    """A trace with these boxes at each frame, None where one is not seen."""
    xs = [[v for box in boxes for v in outline(box)[0]] for boxes in frames]
    ys = [[v for box in boxes for v in outline(box)[1]] for boxes in frames]
    return {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": per_frame(np.array(xs, np.float32)), "y": per_frame(np.array(ys, np.float32)),
        "line": {"color": color, "width": width, "dash": dash},
    }  # fmt: skip


def canvas(x: Tensor | None, side: float, grid: int) -> dict[str, Any]:
    """A picture (H, H) in coordinates of its edges, or blank paper, under the lines of a grid."""
    data: list[Any] = []
    if x is not None:
        middles = np.arange(len(x)) + 0.5
        data.append({
            "type": "heatmap", "z": array(x), "x": middles, "y": middles, "zmin": 0, "zmax": 1,
            "colorscale": theme.scale("grey"), "showscale": False, "hoverinfo": "skip",
        })  # fmt: skip
    ticks = [side * k / grid for k in range(grid + 1)] if grid else []
    gaps = [math.nan] * len(ticks)
    along = [v for t in zip(ticks, ticks, gaps, strict=True) for v in t]
    across = [v for _ in ticks for v in (0, side, math.nan)]
    for xs, ys in ((along, across), (across, along)):
        data.append({"type": "scatter", "x": xs, "y": ys, "mode": "lines", "hoverinfo": "skip",
                     "showlegend": False, "line": {"color": theme.grid(), "width": 1}})  # fmt: skip
    room = 0.01 * side
    axis = {"visible": False, "constrain": "domain", "range": [-room, side + room]}
    return {
        "data": data,
        "layout": {
            "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "xaxis": axis,
            "yaxis": axis | {"range": [side + room, -room], "scaleanchor": "x"},
        },
    }  # fmt: skip


def clicks(side: float) -> dict[str, Any]:
    """Places for clicks, every second pixel."""
    at = np.arange(2, side, 2)
    return basic.click_plane(at, at).to_plotly_json()


def suppression(run: Run, x: Tensor | None, side: float, grid: int) -> Tree:
    """The boxes after each step: grey wait, the orange one is taken, red ones go, blue ones are kept."""
    tree = canvas(x, side, grid)
    count = len(run.steps) + 1
    corners = run.detections[:, 2:].tolist()
    states = [run.states(f) for f in range(count)]
    for state, color in COLORS.items():
        frames = [
            [box if s == state else None for box, s in zip(corners, row, strict=True)] for row in states
        ]
        tree["data"].append(lines(frames, color, WIDTHS[state], "dash" if state == "dropped" else "solid"))
    labels = run.detections[:, 0].tolist()
    places: list[list[list[float]]] = [[], []]
    texts: list[list[str]] = []
    for f, row in enumerate(states):
        scores = run.scores(f)
        seen = [s in ("kept", "taken") or (x is None and s != "gone") for s in row]
        # above a digit, and inside a typed box, where those of one corner would cover each other
        tops = [bottom if x is None else max(top - 0.01 * side, 0.06 * side) for _, top, _, bottom in corners]
        for place, values in zip(places, ([c[0] for c in corners], tops), strict=True):
            place.append([v if on else math.nan for v, on in zip(values, seen, strict=True)])
        texts.append([
            "" if not on else f"{run.name(i)} {score:.2f}" if x is None else f"{label:.0f}: {score:.2f}"
            for i, (on, label, score) in enumerate(zip(seen, labels, scores, strict=True))
        ])  # fmt: skip
    tree["data"].append({
        "type": "scatter", "mode": "text", "x": per_frame(np.array(places[0], np.float32)),
        "y": per_frame(np.array(places[1], np.float32)), "text": per_frame(texts), "hoverinfo": "skip",
        "textposition": "top right", "showlegend": False, "cliponaxis": False,
        "textfont": {"size": theme.FONT_SIZE, "color": theme.text()},
    })  # fmt: skip
    if x is not None:
        tree["data"].append(clicks(side))
    return tree


def scores(run: Run) -> Tree:
    """Scores of the boxes after each step, the highest at first; those that are gone are pale."""
    order = sorted(range(len(run.detections)), key=lambda i: -float(run.detections[i, 1]))[:SHOWN]
    count = len(run.steps) + 1
    pale = {**COLORS, "gone": theme.fade(theme.VERMILLION, 0.25)}
    values = [[run.scores(f)[i] for i in order] for f in range(count)]
    colors = [[pale[run.states(f)[i]] for i in order] for f in range(count)]
    names = [f"{run.name(i)}: {run.detections[i, 0]:.0f}" for i in order]
    fig = basic.bars(names, values[0], horizontal=True, xlabel="score s", ylabel="box: class",
                     height=HEIGHT, probability=True)  # fmt: skip
    fig.update_xaxes(nticks=3)
    tree: dict[str, Any] = fig.to_plotly_json()
    rule = {"type": "line", "xref": "x", "yref": "paper", "x0": run.threshold, "x1": run.threshold, "y0": 0,
            "y1": 1, "line": {"color": theme.text(), "width": 2, "dash": "dot"}}  # fmt: skip
    tree["layout"]["shapes"] = [rule]
    bar = tree["data"][0] | {"x": per_frame(np.array(values, np.float32)), "hoverinfo": "x+y"}
    bar.pop("hovertext", None)
    bar["marker"] = {"color": per_frame(colors)}
    return tree | {"data": [bar]}


def one_cell(look: Look, cells: Cells) -> Tree:
    """A cell, its boxes, the responsible one in full, and the box that it is to find."""
    side = float(look.model.side)
    tree = canvas(look.x, side, cells.side)
    size, every = side / cells.side, range(cells.side**2)
    squares = [[(k % cells.side * size, k // cells.side * size, k % cells.side * size + size,
                 k // cells.side * size + size)] for k in every]  # fmt: skip
    corners, there = cells.corners.clamp(0, side).tolist(), cells.there.tolist()
    aims = [[cells.aim[k].tolist()] if there[k] else [None] for k in every]
    chosen = cells.chosen.tolist()
    idle = [[box if not (there[k] and b == chosen[k]) else None for b, box in enumerate(corners[k])]
            for k in every]  # fmt: skip
    own = [[corners[k][chosen[k]]] if there[k] else [None] for k in every]
    tree["data"] += [
        lines(squares, theme.text(), 4), lines(idle, theme.HIDDEN, 3), lines(aims, theme.INPUT, 5),
        lines(own, theme.OUTPUT, 5, "dash"), clicks(side),
    ]  # fmt: skip
    return tree


def numbers(cells: Cells) -> Tree:
    """What each cell is to say, and what it says: its responsible box and the scores of its classes."""
    count, classes = cells.side**2, cells.classes.shape[1]
    said = cells.said[np.arange(count), array(cells.chosen)]  # (S², 5)
    values = np.concatenate([array(said), array(cells.classes)], 1)
    ones = np.eye(classes)[array(cells.label)]
    there = array(cells.there)[:, None]
    aims = np.concatenate([array(cells.target), ones], 1)
    aims = np.where(there, aims, math.nan)
    aims[:, 4] = np.where(there[:, 0], aims[:, 4], 0)  # where there is nothing, only that is asked for
    names = [*NUMBERS, *map(str, range(classes))]
    fig = basic.bars(names, values[0], baseline=aims[0], horizontal=True, names=("says", "is to say"),
                     height=HEIGHT)  # fmt: skip
    low, high = float(np.nanmin([values.min(), 0])), float(np.nanmax([values.max(), 1]))
    fig.update_xaxes(range=[low - 0.05, high + 0.05], nticks=3)
    fig.update_layout(legend={"orientation": "h", "y": 1.08})
    tree: dict[str, Any] = fig.to_plotly_json()
    first, second = tree["data"]
    for trace, frames in ((first, aims), (second, values)):
        trace |= {"x": per_frame(frames.astype(np.float32)), "hoverinfo": "x+y"}
        trace.pop("hovertext", None)
    return tree


def precision(judged: Judged) -> Tree:
    """Precision against recall before and after suppression, with dots at the threshold of each frame."""
    p = array(judged.points)
    lines_of = {
        "all boxes": (array(judged.before.recall), array(judged.before.precision)),
        "after suppression": (array(judged.after.recall), array(judged.after.precision)),
    }
    colors = {"all boxes": theme.HIDDEN, "after suppression": theme.BLUE}
    fig = basic.curves(lines_of, xlabel="recall", ylabel="precision", colors=colors, height=HEIGHT)
    fig.update_xaxes(range=[0, 1.04], nticks=5)
    fig.update_yaxes(range=[0, 1.05], nticks=5)
    return resting(fig, (p[:, 0], p[:, 1], theme.HIDDEN), (p[:, 2], p[:, 3], theme.BLUE), size=18)


def averages(judged: Judged) -> go.Figure:
    """Average precision of each class."""
    names = [str(k) for k in range(len(judged.averages))]
    return basic.bars(names, np.nan_to_num(array(judged.averages)), horizontal=True, probability=True,
                      xlabel="average precision", ylabel="class", color=theme.BLUE,
                      height=HEIGHT).update_xaxes(nticks=3)  # fmt: skip
