"""Each cell as a sum with its numbers, and what the text prints of it."""

import math

import numpy as np

from pages.transformer.arithmetic.lens import Part, Run
from pages.transformer.arithmetic.printed import HIDDEN, PRINTED, differs


def cell(part: Part, token: int, entry: int) -> tuple[int, int]:
    """Row and column from 0, the last where the matrix is smaller."""
    rows, columns = part.values.shape
    return min(token, rows) - 1, min(entry, columns) - 1


Area = tuple[str, int, int, int, int]  # key, first row and column, rows and columns


def operands(one: Run, key: str, i: int, j: int) -> list[Area]:
    """What the cell (i, j) is made of."""
    part = one.parts[key]
    shapes = {k: one.parts[k].values.shape for k in part.of}
    row = [(k, i, 0, 1, shapes[k][1]) for k in part.of]
    if part.rule == "product":
        return [row[0], (part.of[1], 0, j, shapes[part.of[1]][0], 1)]
    if part.rule == "scores":
        return [row[0], (part.of[1], j, 0, 1, shapes[part.of[1]][1])]
    if part.rule in ("normed", "softmax"):
        return row
    if part.rule == "join":
        wide = shapes[part.of[0]][1]
        return [(part.of[j // wide], i, j % wide, 1, 1)]
    return [(k, i, j, 1, 1) for k in part.of]


def said(value: float, sign: bool = False) -> str:
    """A number as the picture says it: whole, or with two decimals; in brackets behind a sign if it is
    negative."""
    if math.isinf(value):
        return r"-\infty" if value < 0 else r"\infty"
    text = f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.2f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return f"({text})" if sign and text.startswith("-") else text


def equation(one: Run, key: str, i: int, j: int) -> str:
    """The cell as a sum with its numbers, LaTeX."""
    part, values = one.parts[key], one.parts[key].values
    a, b = (j, i) if one.columns else (i, j)
    left = " + ".join(f"{letter}_{{{a + 1},{b + 1}}}" for letter in part.letter.split(" + "))
    end = said(float(values[i, j]))
    areas = [one.parts[k].values[r : r + h, c : c + w] for k, r, c, h, w in operands(one, key, i, j)]
    if part.rule in ("product", "scores"):
        terms = [rf"{said(x)} \cdot {said(y, True)}"
                 for x, y in zip(areas[0].ravel(), areas[1].ravel(), strict=True)]  # fmt: skip
        middle = added(terms)
        if part.rule == "scores" and one.scale != 1:
            middle = rf"\frac{{{middle}}}{{\sqrt{{{round(one.scale**2)}}}}}"
    elif part.rule == "normed":
        row = areas[0][0]
        middle = rf"\frac{{{said(row[j])} - {said(row.mean(), True)}}}{{{row.std():.3f}}}"
    elif part.rule == "softmax":
        powers = [f"e^{{{said(s)}}}" if s > -math.inf else "0" for s in areas[0][0]]
        middle = rf"\frac{{{powers[j]}}}{{{' + '.join(powers)}}}"
    elif part.rule == "masked":
        s = float(areas[0][0, 0])
        middle = said(s) + (" + 0" if math.isfinite(values[i, j]) else r" - \infty")
    elif part.rule == "relu":
        middle = rf"\mathrm{{ReLU}}({said(float(areas[0][0, 0]))})"
    elif part.rule == "sum":
        middle = added([said(float(area[0, 0])) for area in areas])
    else:
        return f"{left} = {end}"
    return f"{left} = {middle} = {end}"


def added(terms: list[str]) -> str:
    """Terms with a sign between them."""
    text = terms[0]
    for term in terms[1:]:
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def equations(one: Run, token: int, entry: int) -> list[str]:
    return [equation(one, key, *cell(one.parts[key], token, entry)) for key in one.film]


def captions(one: Run, token: int, entry: int, printed: bool) -> list[str]:
    """What each step does, and what the text prints of the cell where it differs."""
    texts = []
    for key in one.film:
        part, text = one.parts[key], one.parts[key].says
        i, j = cell(part, token, entry)
        if printed and key in PRINTED and differs(PRINTED[key][i][j], float(part.values[i, j])):
            text += f" The text prints {PRINTED[key][i][j].replace('-', '−')} for this cell."
        texts.append(text)
    return texts


def marks(one: Run, key: str) -> np.ndarray:
    """(rows, columns): 0 where the text prints this number, 1 where but for rounding, 2 where another;
    0 where it prints none."""
    values = one.parts[key].values
    if key not in PRINTED:
        return np.zeros(values.shape, int)
    pairs = zip(PRINTED[key], values, strict=True)
    return np.array([[differs(p, float(v)) for p, v in zip(*row, strict=True)] for row in pairs])


def texts(one: Run, key: str, printed: bool) -> list[list[str]]:
    """What stands in the cells."""
    if printed and key in PRINTED:
        return [[word.replace("-", "−") for word in row] for row in PRINTED[key]]
    shown = [[said(float(v)).replace(r"-\infty", HIDDEN) for v in row] for row in one.parts[key].values]
    return [[word.replace("-", "−") for word in row] for row in shown]


def shown(one: Run, key: str, printed: bool) -> np.ndarray:
    """The numbers that stand in the cells."""
    if printed and key in PRINTED:
        return np.array([[-math.inf if word == HIDDEN else float(word) for word in row]
                         for row in PRINTED[key]])  # fmt: skip
    return one.parts[key].values.astype(float)


def counted(one: Run) -> tuple[int, int, int]:
    """Numbers that the text prints of the matrices shown, those with other digits, and those wrong."""
    found = [marks(one, key) for key in one.film if key in PRINTED]
    rounded, wrong = (sum(int((m == kind).sum()) for m in found) for kind in (1, 2))
    return sum(m.size for m in found), rounded, wrong
