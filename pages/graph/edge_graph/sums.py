"""Numbers on nodes and edges while they are sent, and the matrix that sends them."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from modules.graph import edge_graph
from pages.graph.edge_graph.figures import axes, box, cells, line, lines, marks, places, quiet, squares, whole
from pages.graph.edge_graph.lens import EDGE, NODE, Played
from pages.graph.edge_graph.room import EDGE_EDGE, LAYER, NODE_NODE


def written(values: np.ndarray) -> list[str]:
    return ["" if np.isnan(v) else f"{v:g}".replace("-", "−") for v in values]


def drawing(one: Played) -> Tree:
    """The graph: numbers of the nodes in discs, of the edges in squares; orange is new."""
    p = places(one.graph.edges, one.graph.num_nodes)
    q = squares(p, one.graph.edges)
    pairs = one.graph.edges.tolist()
    old = {NODE: array(one.h), EDGE: array(one.e)}
    shown: dict[str, list[Any]] = {NODE: [], EDGE: []}
    colors: dict[str, list[list[str]]] = {NODE: [], EDGE: []}
    rims: dict[str, list[list[float]]] = {NODE: [], EDGE: []}
    heard = []
    for turn in one.turns:
        now = {NODE: array(turn.nodes), EDGE: array(turn.edges)}
        for kind, values in now.items():
            shown[kind].append(written(values))
            new = (values != old[kind]) | (
                np.arange(len(values)) == (turn.k if kind == turn.receiver else -1)
            )
            new &= ~np.isnan(values)
            colors[kind].append([theme.OUTPUT if n else theme.INPUT if kind == NODE else "#FFFFFF"
                                 for n in new])  # fmt: skip
            chosen = {turn.k} if kind == turn.receiver else set()
            chosen |= set(turn.terms) if kind == turn.sender else set()
            rims[kind].append([6.0 if k in chosen else 1.5 for k in range(len(values))])
        heard.append([pairs[e] for e in roads(one, turn)])
    data = [
        line(p, pairs, "", theme.HIDDEN, 2),
        lines(p, heard, "", theme.ATTENTION, 8),
        marks(p, per_frame(shown[NODE]), per_frame(colors[NODE]), "", size=42, rims=per_frame(rims[NODE])),
        marks(q, per_frame(shown[EDGE]), per_frame(colors[EDGE]), "", square=True, size=36,
              rims=per_frame(rims[EDGE])),
    ]  # fmt: skip
    return whole(data, axes(p, ("", (0, 1), (0, 1))), [])


def roads(one: Played, turn: Any) -> list[int]:
    """Edges along which something comes."""
    if turn.receiver == NODE:
        return [int(e) for e in one.graph.incidence[turn.k].nonzero()[:, 0]]
    return [turn.k] if turn.sender == NODE else [turn.k, *turn.terms]


def operator(one: Played, way: str, weights: tuple[float, float, float]) -> Tree:
    """The matrix, with the numbers that it sends at its left, and those that arrive below; of B both."""
    graph, b = one.graph, array(one.graph.incidence).astype(float)
    N = len(b)
    a = array(edge_graph.operator(NODE, NODE, graph.edges, N)).astype(float)
    scale: theme.Scale = "probability"
    by_row = [False] * len(one.turns)
    if way in (NODE_NODE, EDGE_EDGE):
        name, z = ("A", a) if way == NODE_NODE else ("A<sub>edge</sub> = BᵀB − 2I", array(graph.matrix) * 1.0)
        sent = array(one.h if way == NODE_NODE else one.e)
        left = [written(sent)] * len(one.turns)
        result = array(one.result)
        below = [
            written(np.where(np.arange(len(result)) <= t, result, np.nan)) for t in range(len(one.turns))
        ]
    elif way == LAYER:
        own, heard, edges = weights
        z = np.vstack([own * np.eye(N) + heard * a, edges * b.T])
        name, scale = "ψI + ωA above γBᵀ", "diverging"
        left = [written(np.concatenate([array(one.h), array(one.e)]))] * N
        result = array(one.result)
        below = [written(np.where(np.arange(N) <= t, result, np.nan)) for t in range(N)]
    else:
        name, z = "B", b
        left = [written(array(turn.nodes)) for turn in one.turns]
        below = [written(array(turn.edges)) for turn in one.turns]
        by_row = [turn.receiver == NODE for turn in one.turns]
    rows, columns = z.shape
    size = 18 if max(z.shape) <= 9 else 14
    texts = {"type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False,
             "cliponaxis": False}  # fmt: skip
    new = theme.text()
    data = [
        *cells(z, "", scale),
        texts | {"x": [-1.1] * rows, "y": list(range(rows)), "text": per_frame(left),
                 "textfont": {"size": size, "color": new}},
        texts | {"x": list(range(columns)), "y": [rows - 0.1] * columns, "text": per_frame(below),
                 "textfont": {"size": size, "color": new}},
    ]  # fmt: skip
    k = np.array([turn.k for turn in one.turns])
    row = np.array(by_row)
    shape = box(
        per_frame(np.where(row, -0.5, k - 0.5)), per_frame(np.where(row, columns - 0.5, k + 0.5)),
        per_frame(np.where(row, k - 0.5, -0.5)), per_frame(np.where(row, k + 0.5, rows - 0.5)), "",
    )  # fmt: skip
    still = {"showticklabels": False}
    both = {
        "xaxis": quiet(columns, (0, 1), "y") | still | {"range": [-1.8, columns - 0.5]},
        "yaxis": quiet(rows, (0, 0.92), "x") | still | {"range": [rows + 0.5, -0.5]},
    }
    title = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "top",
             "text": f"<b>{name}</b>", "showarrow": False}  # fmt: skip
    tree = whole(data, both, [title])
    return tree | {"layout": {**tree["layout"], "shapes": [shape]}}
