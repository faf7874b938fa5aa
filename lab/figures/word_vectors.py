"""Word vectors drawn: a map of words, the parallelogram of an analogy, the arrows of a learning step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import labels, theme, tokens
from lab.figures.basic import array
from lab.figures.tokens import escape


def word_map(
    points: Any,
    words: Sequence[str],
    kinds: Sequence[int] | None = None,
    names: Sequence[str] = (),
    *,
    span: float | None = None,
    places: Any = None,
    room: tuple[float, float] = labels.ROOM,
) -> go.Figure:
    """Words in the plane: points (N, 2), coloured by kind (N,), the kinds named in the legend.

    Each kind is two traces, its points and its words; the words stand where no two lie over each other. The
    last trace leads from each point to its word.

    Args:
        span: the axes run from −span to span. places: (N, 2) of the words; for films, which know more points.
        room: of the plane, in letters and lines.
    """
    p = array(points)
    kinds = [0] * len(words) if kinds is None else kinds
    span = labels.REACH * max(1e-6, float(abs(p).max())) if span is None else span
    at = labels.places(p, words, span, room) if places is None else array(places)
    fig = go.Figure()
    for kind in sorted(set(kinds)):
        mine = [n for n, k in enumerate(kinds) if k == kind]
        color = theme.CATEGORIES[kind % len(theme.CATEGORIES)]
        shown = [escape(words[n]) for n in mine]
        fig.add_scatter(
            x=p[mine, 0], y=p[mine, 1], mode="markers", name=names[kind] if names else "",
            marker={"size": 9, "color": color}, hoverinfo="text", hovertext=shown,
        )  # fmt: skip
        fig.add_scatter(
            x=at[mine, 0], y=at[mine, 1], mode="text", text=shown, textfont={"color": color},
            hoverinfo="skip", showlegend=False, cliponaxis=False,
        )  # fmt: skip
    lead(fig, labels.leaders(p, at, words, span, room))
    fig.update_xaxes(showticklabels=False, zeroline=True, range=[-span, span])
    fig.update_yaxes(showticklabels=False, zeroline=True, range=[-span, span])
    fig.update_layout(height=560, showlegend=bool(names))
    return fig


def lead(fig: go.Figure, lines: np.ndarray) -> None:
    """The `labels.leaders` (3 N, 2) of points, as the last trace and under all others."""
    fig.add_scatter(
        x=lines[:, 0], y=lines[:, 1], mode="lines", name="leader", hoverinfo="skip", showlegend=False,
        line={"width": 1.5, "color": theme.fade(theme.HIDDEN, 0.6)}, zorder=-1,
    )  # fmt: skip


def moving_map(
    points: Any,
    words: Sequence[str],
    kinds: Sequence[int] | None = None,
    names: Sequence[str] = (),
    *,
    at: int = 0,
    room: tuple[float, float] = labels.ROOM,
) -> tuple[go.Figure, dict[str, Any]]:
    """`word_map` of points (F, N, 2) at frame `at`, and its frames.

    Args:
        room: of the plane, in letters and lines.
    """
    p = array(points)
    span = labels.REACH * max(1e-6, float(abs(p).max()))
    places = labels.places(p, words, span, room)
    fig = word_map(p[at], words, kinds, names, span=span, places=places[at], room=room)
    kinds = [0] * len(words) if kinds is None else kinds
    frames: dict[str, Any] = {}
    for i, kind in enumerate(sorted(set(kinds))):
        mine = [n for n, k in enumerate(kinds) if k == kind]
        for trace, moved in ((2 * i, p), (2 * i + 1, places)):
            frames |= {f"data.{trace}.{axis}": moved[:, mine, k] for k, axis in enumerate("xy")}
    lines = labels.leaders(p, places, words, span, room)
    return fig, frames | {f"data.{len(fig.data) - 1}.{axis}": lines[..., k] for k, axis in enumerate("xy")}


def parallelogram(points: Any, words: Sequence[str], right: bool) -> go.Figure:
    """a, b, c and the answer (5 points: a, b, c, the sum b − a + c, the answer) with their arrows."""
    p = array(points)
    fig = word_map(p[[0, 1, 2, 4]], [words[0], words[1], words[2], words[4]])
    for start, end, color in ((0, 1, theme.BLUE), (2, 3, theme.BLUE)):
        arrow(fig, p[start], p[end], color)
    for start, end in ((0, 2), (1, 3)):
        fig.add_scatter(
            x=[p[start, 0], p[end, 0]], y=[p[start, 1], p[end, 1]], mode="lines", hoverinfo="skip",
            line={"color": theme.HIDDEN, "dash": "dot", "width": 2}, showlegend=False,
        )  # fmt: skip
    fig.add_scatter(
        x=[p[3, 0]], y=[p[3, 1]], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"symbol": "x", "size": 13, "color": theme.GREEN if right else theme.VERMILLION},
    )  # fmt: skip
    fig.add_annotation(  # an arrow may run there: the words lie on paper
        x=p[3, 0], y=p[3, 1], text=f"{words[1]} − {words[0]} + {words[2]}", showarrow=False,
        yanchor="top", yshift=-9, borderpad=1, bgcolor=theme.fade(theme.paper(), 0.85),
    )  # fmt: skip
    return fig


def arrow(fig: go.Figure, start: Any, end: Any, color: str, label: str = "") -> None:
    """An arrow from start (2,) to end (2,), its label in the legend."""
    fig.add_annotation(
        x=end[0], y=end[1], ax=start[0], ay=start[1], xref="x", yref="y", axref="x", ayref="y",
        showarrow=True, arrowhead=2, arrowwidth=3.5, arrowcolor=color, text="",
    )  # fmt: skip
    if label:
        fig.add_scatter(
            x=[start[0], end[0]], y=[start[1], end[1]], mode="lines", name=label, hoverinfo="skip",
            line={"color": color, "width": 3.5},
        )  # fmt: skip


def update(
    films: Mapping[str, Any], at: int, words: Sequence[str], given: Sequence[str]
) -> tuple[go.Figure, dict[str, Any]]:
    """The steps of word2vec in the plane: the u of all words, and where the given vector goes.

    Args:
        films: `u` (T, V, 2) before each step; `before` and `after` (T, 2), where the given vector was and
            goes; `observed` and `expected` (T, 2), between which its gradient points.
        at: the step to draw. given: name of the given vector at each step.

    Returns:
        the figure, and its frames for all steps.
    """
    moving = {name: array(values) for name, values in films.items()}
    u, before, after = moving["u"], moving["before"], moving["after"]
    reach = labels.REACH * np.array([max(1e-6, *(abs(v[..., axis]).max() for v in moving.values()))
                                     for axis in (0, 1)])  # fmt: skip
    # the given vector's name is one of the labels, so that none lies over it
    names = [*words, max(given, key=len)]
    points = np.concatenate([u, before[:, None]], 1)
    places = labels.places(points, names, reach)
    fig = go.Figure()
    for x, y, color, size, name in (
        (u[at, :, 0], u[at, :, 1], theme.ORANGE, 8, "u"),
        ([before[at, 0]], [before[at, 1]], theme.BLUE, 13, "v given"),
    ):
        fig.add_scatter(x=x, y=y, mode="markers", name=name, marker={"size": size, "color": color},
                        hoverinfo="skip")  # fmt: skip
    fig.add_scatter(
        x=places[at, :, 0], y=places[at, :, 1], mode="text", hoverinfo="skip", showlegend=False,
        text=[*map(escape, words), escape(given[at])], cliponaxis=False,
        textfont={"color": [theme.ORANGE] * len(words) + [theme.BLUE]},
    )  # fmt: skip
    arrow(fig, moving["expected"][at], moving["observed"][at], theme.GREEN, "gradient")
    arrow(fig, before[at], after[at], theme.BLUE)
    lines = labels.leaders(points, places, names, reach)
    lead(fig, lines[at])
    fig.update_xaxes(range=[-reach[0], reach[0]], showticklabels=False)
    fig.update_yaxes(range=[-reach[1], reach[1]], showticklabels=False)
    frames: dict[str, Any] = {
        "data.0.x": u[..., 0], "data.0.y": u[..., 1], "data.1.x": before[:, :1], "data.1.y": before[:, 1:],
        "data.2.x": places[..., 0], "data.2.y": places[..., 1],
        "data.2.text": [[*map(escape, words), escape(name)] for name in given],
        "data.4.x": lines[..., 0], "data.4.y": lines[..., 1],
    }  # fmt: skip
    for n, (start, end) in enumerate((("expected", "observed"), ("before", "after"))):
        for axis, side in ((0, "x"), (1, "y")):
            frames[f"layout.annotations.{n}.a{side}"] = moving[start][:, axis]
            frames[f"layout.annotations.{n}.{side}"] = moving[end][:, axis]
    for axis, side in ((0, "x"), (1, "y")):
        frames[f"data.3.{side}"] = np.stack([moving["expected"][:, axis], moving["observed"][:, axis]], 1)
    return fig, frames


def lane(
    points: Any, trails: Any, words: Sequence[str], at: int, color: str, title: str
) -> tuple[go.Figure, dict[str, Any]]:
    """Words that move and leave a trail: points (T, V, 2), trails (T, N, 2).

    Returns:
        the figure at frame `at`, and all its frames.
    """
    p, lines = array(points), array(trails)
    span = labels.REACH * np.maximum(1e-6, abs(p).max((0, 1)))  # (2,)
    room = (labels.ROOM[0] * 0.9, labels.ROOM[1])
    places = labels.places(p, words, span, room)
    leaders = labels.leaders(p, places, words, span, room)
    fig = go.Figure()
    for values, mode in ((lines, "lines"), (p, "markers"), (places, "text")):
        fig.add_scatter(
            x=values[at, :, 0], y=values[at, :, 1], mode=mode, hoverinfo="skip", showlegend=False,
            text=[escape(word) for word in words] if mode == "text" else None, cliponaxis=False,
            textfont={"color": color}, line={"color": theme.fade(color, 0.4), "width": 3},
            marker={"size": 9, "color": color},
        )  # fmt: skip
    lead(fig, leaders[at])
    fig.update_xaxes(range=[-span[0], span[0]], showticklabels=False)
    fig.update_yaxes(range=[-span[1], span[1]], showticklabels=False)
    fig.update_layout(title=title)
    films = {"data.0": lines, "data.1": p, "data.2": places, "data.3": leaders}
    frames = {f"{trace}.{side}": values[..., axis] for trace, values in films.items()
              for axis, side in ((0, "x"), (1, "y"))}  # fmt: skip
    return fig, frames


LINE = 44  # letters a row of the strip: a phone has no room for more


def strip(words: Sequence[str], given: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]], at: int
          ) -> tuple[go.Figure, dict[str, Any], int]:  # fmt: skip
    """A text of words; at each step the given ones blue, the predicted orange, the others grey.

    Returns:
        the figure at step `at`, all its frames, and its number of rows.
    """
    x, y = tokens.wrap([f"{word} " for word in words], LINE)
    colors = [
        [theme.BLUE if n in g else theme.ORANGE if n in p else theme.HIDDEN for n in range(len(words))]
        for g, p in zip(given, predicted, strict=True)
    ]
    texts = [
        [f"<b>{escape(w)}</b>" if c != theme.HIDDEN else escape(w) for w, c in zip(words, row, strict=True)]
        for row in colors
    ]
    fig = go.Figure(
        go.Scatter(
            x=x, y=y, mode="text", text=texts[at], hoverinfo="skip", showlegend=False,
            textfont={"color": colors[at], "size": theme.FONT_SIZE, "family": "monospace"},
        )
    )  # fmt: skip
    rows = max(y) + 1
    fig.update_xaxes(visible=False, range=[-1, LINE])
    fig.update_yaxes(visible=False, range=[rows - 0.4, -0.6])
    fig.update_layout(height=30 + 30 * rows, margin={"t": 4, "b": 4})
    return fig, {"data.0.text": texts, "data.0.textfont.color": colors}, rows
