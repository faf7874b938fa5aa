"""A picture with the weights over it, word by word; what each weighs; errors as a sheet, counted."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, click_plane, corners, image, images
from lab.figures.moving import Tree, per_frame, turning
from pages.recurrent.captioning.gallery import Cases, Counted, names
from pages.recurrent.captioning.lens import Picture, Written
from pages.recurrent.captioning.room import NAME, PLACE, RELATION

LEAST = 0.05  # the smallest weight whose number is written
COLUMNS, GAP = 3, 7  # of the sheet
WHITE = "#FFFFFF"  # frames on pictures, which are dark in either mode


def over(shown: Picture, result: Written, count: int, name: str = "") -> Tree:
    """A picture and, around the true centre of each location, a square whose area is γ of the location's
    cell; the object that the word speaks of has a frame, the place of hard attention a ring.

    Args:
        count: frames, at least T; the last word stays.
        name: written above with the caption, an object per line.
    """
    steps = [min(frame, len(result.words) - 1) for frame in range(count)]
    centres, gamma = array(result.centres), array(result.gamma)[steps]
    half = result.jump / 2 * np.sqrt(gamma)[..., None]
    x, y = (array(each)[None, :, None] for each in result.centres.unbind(1))
    across = np.concatenate([x + half * [-1, 1, 1, -1, -1], np.full_like(half, np.nan)], 2)
    down = np.concatenate([y + half * [-1, -1, 1, 1, -1], np.full_like(half, np.nan)], 2)
    frames = np.stack([corners_of(shown.boxes, result.of[t]) for t in steps])  # (F, 2, 5)
    numbers = [[f"{g:.2f}" if g >= LEAST else "" for g in row] for row in gamma.tolist()]
    fig = image(shown.pixels)
    H, W = shown.pixels.shape[1:]
    fig.data[0].hoverinfo = "skip"
    fig.update_xaxes(range=[-0.5, W - 0.5])
    fig.update_yaxes(range=[H - 0.5, -0.5])
    line = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    data: list[dict[str, Any]] = [
        line | {"x": per_frame(frames[:, 0]), "y": per_frame(frames[:, 1]),
                "line": {"color": WHITE, "width": 3, "dash": "dot"}},
        line | {"x": per_frame(across.reshape(count, -1)), "y": per_frame(down.reshape(count, -1)),
                "line": {"color": theme.ATTENTION, "width": 4}, "fill": "toself",
                "fillcolor": theme.fade(theme.ATTENTION, 0.3)},
        {"type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False,
         "x": centres[:, 0].tolist(), "y": (centres[:, 1] + 0.33 * result.jump).tolist(),
         "text": per_frame(numbers), "textfont": {"color": WHITE}},
    ]  # fmt: skip
    if result.places is not None:
        at = centres[[result.places[t] for t in steps]]
        data.append(
            {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False,
             "x": per_frame(at[:, :1]), "y": per_frame(at[:, 1:]),
             "marker": {"symbol": "circle-open", "size": 20, "color": theme.ORANGE, "line": {"width": 4}}}
        )  # fmt: skip
    tree = fig.to_plotly_json()
    if name:
        tree["layout"] |= {"margin": {"l": 4, "r": 4, "t": 84, "b": 4}}
        tree["layout"]["annotations"] = [
            {"x": -0.49, "y": -0.49, "yshift": 4, "xref": "x", "yref": "y", "xanchor": "left",
             "yanchor": "bottom", "align": "left", "showarrow": False,
             "text": per_frame([f"<b>{name}</b> {caption(result, t)}" for t in steps])}
        ]  # fmt: skip
    return tree | {"data": [*tree["data"], *data]}


def corners_of(boxes: Tensor, k: int) -> np.ndarray:
    """The outline of box k, (2, 5); NaN where there is none."""
    if not 0 <= k < len(boxes):
        return np.full((2, 5), np.nan)
    left, top, right, bottom = boxes[k].tolist()
    return np.array([[left, right, right, left, left], [top, top, bottom, bottom, top]])


def marked(result: Written, t: int) -> str:
    """A word, coloured where it is wrong."""
    word = result.words[t]
    return f'<span style="color:{theme.VERMILLION}">{word}</span>' if result.wrong[t] else word


def caption(result: Written, step: int) -> str:
    """The caption up to a step, another line for each relation."""
    text = ""
    for t in range(step + 1):
        begins = result.words[t] in ("above", "left")
        text += ("<br>" if begins else " ") * bool(t) + marked(result, t)
    return text


def measures(result: Written) -> Tree:
    """Each word as it is written: γ in the box of its object beside the box's area, and the entropy of γ."""
    T, L = result.gamma.shape
    rows, most = list(range(T)), math.log(L)
    fig = make_subplots(cols=2, shared_yaxes=True, horizontal_spacing=0.08)
    ink = {"orientation": "h", "showlegend": False}
    fig.add_bar(y=rows, x=array(result.mass), marker={"color": theme.ATTENTION}, **ink, row=1, col=1)
    fig.add_bar(y=rows, x=array(result.entropy), marker={"color": theme.HIDDEN}, **ink, row=1, col=2)
    fig.add_scatter(
        y=rows, x=array(result.area), mode="markers", showlegend=False, hoverinfo="skip",
        marker={"symbol": "line-ns", "size": 16, "line": {"color": theme.text(), "width": 3}}, row=1, col=1,
    )  # fmt: skip
    fig.update_xaxes(title="γ in box", range=[0, 1.05], tickvals=[0, 1], row=1, col=1)
    fig.update_xaxes(
        title="entropy", range=[0, 1.3 * most], tickvals=[0, most], ticktext=["0", f"ln {L}"], row=1, col=2
    )
    fig.update_yaxes(range=[T - 0.4, -0.6], showgrid=False, zeroline=False, ticks="")
    fig.update_layout(height=460)
    seen = np.tril(np.ones((T, T), bool))
    tree = fig.to_plotly_json()
    for trace, values in enumerate((result.mass, result.entropy, result.area)):
        tree = turning(tree, trace, x=np.where(seen, array(values), np.nan))
    labels = [
        [f"<b>{marked(result, t)}</b>" if t == now else marked(result, t) if t < now else "" for t in rows]
        for now in rows
    ]
    tree["layout"]["yaxis"] |= {"tickvals": rows, "ticktext": per_frame(labels)}
    return tree


