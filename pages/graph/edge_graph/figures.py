"""A graph beside its edge graph, their matrices, and numbers on nodes and edges.

Discs are nodes and squares are edges, wherever they are drawn; what comes from one node has its colour.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from lab.figures.networks import ink, layout, strokes
from pages.graph.edge_graph.lens import Built, Returned

HEIGHT, SMALL = 520, 9  # pixels; rows and columns up to which cells have their numbers
ALONG = (0.5, 0.36, 0.64)  # of an edge, where its square may stand
# of the nodes; marks of the film have the other two
COLORS = [c for c in theme.CATEGORIES if c not in (theme.VERMILLION, theme.ATTENTION)]
Axes = tuple[str, tuple[float, float], tuple[float, float]]  # number of the axes; their domains in x and y


def color(n: int) -> str:
    return COLORS[n % len(COLORS)]


def places(edges: Tensor, count: int) -> np.ndarray:
    """Of the nodes of a graph (E, 2), (N, 2)."""
    both = np.concatenate([array(edges), array(edges)[:, ::-1]]).reshape(-1, 2)
    return array(layout(Tensor(both.T).long(), count))


def squares(p: np.ndarray, edges: Tensor) -> np.ndarray:
    """Places of the edges, (E, 2): in their middle, or beside it where another one stands or a node."""
    found: list[np.ndarray] = list(p)
    for a, b in edges.tolist():
        spots = [p[a] + t * (p[b] - p[a]) for t in ALONG]
        room = [min(np.linalg.norm(spot - other) for other in found) for spot in spots]
        found.append(spots[0] if room[0] > 0.2 else spots[int(np.argmax(room))])
    return np.array(found[len(p) :])


def edge_at(one: Built, x: float, y: float) -> int:
    """The edge whose square is nearest."""
    q = squares(places(one.edges, one.num_nodes), one.edges)
    return int(np.linalg.norm(q - [x, y], axis=1).argmin())


def line(p: np.ndarray, pairs: Sequence[Sequence[int]], at: str, color: str, width: float) -> dict[str, Any]:
    x, y = strokes(p, pairs)
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "xaxis": f"x{at}", "yaxis": f"y{at}",
            "hoverinfo": "skip", "showlegend": False, "line": {"color": color, "width": width}}  # fmt: skip


def lines(
    p: np.ndarray, pairs: Sequence[Sequence[Sequence[int]]], at: str, color: str, width: float
) -> dict[str, Any]:
    """Other pairs in each frame."""
    each = [np.stack(strokes(p, now)) for now in pairs]
    most = max(1, *(part.shape[1] for part in each))
    full = np.stack([np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=np.nan)
                     for part in each])  # fmt: skip
    return line(p, [], at, color, width) | {"x": per_frame(full[:, 0]), "y": per_frame(full[:, 1])}


def marks(
    p: np.ndarray, texts: Any, colors: Any, at: str, *, square: bool = False, size: int = 30, rims: Any = None
) -> dict[str, Any]:
    """Discs or squares with their texts; colours and rims are a list, or one a frame."""
    inks = per_frame([[ink(c) for c in row] for row in colors.values]) if isinstance(colors, per_frame) else [
        ink(c) for c in colors]  # fmt: skip
    edge = {"color": theme.text(), "width": 1.5 if rims is None else rims}
    return {
        "type": "scatter", "mode": "markers+text", "x": p[:, 0], "y": p[:, 1], "text": texts,
        "hoverinfo": "skip", "xaxis": f"x{at}", "yaxis": f"y{at}", "showlegend": False,
        "textfont": {"size": 16 if size < 32 else 20, "color": inks},
        "marker": {"size": size, "color": colors, "symbol": "square" if square else "circle", "opacity": 1,
                   "line": edge},
    }  # fmt: skip


def rims(chosen: Sequence[Sequence[int]], count: int) -> per_frame:
    """Widths of the outlines: thick for those chosen in each frame."""
    return per_frame([[6.0 if k in now else 1.5 for k in range(count)] for now in chosen])


def plain() -> str:
    return "#FFFFFF" if theme.mode() == "light" else "#2C343F"


def node_side(p: np.ndarray, one: Built, at: str) -> list[dict[str, Any]]:
    """The graph of nodes; frame e has edge e thick, and those that share an end with it less so."""
    pairs, E = one.edges.tolist(), len(one.edges)
    frames = range(E)
    q = squares(p, one.edges)
    return [
        line(p, pairs, at, theme.HIDDEN, 2),
        lines(p, [[pairs[f] for f in one.near(e)] for e in frames], at, theme.fade(theme.ATTENTION, 0.55), 7),
        lines(p, [[pairs[e]] for e in frames], at, theme.VERMILLION, 9),
        marks(p, [str(n) for n in range(len(p))], [color(n) for n in range(len(p))], at),
        marks(q, [str(e) for e in frames], [plain()] * E, at, square=True, size=22,
              rims=rims([[e] for e in frames], E)),
    ]  # fmt: skip


def edge_side(q: np.ndarray, links: Tensor, via: Tensor | None, at: str) -> list[dict[str, Any]]:
    """The graph of edges; frame e has what edge e is joined to; a link has the colour of the shared end."""
    pairs, E = links.tolist(), len(q)
    owners = [-1] * len(pairs) if via is None else via.tolist()
    mine = [[pair for pair in pairs if e in pair] for e in range(E)]
    near = [[e, *(sum(pair) - e for pair in now)] for e, now in enumerate(mine)]
    return [
        lines(q, mine, at, theme.fade(theme.ATTENTION, 0.45), 12),
        *(line(q, [pair for pair, mine in zip(pairs, owners, strict=True) if mine == n], at,
               theme.HIDDEN if n < 0 else color(n), 4) for n in sorted(set(owners))),
        marks(q, [str(e) for e in range(E)],
              per_frame([[theme.VERMILLION if f == e else theme.ATTENTION if f in near[e] else plain()
                          for f in range(E)] for e in range(E)]), at, square=True, size=28),
    ]  # fmt: skip


def axes(p: np.ndarray, at: Axes) -> dict[str, Any]:
    """Of one drawing, with room for its marks."""
    number, x, y = at
    low, high = p.min(0) - 0.2, p.max(0) + 0.2
    return {
        f"xaxis{number}": {"domain": x, "anchor": f"y{number}", "visible": False, "range": [low[0], high[0]]},
        f"yaxis{number}": {"domain": y, "anchor": f"x{number}", "visible": False, "range": [low[1], high[1]]},
    }  # fmt: skip


def words(text: str, x: float, y: float) -> dict[str, Any]:
    return {"x": x, "xref": "paper", "xanchor": "left", "y": y, "yref": "paper", "yanchor": "top",
            "text": f"<b>{text}</b>", "showarrow": False}  # fmt: skip


def whole(data: list[dict[str, Any]], axes: dict[str, Any], notes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"data": data, "layout": axes | {
        "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "hovermode": "closest",
        "annotations": notes, "meta": theme.SHRINKING,
    }}  # fmt: skip


def forwards(one: Built) -> Tree:
    """The graph of nodes on the left, that of edges on the right, its squares where the edges are."""
    p = places(one.edges, one.num_nodes)
    q = squares(p, one.edges)
    left, right = ("", (0, 0.49), (0, 0.93)), ("2", (0.51, 1), (0, 0.93))
    ghost = line(p, one.edges.tolist(), "2", theme.grid(), 2)
    data = [*node_side(p, one, ""), ghost, *edge_side(q, one.links, one.via, "2")]
    return whole(data, axes(p, left) | axes(p, right),
                 [words("nodes", 0, 1), words("edge graph", 0.51, 1)])  # fmt: skip


def backwards(one: Returned) -> Tree:
    """The edge graph on the left, its cliques coloured, and each graph that it comes from on the right."""
    q = places(one.links, one.count)
    data, both, notes = list[dict[str, Any]](), dict[str, Any](), list[dict[str, Any]]()
    rows = max(len(one.answers), 1)
    for row in range(rows):
        top, bottom = 1 - row / rows, 1 - (row + 1) / rows + 0.02
        left = (str(2 * row + 1) if row else "", (0.0, 0.49), (bottom, top - 0.07))
        answer = one.answers[row] if one.answers else None
        via = None if answer is None else answer.via
        links = one.links if answer is None else answer.links
        data += edge_side(q, links, via, left[0])
        both |= axes(q, left)
        notes.append(words("edge graph" if not row else "the same", 0, top))
        if answer is None:
            notes.append(words("no graph has it", 0.55, top))
            continue
        right = (str(2 * row + 2), (0.51, 1.0), (bottom, top - 0.07))
        p = places(answer.edges, answer.num_nodes)
        data += node_side(p, answer, right[0])
        both |= axes(p, right)
        which = f"answer {row + 1}" if rows > 1 else "its graph"
        notes.append(words(which, 0.51, top))
    if not one.answers and one.claw is not None:
        data.insert(1, line(q, [(one.claw[0], leaf) for leaf in one.claw[1:]], "", theme.VERMILLION, 10))
    return whole(data, both, notes)


# --- Matrices -------------------------------------------------------------------------------------------


def box(x0: Any, x1: Any, y0: Any, y1: Any, at: str, width: float = 4) -> dict[str, Any]:
    return {"type": "rect", "xref": f"x{at}", "yref": f"y{at}", "x0": x0, "x1": x1, "y0": y0, "y1": y1,
            "line": {"color": theme.VERMILLION, "width": width}}  # fmt: skip


def cells(z: np.ndarray, at: str, scale: theme.Scale = "probability") -> list[dict[str, Any]]:
    """A heat map, with its numbers where it is small."""
    most = float(np.abs(z).max()) or 1.0
    small = max(z.shape) <= SMALL
    text = {"texttemplate": "%{z:.2~f}", "textfont": {"size": 15}} if small else {}
    return [{"type": "heatmap", "z": z, "zmin": 0 if scale == "probability" else -most,
             "zmax": 1.4 * most if scale == "probability" else most, "showscale": False, "hoverinfo": "skip",
             "colorscale": theme.scale(scale), "xgap": 1, "ygap": 1, "xaxis": f"x{at}", "yaxis": f"y{at}",
             } | text]  # fmt: skip


def quiet(n: int, domain: tuple[float, float], anchor: str) -> dict[str, Any]:
    return {"domain": domain, "anchor": anchor, "showgrid": False, "zeroline": False, "ticks": "",
            "showticklabels": True, "tickvals": list(range(n)), "tickfont": {"size": 13}}  # fmt: skip


def incidences(one: Returned) -> list[tuple[str, Tensor]]:
    """B of each answer by its name, and the adjacency of edges that it gives."""
    names = ["B, answer 1", "B, answer 2"] if len(one.answers) > 1 else ["B"]
    found = [(name, answer.incidence) for name, answer in zip(names, one.answers, strict=True)]
    return [*found, ("BᵀB − 2I", one.answers[0].matrix)]


def matrices(parts: Sequence[tuple[str, Tensor]]) -> Tree:
    """Matrices with a column for each edge, one above the other; frame e outlines column e."""
    data, both, notes, shapes = list[dict[str, Any]](), dict[str, Any](), [], []
    free = 1 - 0.1 * len(parts)
    total, top = sum(len(matrix) for _, matrix in parts), 1.0
    for k, (name, matrix) in enumerate(parts):
        at, (rows, columns) = str(k + 1) if k else "", matrix.shape
        notes.append(words(name, 0, top))
        high = top - 0.07
        low = high - free * rows / total
        data += cells(array(matrix).astype(float), at)
        both[f"xaxis{at}"] = quiet(columns, (0.06, 1), f"y{at}") | {"range": [-0.5, columns - 0.5]}
        both[f"yaxis{at}"] = quiet(rows, (max(low, 0), high), f"x{at}") | {"range": [rows - 0.5, -0.5]}
        e = np.arange(columns)
        shapes.append(box(per_frame(e - 0.5), per_frame(e + 0.5), -0.5, rows - 0.5, at))
        top = low - 0.03 - 0.02
    tree = whole(data, both, notes)
    return tree | {"layout": {**tree["layout"], "shapes": shapes}}
