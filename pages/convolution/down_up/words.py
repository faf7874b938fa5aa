"""Where a number comes from, written out: the cells of a block, the terms of a sum."""

from torch import Tensor

from pages.convolution.down_up import room
from pages.convolution.down_up.levels import Level


def number(value: float | Tensor) -> str:
    text = f"{float(value):.3g}"
    return "0" if text in ("-0", "0") else f"{float(text):g}"


def terms(rows: Tensor, columns: Tensor, values: Tensor, most: int = 5) -> str:
    """The sum Σ rows_a columns_b values_ab, written out."""
    pairs = [
        (number(rows[a] * columns[b]), number(values[a, b]))
        for a, b in (rows[:, None] * columns).nonzero().tolist()
    ]
    words = [
        value if weight == "1" and len(pairs) == 1 else rf"{weight}\cdot {value}" for weight, value in pairs
    ]
    if len(words) > most:
        words = [*words[: most - 2], r"\cdots", words[-1]]
    return "+".join(words).replace("+-", "-") or "0"


def block_of(x: Tensor, size: int, i: int, j: int) -> Tensor:
    return x[size * i : size * (i + 1), size * j : size * (j + 1)].flatten()


def listed(values: Tensor, between: str, after: str = "", most: int = 9) -> str:
    """Numbers with the same sign or word behind each; of many the first three and the last."""
    words = [f"{number(v)}{after}" for v in values]
    if len(words) > most:
        words = [*words[:3], r"\ldots", words[-1]]
    return between.join(words)


def power_equation(values: Tensor, power: int, form: str, total: float | Tensor) -> str:
    """L_k pooling of a block, the sum or the mean of the powers."""
    part = rf"\tfrac{{1}}{{{len(values)}}}" if form == room.AVERAGE else ""
    if power == 1:
        return f"{part}({listed(values, '+')}) = {number(total)}"
    powers = listed(values, "+", f"^{{{power}}}")
    inner = rf"\left({part}({powers})\right)" if part else f"({powers})"
    return f"{inner}^{{1/{power}}} = {number(total)}"


def down_equation(x: Tensor, level: Level, how: str, size: int, power: int, form: str, i: int, j: int) -> str:
    """How cell (i, j) of z comes out of x."""
    z, cell = level.values[i, j], f"z_{{{i},{j}}}"
    values = block_of(x, size, i, j)
    if how == room.MAX:
        return rf"{cell} = \max({listed(values, ', ')}) = {number(z)}"
    if how == room.MEAN:
        return rf"{cell} = \tfrac{{1}}{{{len(values)}}}({listed(values, '+')}) = {number(z)}"
    if how == room.POWER:
        return f"{cell} = {power_equation(values, power, form, z)}"
    if how == room.STOCHASTIC:
        total = values.sum()
        p = f"{number(z)}/{number(total)}" if total > 0 else f"1/{len(values)}"
        return rf"{cell} = {number(z)}\ \text{{with}}\ p = {p}"
    if how == room.SUBSAMPLE:
        return f"{cell} = x_{{{size * i},{size * j}}} = {number(z)}"
    assert level.of is not None and level.weights is not None
    return f"{cell} = {terms(level.weights[0][i], level.weights[1][j], level.of)} = {number(z)}"


def up_equation(level: Level, how: str, size: int, taps: Tensor, i: int, j: int) -> str:
    """How cell (i, j) of y comes out of the picture below it."""
    y, cell = level.values[i, j], f"y_{{{i},{j}}}"
    if level.sources is not None:
        width = level.reads[1].shape[1]
        source = int(level.sources[i * len(level.values.T) + j])
        return (
            f"{cell} = 0"
            if source < 0
            else f"{cell} = z_{{{source // width},{source % width}}} = {number(y)}"
        )
    assert level.of is not None and level.weights is not None
    rows, columns = level.weights[0][i], level.weights[1][j]
    if how == room.NEAREST:
        return f"{cell} = z_{{{i // size},{j // size}}} = {number(y)}"
    named = rf"c_{{{i % size * size + j % size}}}[{i // size},{j // size}] = " if how == room.SHUFFLE else ""
    return f"{cell} = {named}{terms(rows, columns, level.of)} = {number(y)}"