def sheet(pictures: Tensor, found: Cases, chosen: Sequence[int]) -> go.Figure:
    """Scenes with the gold word and the one that is written there; the frame is the object, the square where
    γ is largest."""
    side = pictures.shape[-1]
    labels = [
        gold if gold == word else f"{gold} → {word}"
        for gold, word in zip(names(found.gold[chosen]), names(found.written[chosen]), strict=True)
    ]
    fig = images(pictures, COLUMNS, labels=labels, gap=GAP, height=460)
    fig.update_annotations(font={"size": 15})
    places = corners(len(pictures), COLUMNS, side + GAP, side + GAP)
    lines: dict[str, list[np.ndarray]] = {WHITE: [], theme.ATTENTION: []}
    for n, (top, left) in zip(chosen, places, strict=True):
        edge = np.array([[left], [top]])
        lines[theme.ATTENTION].append(edge + corners_of(found.cell, n))
        if found.box[n].any():
            lines[WHITE].append(edge + corners_of(found.box, n))
    gap = np.full((2, 1), np.nan)
    for color, each in lines.items():
        x, y = np.concatenate([part for one in each for part in (one, gap)] or [gap], 1)
        dash = "dot" if color == WHITE else "solid"
        fig.add_scatter(x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False,
                        line={"color": color, "width": 3, "dash": dash})  # fmt: skip
    rows = -(-len(chosen) // COLUMNS)
    middle = (side - 1) / 2 + (side + GAP) * np.arange(max(rows, COLUMNS))
    fig.add_trace(click_plane(middle[:COLUMNS], middle[:rows]))
    return fig


def pressed(x: float, y: float, side: int, chosen: Sequence[int]) -> int | None:
    """The scene at a place of the sheet; None where there is none."""
    column, row = (int(v // (side + GAP)) for v in (x, y))
    index = row * COLUMNS + column
    return chosen[index] if 0 <= column < COLUMNS and 0 <= index < len(chosen) else None


def counts(found: Counted, beside: str) -> go.Figure:
    """First wrong words by their kind, of soft attention and what stands beside it."""
    kinds = {PLACE: "wrong<br>place", NAME: "wrong<br>name", RELATION: "relation<br>or end"}
    fig = go.Figure()
    for name, one, color in ((beside, found.hard, theme.ORANGE), ("soft", found.soft, theme.ATTENTION)):
        values = [one.count(kind) for kind in kinds]
        fig.add_bar(y=list(kinds.values()), x=values, name=name, orientation="h", marker={"color": color},
                    text=[str(v) for v in values], textposition="outside", cliponaxis=False)  # fmt: skip
    most = max(one.count(kind) for kind in kinds for one in (found.soft, found.hard))
    fig.update_xaxes(title="captions", range=[0, 1.25 * max(most, 1)], nticks=4, rangemode="tozero")
    fig.update_yaxes(autorange="reversed", ticks="", showgrid=False)
    fig.update_layout(height=460, showlegend=True, barmode="group", legend={"traceorder": "reversed"})
    return fig
