"""A graph whose edges are of several kinds, the matrix of each kind, and what is said of a node's sum."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from pages.graph.edge_graph.figures import axes, cells, line, lines, marks, places, quiet, whole
from pages.graph.edge_graph.relations import Heard, Kinds
from pages.graph.edge_graph.room import SIGNS

COLORS, DASHES = (theme.BLUE, theme.VERMILLION, theme.GREEN), ("solid", "dash", "dot")
NAMES = tuple(f"kind {r + 1}, 0{sign}1" for r, sign in enumerate(SIGNS))
APART, BELOW = 0.035, 0.32  # of parallel edges; of a node's name


def written(values: list[float]) -> list[str]:
    return [f"{v:.2f}".rstrip("0").rstrip(".").replace("-", "−") for v in values]


def spots(of: Kinds) -> np.ndarray:
    return places(of.pairs, of.num_nodes)


def strands(of: Kinds) -> list[tuple[np.ndarray, int]]:
    """The two ends (2, 2) of each edge with its kind; edges of one pair lie beside each other."""
    p, found = spots(of), []
    pairs = of.pairs.tolist()
    for k, (a, b) in enumerate(pairs):
        same = [j for j, pair in enumerate(pairs) if pair == [a, b]]
        along = (p[b] - p[a]) / max(float(np.linalg.norm(p[b] - p[a])), 1e-9)
        aside = APART * (2 * same.index(k) - len(same) + 1) * np.array([-along[1], along[0]])
        found.append((np.stack([p[a] + aside, p[b] + aside]), int(of.kinds[k])))
    return found


def network(one: Heard) -> Tree:
    """The graph with the numbers of its nodes; frame n has what node n hears thick, and its result."""
    p, drawn, pairs = spots(one.of), strands(one.of), one.of.pairs.tolist()
    N, data = len(p), list[dict[str, Any]]()
    for r, color in enumerate(COLORS):
        mine = [k for k, (_, kind) in enumerate(drawn) if kind == r]
        ends = np.concatenate([drawn[k][0] for k in mine]) if mine else np.full((1, 2), np.nan)
        each = [[2 * i, 2 * i + 1] for i in range(len(mine))]
        near = [[each[i] for i, k in enumerate(mine) if n in pairs[k]] for n in range(N)]
        look = {"color": color, "width": 4, "dash": DASHES[r]}
        data += [
            lines(ends, near, "", theme.fade(color, 0.3), 16),
            line(ends, each, "", color, 4) | {"line": look, "name": NAMES[r], "showlegend": bool(mine)},
        ]
    numbers, results = (["<br>".join(written(row)) for row in rows.tolist()] for rows in (one.x, one.result))
    texts = [[results[m] if m == n else numbers[m] for m in range(N)] for n in range(N)]
    colors = [[theme.OUTPUT if m == n else theme.INPUT for m in range(N)] for n in range(N)]
    wide = [[6.0 if m == n else 1.5 for m in range(N)] for n in range(N)]
    data.append(marks(p, per_frame(texts), per_frame(colors), "", size=64, rims=per_frame(wide)))
    data[-1]["textfont"] |= {"size": 16}
    names = [
        {"x": x, "y": y - BELOW, "text": f"node {n}", "showarrow": False, "bgcolor": theme.paper(),
         "borderpad": 0, "font": {"size": theme.FONT_SIZE, "color": theme.text()}}
        for n, (x, y) in enumerate(p)
    ]  # fmt: skip
    both = axes(p, ("", (0, 1), (0, 0.92)))
    both["yaxis"] |= {"range": [p[:, 1].min() - BELOW - 0.1, p[:, 1].max() + 0.26]}
    tree = whole(data, both, names)
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "top", "font": {"size": theme.FONT_SIZE + 2}}
    return tree | {"layout": {**tree["layout"], "showlegend": True, "legend": legend}}


def vector(values: list[float]) -> str:
    return f"({', '.join(written(values))})"


def matrices(one: Heard) -> Tree:
    """Ψ and Ω of each kind, with what is multiplied by it and what comes out, a node a frame."""
    R, N = len(SIGNS), len(one.x)
    data, both, notes = list[dict[str, Any]](), dict[str, Any](), list[dict[str, Any]]()
    rows = [("Ψ", one.own, one.x, theme.text()), *(
        (f"Ω<sub>{r + 1}</sub>", one.matrices[r], one.means[:, r], COLORS[r]) for r in range(R)
    )]  # fmt: skip
    most = max(float(one.own.abs().max()), float(one.matrices.abs().max()))
    for k, (name, matrix, given, color) in enumerate(rows):
        at, top = str(k + 1) if k else "", 1 - k / (R + 1)
        middle = top - 0.5 / (R + 1)
        cell = cells(array(matrix), at, "diverging")[0]
        data.append(cell | {"zmin": -1.4 * most, "zmax": 1.4 * most})
        still = {"showticklabels": False, "range": [-0.5, 1.5]}
        both[f"xaxis{at}"] = quiet(2, (0.15, 0.44), f"y{at}") | still
        both[f"yaxis{at}"] = quiet(2, (top - 0.9 / (R + 1), top - 0.02), f"x{at}") | still | {
            "range": [1.5, -0.5]}  # fmt: skip
        silent = [k > 0 and not one.senders[n][k - 1] for n in range(N)]
        says = [
            "nobody"
            if silent[n]
            else f"· {vector(given[n].tolist())}<br>= {vector(one.terms[n, k].tolist())}"
            for n in range(N)
        ]
        for x, text, size, shade in ((0.0, f"<b>{name}</b>", 4, color),
                                     (0.47, per_frame(says), 0, theme.text())):  # fmt: skip
            notes.append({"x": x, "xref": "paper", "xanchor": "left", "y": middle, "yref": "paper",
                          "yanchor": "middle", "text": text, "showarrow": False, "align": "left",
                          "font": {"size": theme.FONT_SIZE + size, "color": shade}})  # fmt: skip
    return whole(data, both, notes)


# --- Words ----------------------------------------------------------------------------------------------


def captions(one: Heard) -> list[str]:
    """Of each node: who sends along which kind."""
    texts = []
    for n, kinds in enumerate(one.senders):
        parts = [f"{', '.join(map(str, every))} by kind {r + 1}" for r, every in enumerate(kinds) if every]
        texts.append(
            f"Node {n} hears {'; '.join(parts) or 'nobody'}: of each kind a mean, and its own matrix."
        )
    return texts


def column(values: list[float]) -> str:
    first, second = (f"{v:.2f}".rstrip("0").rstrip(".") for v in values)
    return rf"\begin{{pmatrix}} {first} \\ {second} \end{{pmatrix}}"


def equations(one: Heard) -> list[str]:
    """Of each node: its sum by kind."""
    texts = []
    for n, kinds in enumerate(one.senders):
        terms = one.terms[n].tolist()
        parts = [rf"\underbrace{{{column(terms[0])}}}_{{\Psi x_{{{n}}}}}"]
        parts += [
            rf"\underbrace{{{column(terms[r + 1])}}}_{{\Omega_{r + 1} \bar x^{{({r + 1})}}}}"
            for r, every in enumerate(kinds) if every
        ]  # fmt: skip
        total = " + ".join(parts)
        result = column(one.result[n].tolist())
        texts.append(rf"{total} = \underbrace{{{result}}}_{{x'_{{{n}}}}}")
    return texts


def notice(bases: int) -> str:
    R = len(SIGNS)
    text = (
        "What a neighbour says is turned by the matrix of the edge's kind, so that one layer tells a sender "
        "by one kind from the same sender by another; a kind that a node does not hear adds nothing. "
    )
    if not bases:
        return text + f"Free matrices: {R} · 4 numbers. Of many kinds few bases are enough to share."
    return text + (
        f"With B = {bases} each Ω is a weighted sum of the same {bases} matri{'x' if bases == 1 else 'ces'}: "
        f"{bases} · (4 + {R}) numbers in the place of {R} · 4"
        + (", and all kinds differ by a factor alone." if bases == 1 else ".")
    )
