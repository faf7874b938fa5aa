"""States that funnel into one vector and a decoder that reads it; contexts in a plane; what probes read;
shares under poolings."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, curves, heatmap, scatter, ticks
from lab.figures.moving import Tree, per_frame, resting, turning
from pages.recurrent.encoder_decoder.contexts import Cloud, Growing, nearest
from pages.recurrent.encoder_decoder.lens import SHOWN, Pooled, Written
from pages.recurrent.encoder_decoder.probes import NONE, Kept
from pages.recurrent.encoder_decoder.room import ACTION, CLAUSES, COLOUR, KINDS, NOUN, RIGHT, SUBJECT

COLORS = {SUBJECT: theme.INPUT, ACTION: theme.GREEN, COLOUR: theme.PURPLE, NOUN: theme.ORANGE}
STILL = {"showgrid": False, "zeroline": False, "ticks": ""}
BOTTOM = 0.06  # a way from the first state to c passes below the states


def small(n: int) -> dict[str, Any]:
    """Letters of n words side by side."""
    return {"size": max(8, min(theme.FONT_SIZE, 340 // n))}


def colored(word: str, color: str) -> str:
    return f'<span style="color:{color}">{word}</span>' if word else ""


def values(z: Any, axis: str, name: str) -> dict[str, Any]:
    """A heat map of states on axes of its own, from −1 to 1."""
    return {
        "type": "heatmap", "z": z, "zmin": -1, "zmax": 1, "colorscale": theme.scale("diverging"),
        "xaxis": f"x{axis}", "yaxis": f"y{axis}", "showscale": axis == "",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 0.25, "orientation": "h", "x": 0.0,
                     "xanchor": "left", "y": -0.01, "yanchor": "top", "tickvals": [-1, 0, 1]},
        "hovertemplate": f"{name} %{{x}}, unit %{{y}}: %{{z:.2f}}<extra></extra>",
    }  # fmt: skip


def box(x: tuple[float, float], y: tuple[float, float], color: str, axis: str = "") -> dict[str, Any]:
    return {"type": "rect", "xref": f"x{axis}", "yref": f"y{axis}", "x0": x[0], "x1": x[1], "y0": y[0],
            "y1": y[1], "line": {"color": color, "width": 3}}  # fmt: skip


def way(path: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """A line through places of the sheet."""
    steps = " L ".join(f"{x:.4f} {y:.4f}" for x, y in path)
    return {"type": "path", "xref": "paper", "yref": "paper", "path": f"M {steps}",
            "line": {"color": theme.VERMILLION, "width": 3}}  # fmt: skip


def encoder(result: Written) -> Tree:
    """z of all source words; the two that have read all are framed, and make c."""
    n, names, half = len(result.z), result.source.names, len(result.c) // 2
    wide = 0.03  # of c, and as much on either side of it
    rows = STILL | {"range": [2 * half - 0.5, -0.5], "domain": [BOTTOM, 1]}
    layout: dict[str, Any] = {
        "height": 460,
        "xaxis": STILL | ticks(names, n) | {"domain": [0, 1 - 4 * wide], "side": "top", "tickangle": -90,
                                            "range": [-0.5, n - 0.5], "tickfont": small(n)},
        "yaxis": rows | {"tickvals": [half / 2, half * 1.5], "ticktext": ["h→", "h←"]},
        "xaxis2": STILL | {"domain": [1 - 2.5 * wide, 1 - wide], "side": "top", "tickvals": [0],
                           "ticktext": ["<b>c</b>"], "anchor": "y2"},
        "yaxis2": rows | {"tickvals": [], "anchor": "x2"},
    }  # fmt: skip
    first, last = ((1 - 4 * wide) * (j + 0.5) / n for j in (0, n - 1))
    c, upper = 1 - 1.75 * wide, BOTTOM + 0.75 * (1 - BOTTOM)
    layout["shapes"] = [
        box((n - 1.5, n - 0.5), (-0.5, half - 0.5), theme.VERMILLION),
        box((-0.5, 0.5), (half - 0.5, 2 * half - 0.5), theme.VERMILLION),
        way([(last, upper), (1 - 2.5 * wide, upper)]),
        way([(first, BOTTOM), (first, 0.01), (c, 0.01), (c, BOTTOM)]),
        way([(1 - wide, 0.9), (1, 0.9)]),
    ]
    data = [values(array(result.z.T), "", "word"), values(array(result.c)[:, None], "2", "c")]
    return {"data": data, "layout": layout}


def decoder(result: Written) -> Tree:
    """States s of the decoder and the words that it has written; below p of them and of the gold words."""
    T, H = result.s.shape
    seen = np.tri(T, dtype=bool)
    written = [
        colored(name, theme.VERMILLION) if wrong else name
        for name, wrong in zip(result.names, result.differs, strict=True)
    ]
    shown = [[name if there else "" for name, there in zip(written, row, strict=True)] for row in seen]
    states = np.where(seen[:, None], array(result.s.T)[None], np.nan)  # (T, H, T)
    data = [
        values(per_frame(states), "", "step") | {"showscale": False},
        bars_of(per_frame(np.where(seen, array(result.p), np.nan)), "written", theme.OUTPUT, T),
    ]
    across = STILL | {"side": "top", "range": [-0.5, T - 0.5], "tickangle": -90, "tickfont": small(T)}
    gold: list[str] = []
    if result.gold is not None:
        data.append(bars_of(per_frame(np.where(seen, array(result.gold_p), np.nan)), "gold", theme.HIDDEN, T))
        gold = [colored(word, theme.HIDDEN) for word in [*result.gold, *[""] * T][:T]]
    layout = {
        "height": 460, "barmode": "group", "bargap": 0.15, "showlegend": bool(gold),
        "legend": {"x": 0, "y": -0.02, "xanchor": "left", "yanchor": "top", "orientation": "h"},
        "xaxis": across | {"tickvals": list(range(T)), "ticktext": per_frame(shown)},
        "yaxis": STILL | {"domain": [0.56 if gold else 0.4, 1], "range": [H - 0.5, -0.5],
                          "tickvals": [H / 2], "ticktext": ["s"]},
        "xaxis2": across | {"tickvals": list(range(len(gold))), "ticktext": gold, "anchor": "y2"},
        "yaxis2": {"domain": [0.0, 0.27], "range": [0, 1.02], "tickvals": [0, 0.5, 1], "anchor": "x2"},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def bars_of(heights: Any, name: str, color: str, T: int) -> dict[str, Any]:
    return {"type": "bar", "x": list(range(T)), "y": heights, "name": f"p({name})", "xaxis": "x2",
            "yaxis": "y2", "marker": {"color": color}, "hoverinfo": "y+name"}  # fmt: skip


def plane(found: Cloud, own: Growing, mark: str) -> Tree:
    """Contexts by their first two components; the own sentence, clause by clause, and its nearest one."""
    names, labels = found.labels(mark)
    hover = [" ".join(words) for words in found.english]
    fig = scatter(found.at, labels, names=names, hover=hover, equal=False, height=460, size=8,
                  xlabel=f"first component, {found.explained[0]:.0%} of the variance",
                  ylabel=f"second, {found.explained[1]:.0%}")  # fmt: skip
    if mark == RIGHT:
        for trace, color in zip(fig.data, (theme.VERMILLION, theme.INPUT), strict=True):
            trace.marker.color = color
    fig.update_layout(legend={"title": "clauses" if mark == CLAUSES else ""})
    at = array((own.c - found.mean) @ found.axes.T)
    near = array(found.at[[nearest(found, c) for c in own.c]])
    fig.add_scatter(x=at[:, 0], y=at[:, 1], mode="lines", showlegend=False, hoverinfo="skip",
                    line={"color": theme.text(), "width": 2})  # fmt: skip
    fig.add_scatter(
        mode="markers",
        name="own",
        marker={
            "symbol": "star",
            "size": 22,
            "color": theme.YELLOW,
            "line": {"width": 2, "color": theme.text()},
        },
    )
    fig.add_scatter(
        mode="markers",
        name="nearest",
        marker={"symbol": "diamond-open", "size": 18, "color": theme.text(), "line": {"width": 3}},
    )
    tree = fig.to_plotly_json()
    for trace, places in ((-2, at), (-1, near)):
        tree = turning(tree, trace, x=[[x] for x, _ in places], y=[[y] for _, y in places])
    return tree


def pair(found: Cloud, own: Growing) -> Tree:
    """c of the own sentence and of the nearest one, at each clause."""
    near = [found.c[nearest(found, c)] for c in own.c]
    both = np.stack([np.stack([array(c), array(other)], 1) for c, other in zip(own.c, near, strict=True)])
    fig = heatmap(both[0], ["own", "nearest"], scale="diverging", zmin=-1, zmax=1, hover=False, height=460,
                  ylabel=f"{both.shape[1]} components of c")  # fmt: skip
    fig.update_traces(hoverinfo=None, hovertemplate="%{x}, component %{y}: %{z:.2f}<extra></extra>", ygap=0)
    fig.update_yaxes(tickvals=[])
    fig.update_xaxes(side="top")
    return turning(fig, z=both)


def accuracy(found: Kept, kind: str) -> Tree:
    """Share of test sentences whose word is read rightly, by clause; of the noun also from its own state."""
    K = len(found.gold)
    lines: dict[str, Any] = {each: found.accuracy(each) for each in KINDS}
    lines |= {"noun, from its z": [each.accuracy for each in found.at_noun]}
    lines |= {"most frequent": [row[KINDS.index(kind)].guess for row in found.probes]}
    own, guess = list(lines)[-2:]
    colors = COLORS | {own: theme.ORANGE, guess: theme.HIDDEN}
    x = list(range(1, K + 1))
    fig = curves(lines, x, colors=colors, markers=True, xlabel="clause", ylabel="read rightly from c",
                 height=460, ends=True)  # fmt: skip
    for trace in fig.data:
        trace.line.dash = {own: "dot", guess: "dash"}.get(trace.name, "solid")
        trace.line.width = 5 if trace.name == kind else 2
    fig.update_yaxes(range=[0, 1.04], tickvals=[0, 0.25, 0.5, 0.75, 1])
    fig.update_xaxes(range=[0.8, max(K, 2) + 0.2], tickvals=x)
    return resting(fig, (x, lines[kind], colors[kind]))


def words(found: Kept) -> Tree:
    """What is read from c of the own sentence, a row a clause; a wrong word has the right one below it."""
    K, columns = len(found.gold), len(KINDS)
    cells = [(x, y, read, gold) for y, (reads, golds) in enumerate(zip(found.read, found.gold, strict=True))
             for x, (read, gold) in enumerate(zip(reads, golds, strict=True))]  # fmt: skip
    texts = [NONE if gold == NONE else read if read == gold else f"{read}<br><i>{gold}</i>"
             for _, _, read, gold in cells]  # fmt: skip
    wrong = [gold not in (NONE, read) for _, _, read, gold in cells]
    data = {
        "type": "scatter", "mode": "text", "x": [x for x, *_ in cells], "y": [y for _, y, *_ in cells],
        "text": texts, "hoverinfo": "skip", "showlegend": False,
        "textfont": {"color": [theme.VERMILLION if each else theme.text() for each in wrong], "size": 20},
    }  # fmt: skip
    rect = box((-0.5, columns - 0.5), (0, 0), theme.HIDDEN)
    rect |= {"y0": per_frame([k - 0.48 for k in range(K)]), "y1": per_frame([k + 0.48 for k in range(K)])}
    layout = {
        "height": 460, "shapes": [rect],
        "xaxis": STILL | {"range": [-0.52, columns - 0.48], "tickvals": list(range(columns)),
                          "ticktext": list(KINDS), "side": "top"},
        "yaxis": STILL | {"range": [max(K, 3) - 0.48, -0.52], "tickvals": list(range(K)),
                          "ticktext": [str(k + 1) for k in range(K)]},
    }  # fmt: skip
    return {"data": [data], "layout": layout}


def shares(found: Pooled) -> Tree:
    """γ of each pooling, a row each with a scale of its own; that of the frame in full colour."""
    names, count = found.source.names, len(SHOWN)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"height": 460, "showlegend": False, "bargap": 0.1}
    for row, gamma in enumerate(found.gamma):
        key, top = "" if row == 0 else str(row + 1), float(gamma.max())
        colors = [theme.ATTENTION if f == row else theme.fade(theme.ATTENTION, 0.35) for f in range(count)]
        data.append(
            {"type": "bar", "x": list(range(len(names))), "y": array(gamma), "yaxis": f"y{key}",
             "marker": {"color": per_frame(colors)}, "customdata": list(names),
             "hovertemplate": "%{customdata}: γ = %{y:.3f}<extra></extra>"}
        )  # fmt: skip
        low = 1 - (row + 1) / count
        layout[f"yaxis{key}"] = {
            "domain": [low + 0.02, low + 0.2], "range": [0, 1.1 * top], "title": SHOWN[row],
            "tickvals": [0, top], "ticktext": ["0", f"{top:.2g}"], "zeroline": False,
        }  # fmt: skip
    layout["xaxis"] = ticks(names, len(names)) | {
        "side": "top", "tickangle": -90, "tickfont": small(len(names)), "showgrid": False, "ticks": "",
        "zeroline": False, "range": [-0.6, len(names) - 0.4], "anchor": "free", "position": 1,
    }  # fmt: skip
    return {"data": data, "layout": layout}


def contexts(found: Pooled) -> Tree:
    """c of each pooling, a column each; that of the frame is framed."""
    fig = heatmap(found.c.T, None, None, scale="diverging", zmin=-1, zmax=1, hover=False, height=460,
                  ylabel=f"{found.c.shape[1]} components of c")  # fmt: skip
    fig.update_traces(hoverinfo=None, hovertemplate="%{x}, component %{y}: %{z:.2f}<extra></extra>")
    fig.update_yaxes(tickvals=[])
    fig.update_xaxes(side="top", tickvals=list(range(len(SHOWN))), ticktext=list(SHOWN), tickangle=-90)
    rect = box((0, 0), (-0.5, found.c.shape[1] - 0.5), theme.VERMILLION)
    rect |= {f"x{end}": per_frame([f + end - 0.5 for f in range(len(SHOWN))]) for end in (0, 1)}
    return fig.to_plotly_json() | {"layout": {**fig.layout.to_plotly_json(), "shapes": [rect]}}
