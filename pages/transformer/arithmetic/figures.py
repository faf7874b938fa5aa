"""Matrices on one canvas, each below or beside what it is made of, with their numbers in them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import CLICK_OPACITY
from lab.figures.moving import Tree, per_frame
from pages.transformer.arithmetic import sums
from pages.transformer.arithmetic.lens import Run

Places = Mapping[str, tuple[float, float]]  # key -> left and top of its first cell
ACROSS, DOWN = 0.6, 1.0  # between two matrices; titles stand in the latter
PALE = 2.4  # how far colours stay from the ends of their scale, so that numbers are read on them
TITLES = {
    "x": "X", "N": "LN(X)", "WQ": "W<sub>Q</sub>", "WK": "W<sub>K</sub>", "WV": "W<sub>V</sub>", "Q": "Q",
    "K": "K", "V": "V", "M": "S + M", "A": "A = softmax", "C": "C = A V", "D": "D = [C] W<sub>O</sub>",
    "U": "X + D", "Y": "Y", "L": "LN(Y)", "F": "F", "G": "Y + F", "Z": "Z",
}  # fmt: skip


def title(one: Run, key: str) -> str:
    name, number = key.rstrip("12"), key.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if name == "S":
        text = "S = K<sup>T</sup>Q" if one.columns else "S = QK<sup>T</sup>"
        return text + ("/√d<sub>k</sub>" if one.scale != 1 else "")
    if name == "C" and not one.given[-1].startswith("W"):
        return f"C{'¹²'[int(number) - 1]}"
    if name == "C" and one.columns:
        return "C = V A"
    if name == "Y":
        return "Y = X + D" if one.parts["Y"].rule == "sum" else "Y = LN(X + D)"
    if name == "Z":
        return "Z = Y + F" if one.parts["Z"].rule == "sum" else "Z = LN(Y + F)"
    return TITLES[name] + ("<sup>T</sup>" if one.columns and name[0] == "W" else "")


def placed(one: Run) -> Places:
    """Where each matrix stands, tokens as rows: the factors of a product left of it and above it."""
    across, down = (DOWN, ACROSS) if one.columns else (ACROSS, DOWN)
    shapes = {key: part.values.shape for key, part in one.parts.items()}
    n, C = shapes["x"]
    places: dict[str, tuple[float, float]] = {}
    if one.given[-1].startswith("W"):
        i = one.given[-1][-1]
        above, middle, below = 0.0, max(C, n) + down, max(C, n) + n + 2 * down
        normed = "N" in one.film
        places["x"] = (0, max(C, n) - n if normed else middle)
        if normed:
            places["N"] = (0, middle)
        x = C + across
        for name in "QKV":
            places["W" + name + i], places[name + i] = (x, max(C, n) - C + above), (x, middle)
            x += shapes[name + i][1] + across
        x = 0.0
        for key in one.film:
            if key[0] in "SMAC":
                places[key] = (x, below)
                x += shapes[key][1] + across
        return places
    x, y = 0.0, 0.0
    for key in (*one.given, *one.film):
        wide = C if key != "C2" else 0
        if x and x + wide > 3 * C + 2 * across + 0.1:
            x, y = 0.0, y + n + down
        places[key] = (x, y)
        beside = key == "C1" and "C2" in one.film
        x += shapes[key][1] + (0 if beside else across)
    return places


def keys_of(one: Run) -> tuple[str, ...]:
    return (*one.given, *one.film)


def box(one: Run, places: Places, area: sums.Area) -> tuple[float, float, float, float]:
    """Edges x0, x1, y0, y1 of cells on the canvas."""
    key, row, column, rows, columns = area
    x, y = places[key]
    edges = (x + column - 0.5, x + column + columns - 0.5, y + row - 0.5, y + row + rows - 0.5)
    return (*edges[2:], *edges[:2]) if one.columns else edges


def whole(one: Run, places: Places, key: str) -> tuple[float, float, float, float]:
    """Edges of a matrix."""
    rows, columns = one.parts[key].values.shape
    return box(one, places, (key, 0, 0, rows, columns))


def spots(one: Run, places: Places, key: str) -> tuple[np.ndarray, np.ndarray]:
    """x and y of all cells of a matrix, row by row."""
    rows, columns = np.indices(one.parts[key].values.shape)
    x, y = (places[key][0] + columns).ravel(), (places[key][1] + rows).ravel()
    return (y, x) if one.columns else (x, y)


def hit(one: Run, x: float, y: float) -> tuple[str, int, int] | None:
    """Key, row and column of the cell at a place of the canvas."""
    places = placed(one)
    for key in keys_of(one):
        for at, (a, b) in enumerate(zip(*spots(one, places, key), strict=True)):
            if abs(a - x) < 0.3 and abs(b - y) < 0.3:
                return key, *divmod(at, one.parts[key].values.shape[1])
    return None


def since(one: Run, key: str) -> int:
    """The first frame that shows a matrix."""
    return one.film.index(key) if key in one.film else 0


def canvas(one: Run, token: int, entry: int, printed: bool) -> Tree:
    """The film: at each frame one more matrix, its chosen cell framed with what it is made of."""
    places, count = placed(one), len(one.film)
    data = [cells(one, places, key, printed, count) for key in keys_of(one)]
    data.append(numbers(one, places, printed, count))
    if printed:
        data += [flags(one, places, kind, count) for kind in (1, 2)]
    data.append(targets(one, places))
    empty = [frame(whole(one, places, key), theme.grid(), 1) for key in one.film]
    edges = [whole(one, places, key) for key in keys_of(one)]
    left, right = min(e[0] for e in edges), max(e[1] for e in edges)
    top, bottom = min(e[2] for e in edges), max(e[3] for e in edges)
    axis = {"visible": False, "constrain": "domain", "zeroline": False, "showgrid": False}
    return {
        "data": data,
        "layout": {
            "height": 460, "showlegend": False, "hoverdistance": -1, "annotations": names(one, places),
            "shapes": [*empty, *framed(one, places, token, entry)],
            "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
            "xaxis": {**axis, "range": [left - 0.1, right + 0.1]},
            "yaxis": {**axis, "range": [bottom + 0.1, top - (1 if one.columns else 0.8)], "scaleanchor": "x",
                      "scaleratio": 0.5 if one.columns else 0.58},
        },
    }  # fmt: skip


def cells(one: Run, places: Places, key: str, printed: bool, count: int) -> dict[str, Any]:
    """Colours of a matrix, empty before its frame."""
    values = sums.shown(one, key, printed)
    values = np.where(np.isfinite(values), values, np.nan)
    x, y = places[key]
    if one.columns:
        values, x, y = values.T, y, x
    weights = key[0] == "A"
    most = 1.0 if weights else max(float(np.nanmax(np.abs(p.values[np.isfinite(p.values)])))
                                   for p in one.parts.values())  # fmt: skip
    shown = np.arange(count) >= since(one, key)
    return {
        "type": "heatmap", "x0": x, "dx": 1, "y0": y, "dy": 1, "xgap": 1, "ygap": 1, "showscale": False,
        "z": per_frame(np.where(shown[:, None, None], values, np.nan)), "hoverinfo": "skip",
        "zmin": 0 if weights else -PALE * most, "zmax": PALE * most,
        "colorscale": theme.scale("violet" if weights else "diverging"),
    }  # fmt: skip


def numbers(one: Run, places: Places, printed: bool, count: int) -> dict[str, Any]:
    """What stands in each cell, from its frame on."""
    x: list[float] = []
    y: list[float] = []
    texts: list[str] = []
    first: list[int] = []
    for key in keys_of(one):
        a, b = spots(one, places, key)
        x, y = [*x, *a.tolist()], [*y, *b.tolist()]
        texts += [word for row in sums.texts(one, key, printed) for word in row]
        first += [since(one, key) if key in one.film else 0] * len(a)
    frames = [[t if f >= s else "" for t, s in zip(texts, first, strict=True)] for f in range(count)]
    return {
        "type": "scatter", "x": x, "y": y, "mode": "text", "text": per_frame(frames), "hoverinfo": "skip",
        "textfont": {"size": theme.FONT_SIZE - 4, "color": theme.text()},
    }  # fmt: skip


def flags(one: Run, places: Places, kind: int, count: int) -> dict[str, Any]:
    """Marks of numbers that the text prints otherwise: rings where rounding alone differs, else dots."""
    x: list[float] = []
    y: list[float] = []
    first: list[int] = []
    for key in one.film:
        chosen = (sums.marks(one, key) == kind).ravel()
        a, b = spots(one, places, key)
        x, y, first = [*x, *a[chosen]], [*y, *b[chosen]], [*first, *[since(one, key)] * int(chosen.sum())]
    high = np.array(y, dtype=float)
    frames = np.where(np.arange(count)[:, None] >= np.array(first), high - 0.33, np.nan)
    return {
        "type": "scatter", "x": [v + 0.4 for v in x], "y": per_frame(frames), "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"size": 11, "color": theme.VERMILLION, "symbol": "circle-open" if kind == 1 else "circle",
                   "line": {"width": 2, "color": theme.VERMILLION}},
    }  # fmt: skip


def targets(one: Run, places: Places) -> dict[str, Any]:
    """What a click finds."""
    pairs = [spots(one, places, key) for key in keys_of(one)]
    x, y = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    return {
        "type": "scatter", "x": x, "y": y, "mode": "markers", "hoverinfo": "none", "name": "click",
        "marker": {"symbol": "square", "size": 34, "opacity": CLICK_OPACITY, "color": theme.HIDDEN},
    }  # fmt: skip


def frame(edges: Sequence[Any], color: str, width: float) -> dict[str, Any]:
    x0, x1, y0, y1 = edges
    line = {"color": color, "width": width}
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line, "layer": "above"}


def framed(one: Run, places: Places, token: int, entry: int) -> list[dict[str, Any]]:
    """Frames around the chosen cell and around what it is made of, at each frame of the film."""
    found: list[list[tuple[float, float, float, float]]] = [[], [], []]
    for key in one.film:
        i, j = sums.cell(one.parts[key], token, entry)
        own = box(one, places, (key, i, j, 1, 1))
        areas = [box(one, places, a) for a in sums.operands(one, key, i, j) if a[0] in places]
        for side, edges in enumerate((*[*areas, own, own][:2], own)):
            found[side].append(edges)
    colors = (theme.INPUT, theme.INPUT, theme.VERMILLION)
    return [frame([per_frame(list(edge)) for edge in zip(*edges, strict=True)], color, 4)
            for edges, color in zip(found, colors, strict=True)]  # fmt: skip


def names(one: Run, places: Places) -> list[dict[str, Any]]:
    """Titles above the matrices."""
    found = []
    for key in keys_of(one):
        x0, _, y0, _ = whole(one, places, key)
        found.append({"x": x0, "y": y0, "text": title(one, key), "showarrow": False, "xanchor": "left",
                      "yanchor": "bottom", "font": {"size": theme.FONT_SIZE}})  # fmt: skip
    return found
