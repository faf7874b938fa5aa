"""Codes of positions, a counter and waves, a pair that turns, scores and biases, losses over the length."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.bench import positions as bench
from lab.figures import theme
from lab.figures.basic import bars, curves, heatmap, rule
from lab.figures.moving import Tree, heatmaps, marking, per_frame, resting, turning
from pages.transformer.positions import lengths, lens, schemes
from pages.transformer.positions.room import LENGTHS, QUERIES, N

HEIGHT = 460
COLORS = {
    "learned": theme.HIDDEN, "sinusoidal": theme.VERMILLION, "relative": theme.GREEN,
    "rotary": theme.ATTENTION, "alibi": theme.INPUT,
}  # fmt: skip


def box(x0: Any, x1: Any, y0: Any, y1: Any, color: str = "") -> dict[str, Any]:
    """An outline between cells, which may move."""
    line = {"color": color or theme.text(), "width": 3}
    ends = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
    moved = {key: per_frame(value) if isinstance(value, list) else value for key, value in ends.items()}
    return {"type": "rect", "xref": "x", "yref": "y", "line": line, **moved}


def rows(values: np.ndarray, x: Sequence[str] | None, boxes: Sequence[dict[str, Any]], **how: Any) -> Tree:
    """A row per position, some outlined."""
    tree = heatmap(values, x, hover=False, height=HEIGHT, ylabel="position", colorbar=False,
                   **how).to_plotly_json()  # fmt: skip
    tree["layout"]["shapes"] = list(boxes)
    tree["layout"]["yaxis"] |= {"tickvals": list(range(0, len(values), 8)), "ticktext": None}
    tree["data"][0] |= {"xgap": 0, "ygap": 0}
    return tree


def table(one: lens.Code, start: int) -> Tree:
    """The code of every position; outlined the two that are multiplied."""
    d, count = one.table.shape[1], N - start
    later = [
        box(-0.5, d - 0.5, [start + k - 0.5 for k in range(count)], [start + k + 0.5 for k in range(count)])
    ]
    first = box(-0.5, d - 0.5, start - 0.5, start + 0.5, theme.INPUT)
    return rows(one.table, None, [first, *later], scale="diverging", zmin=-1, zmax=1, xlabel="feature",
                title="PE(pos), row by row")  # fmt: skip


def products(one: lens.Code, start: int) -> Tree:
    """Product of two codes over their offset."""
    values, offsets = one.products[start], list(range(N - start))
    fig = curves({"product": values}, np.arange(N), mark=0, colors={"product": theme.ATTENTION},
                 title="PE(pos) · PE(pos + k)", xlabel="offset k", ylabel="dot product",
                 height=HEIGHT)  # fmt: skip
    fig.update_yaxes(range=[min(0.0, float(values.min())) - 1, float(values.max()) * 1.06])
    return resting(marking(fig, offsets), (offsets, values[: N - start].tolist(), theme.OUTPUT))


def here(columns: int) -> list[dict[str, Any]]:
    """The row of the frame."""
    return [box(-0.5, columns - 0.5, [pos - 0.5 for pos in range(N)], [pos + 0.5 for pos in range(N)])]


def counter() -> Tree:
    """Bits of every position."""
    names = [str(2**bit) for bit in range(lens.BITS)][::-1]
    return rows(lens.counter(), names, here(lens.BITS), title="binary counter", xlabel="bit")


def waves(d: int, base: int) -> Tree:
    """Cosines of every position, the slowest pair first as the highest bit."""
    values = lens.waves(d, base)
    names = [str(i) for i in range(values.shape[1])][::-1]
    return rows(values, names, here(values.shape[1]), scale="diverging", zmin=-1, zmax=1,
                title="cos(ω<sub>i</sub> pos)", xlabel="pair i")  # fmt: skip


def circle(one: lens.Turns, shift: int) -> Tree:
    """The pair at pos and at pos + k as arrows."""
    turn = np.linspace(0, 2 * np.pi, 121)
    fig = curves({"circle": (np.cos(turn), np.sin(turn))}, colors={"circle": theme.HIDDEN}, height=HEIGHT,
                 xlabel="cos(ω pos)", ylabel="sin(ω pos)")  # fmt: skip
    for axis in (fig.update_xaxes, fig.update_yaxes):
        axis(range=[-1.2, 1.2], tickvals=[-1, 0, 1], zeroline=True, constrain="domain")
    fig.update_yaxes(scaleanchor="x")
    tree = fig.to_plotly_json()
    arrows = [
        {"type": "scatter", "mode": "lines+markers", "name": name, "hoverinfo": "skip", "showlegend": True,
         "x": per_frame([[0.0, x] for x in ends[:, 0]]), "y": per_frame([[0.0, y] for y in ends[:, 1]]),
         "line": {"width": 5, "color": color}, "marker": {"size": [1, 16], "color": color}}
        for name, ends, color in (("pos", one.now, theme.INPUT), (f"pos + {shift}", one.then, theme.OUTPUT))
    ]  # fmt: skip
    return {"data": [*tree["data"], *arrows], "layout": tree["layout"] | {"showlegend": True}}


def pair(one: lens.Turns, shift: int) -> Tree:
    """Sine and cosine over the positions, and both places on them."""
    fig = curves({"sine": one.now[:, 1], "cosine": one.now[:, 0]}, np.arange(N), mark=0, height=HEIGHT,
                 colors={"sine": theme.ATTENTION, "cosine": theme.GREEN}, xlabel="position",
                 ylabel="feature")  # fmt: skip
    fig.update_xaxes(range=[-1, N + shift])
    fig.update_yaxes(range=[-1.15, 1.15], tickvals=[-1, 0, 1])
    at = list(range(N))
    then = [pos + shift for pos in at]
    return resting(
        marking(fig, at),
        *[(at, one.now[:, c].tolist(), theme.INPUT) for c in (1, 0)],
        *[(then, one.then[:, c].tolist(), theme.OUTPUT) for c in (1, 0)],
    )


def scores(one: schemes.Rotated, distance: int) -> Tree:
    """Score of every query and key; outlined the pair of the frame."""
    queries = range(distance, QUERIES)
    most = float(np.abs(one.scores).max()) or 1.0
    fig = heatmap(one.scores, scale="diverging", zmin=-most, zmax=most, square=True, colorbar=False,
                  title="score S<sub>ij</sub>", xlabel="position j of the key",
                  ylabel="position i of the query", height=HEIGHT)  # fmt: skip
    tree = fig.to_plotly_json()
    j = [float(i - distance) for i in queries]
    tree["layout"]["shapes"] = [
        box(
            [v - 0.5 for v in j], [v + 0.5 for v in j], [i - 0.5 for i in queries], [i + 0.5 for i in queries]
        )
    ]
    return tree


def by_distance(one: schemes.Rotated, distance: int) -> go.Figure:
    """Score over i − j, and that without rotation."""
    x = np.arange(1 - QUERIES, QUERIES)
    fig = curves({"rotated": one.by_distance, "not rotated": np.full(len(x), one.plain)}, x, ends=True,
                 colors={"rotated": theme.ATTENTION, "not rotated": theme.HIDDEN}, markers=True,
                 mark=distance, xlabel="i − j", ylabel="score", height=HEIGHT)  # fmt: skip
    return fig


def penalties(one: schemes.Biased) -> Tree:
    """What is added to the scores of each head."""
    most = float(np.nanmax(np.abs(one.bias))) or 1.0
    return heatmaps(
        one.bias, scale="diverging", zmin=-most, zmax=most, square=True, colorbar=False, height=HEIGHT,
        title="added to the scores", xlabel="key j", ylabel="query i",
    )  # fmt: skip


def last_row(one: schemes.Biased) -> Tree:
    """Weights of the last query in each head, of equal scores."""
    last = one.weights[:, -1]
    fig = bars(range(last.shape[1]), last[0], color=theme.ATTENTION, xlabel="key j", height=HEIGHT,
               title="weights of the last query, equal scores")  # fmt: skip
    fig.update_traces(hovertext=None, hoverinfo="x+y")
    fig.update_xaxes(**sparse(last.shape[1]))
    fig.update_yaxes(range=[0, float(last.max()) * 1.06])
    return turning(fig, y=last)


def sparse(n: int) -> dict[str, Any]:
    return {"tickvals": list(range(0, n, max(1, -(-n // 8)))), "ticktext": None}


def toeplitz(one: schemes.Biased) -> Tree:
    """The matrix of biases; marked the diagonal of the frame."""
    bias = one.bias[0]
    n = len(bias)
    most = float(np.abs(bias).max()) or 1.0
    fig = heatmap(bias, scale="diverging", zmin=-most, zmax=most, square=True, colorbar=False,
                  numbers="~g" if n <= 8 else False, title="b<sub>j−i</sub>", xlabel="key j",
                  ylabel="query i", height=HEIGHT)  # fmt: skip
    diagonals = [[(i, i + o) if 0 <= i + o < n else (None, None) for i in range(n)] for o in range(1 - n, n)]
    marks = {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False,
        "x": per_frame(np.array([[j for _, j in cells] for cells in diagonals], float)),
        "y": per_frame(np.array([[i for i, _ in cells] for cells in diagonals], float)),
        "marker": {"symbol": "square-open", "size": max(10, 300 // n), "color": theme.text(),
                   "line": {"width": 3}},
    }  # fmt: skip
    tree = fig.to_plotly_json()
    return tree | {"data": [*tree["data"], marks]}


def parameters(values: Sequence[float]) -> Tree:
    """The table, one bar an offset; in full colour that of the frame."""
    n = (len(values) + 1) // 2
    names = [str(o) for o in range(1 - n, n)]
    fig = bars(names, values, xlabel="offset j − i", ylabel="b", height=HEIGHT, color=theme.ATTENTION,
               title=f"{len(values)} parameters a head")  # fmt: skip
    shown = list(range((n - 1) % 2, len(values), 2)) if n <= 8 else list(range((n - 1) % 8, len(values), 8))
    fig.update_xaxes(tickvals=shown, ticktext=[names[at] for at in shown])
    pale, full = theme.fade(theme.ATTENTION, 0.35), theme.ATTENTION
    return turning(
        fig, marker={"color": [[full if at == f else pale for at in range(len(values))]
                               for f in range(len(values))]}
    )  # fmt: skip


def over_length(named: dict[str, np.ndarray], title: str, xlabel: str) -> go.Figure:
    """Lines of the schemes, with a rule at the length of the training."""
    fig = curves(named, LENGTHS, mark=LENGTHS[0], colors=COLORS, ends=True, title=title, xlabel=xlabel,
                 ylabel="nats per character", height=HEIGHT)  # fmt: skip
    rule(fig, x=bench.CONTEXT, line={"color": theme.soft(), "width": 2})
    fig.update_xaxes(tickvals=[64, 128, 256, 384, 512], range=[0, 520])
    return fig


def losses() -> Tree:
    """Mean over all places of a window, with its standard error over seeds."""
    found = lengths.runs()
    fig = over_length({name: v.mean(0) for name, v in found.items()}, "mean of the window", "characters")
    for line, values in zip(fig.data, found.values(), strict=True):
        if len(values) > 1:
            line.error_y = {"array": values.std(0, ddof=1) / len(values) ** 0.5, "width": 3, "thickness": 1.5}
    return marking(fig, LENGTHS)


def places() -> Tree:
    """Loss by the place in the window."""
    return marking(over_length(lengths.by_place(), "by place in the window", "place"), LENGTHS)
