"""Numbers and small matrices that a reader types; what cannot be read is named, the rest is used."""

import math
import re

from datamodules import cells, sheet
from lab.errors import UserError


def fitting(words: list[str], reach: float) -> tuple[list[float], list[str]]:
    """The words that are numbers in [−reach, reach], and those that are not."""
    values, strange = [], []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if abs(value) <= reach:
            values.append(value)
        else:
            strange.append(word)
    return values, strange


def commas(text: str) -> str:
    """Say what was decided about the commas of a list, "" where nothing was to be."""
    return cells.words(text)[1]


def is_square(widths: list[int]) -> bool:
    return all(width == len(widths) for width in widths)


def square_commas(text: str) -> str:
    """The same of a square matrix."""
    return cells.rows(text, is_square)[1]


def matrix(text: str, reach: float, most: int) -> list[list[float]]:
    """A matrix of up to `most` rows and columns: rows between semicolons or on lines of their own.

    Raises:
        UserError: a word is no number, rows differ in length, or there are too many.
    """
    rows = []
    for line in cells.rows(text, lambda widths: len(set(widths)) == 1)[0]:
        row, strange = fitting(line, reach)
        if strange:
            raise UserError(
                f"“{strange[0][:20]}” is no number from −{reach:g} to {reach:g}: write rows such as 1 0; 0 1."
            )
        rows.append(row)
    widths = {len(row) for row in rows}
    if len(widths) != 1 or len(rows) > most or not 1 <= max(widths) <= most:
        raise UserError(
            f"Write one to {most} rows of equally many numbers, at most {most}, such as 1 0; 0 1."
        )
    return rows


def numbers(text: str, reach: float, most: int) -> tuple[float, ...]:
    """Up to `most` numbers in [−reach, reach], separated by spaces, commas or semicolons.

    Raises:
        UserError: a word is no such number, or there are too many.
    """
    words = re.split(r"[\s,;]+", text.strip().replace("−", "-"))
    values, strange = fitting([word for word in words if word], reach)
    if strange:
        raise UserError(
            f"“{strange[0][:20]}” is no number between −{reach:,g} and {reach:,g}: write some such as 1 2 3."
        )
    if len(values) > most:
        raise UserError(f"There are {len(values)} numbers: write at most {most}.")
    return tuple(values)


def square(text: str, reach: float, most: int) -> list[list[float]]:
    """A square matrix: rows between semicolons or on lines of their own, of whose commas the shape decides
    whether they are decimal marks.

    Raises:
        UserError: a word is no number, or the rows do not make a square.
    """
    words, _ = cells.rows(text, is_square)
    rows = []
    for line in words:
        row, strange = fitting(line, reach)
        if strange:
            raise UserError(f"{strange[0]!r} is no number from −{reach:g} to {reach:g}: correct it.")
        rows.append(row)
    if not 1 <= len(rows) <= most or any(len(row) != len(rows) for row in rows):
        shape = ", ".join(str(len(row)) for row in rows) or "none"
        raise UserError(
            f"A square matrix of up to {most} rows is due, rows between semicolons: "
            f"there are {len(rows)} rows, of {shape} numbers."
        )
    return rows


def named(text: str, most: int, low: float = -100.0, high: float = 100.0) -> tuple[list[float], str]:
    """Up to `most` numbers in [low, high] of a text, and a sentence on what is left out or was decided about
    its commas, "" if nothing."""
    words, decided = cells.words(text, one=most == 1)
    values, strange = fitting(words, max(abs(low), abs(high)))
    kept = [value for value in values if low <= value <= high]
    bad = [*strange, *(f"{value:g}" for value in values if not low <= value <= high)]
    texts = ""
    if bad:
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        texts = f"“{bad[0][:20]}”{more} is left out: numbers from {low:g} to {high:g} can be used."
    elif len(kept) > most:
        texts = f"There are {len(kept)} numbers: the first {most} are used."
    return kept[:most], f"{decided} {texts}".strip()


def points(
    text: str, reach: float, most: int, missing: bool = False, lines: bool = True
) -> tuple[list[list[float]], str]:
    """Points that are typed, or the first two columns of a table that is pasted, and a sentence on what is
    left out or was decided, "" if nothing.

    Args:
        missing: "?" is a point that is missing, two NaN.
        lines: see `datamodules.cells.pairs`.
    """
    results: list[list[float]] = []
    parts, decided = cells.pairs(text, lines)
    wide, bad, hole = False, "", ", or ?" if missing else ""
    for at, (line, part, point) in enumerate(parts):
        values = [cells.number(cell) for cell in point[:2]]
        wide = wide or len([cell for cell in point if cell]) > 2
        if missing and part == "?":
            results.append([math.nan] * 2)
        elif len(values) == 2 and all(v is not None and abs(v) <= reach for v in values):
            results.append([float(v) for v in values if v is not None])
        elif at > 0 or any(v is not None for v in values):  # a first line of names is passed over
            bad = bad or (
                f"Line {line}: {part[:30]!r} is no point and is left out: write two numbers up to "
                f"±{reach:g}, like 1.2, 0.5{hole}."
            )
    several = ";" in text and len(text.split("\n")) > 1
    texts = [decided, bad or ("There are more than two columns: the first two are used." if wide else "")]
    if not decided and (bad or wide or several):
        columns, notes, comma = two_columns(text, reach, missing)
        if (comma and several) or (columns and len(columns) >= len(results) + (not wide)):
            results, texts = columns, notes
    if len(results) > most:
        texts.append(f"These are {len(results)} points: the first {most} are used.")
    return results[:most], " ".join(filter(None, texts))


def two_columns(text: str, reach: float, missing: bool) -> tuple[list[list[float]], list[str], bool]:
    """The first two columns of a table, what is said of it, and whether commas are decimal; [] for none."""
    try:
        known = sheet.sheet(text)
        names, rows, notes = known.numbers()
    except ValueError:
        return [], [], False
    if len(names) < 2:
        return [], [], False
    texts = [*known.notes, *notes]
    if len(names) > 2:
        texts.append(f"The first two columns of numbers are used: {names[0]} and {names[1]}.")
    good = [all(abs(v) <= reach for v in row[:2]) for row in rows]
    if not all(good):
        line = known.lines[good.index(False)]
        texts.append(f"{good.count(False)} rows have no point up to ±{reach:g}, first line {line}.")
    kept = [row[:2] if fits else [math.nan] * 2 for row, fits in zip(rows, good, strict=True)]
    return [row for row, fits in zip(kept, good, strict=True) if fits or missing], texts, known.decimal == ","


def distribution(text: str, most: int) -> tuple[list[float], str]:
    """Typed weights, not negative, as probabilities that sum to 1, and a sentence on what is left out.

    Raises:
        UserError: fewer than two weights, or all of them 0.
    """
    weights, texts = named(text, most, 0.0, 1e6)
    if len(weights) < 2 or sum(weights) <= 0:
        raise UserError(f"Give 2 to {most} weights, not all of them 0, such as 0.5 0.3 0.2.")
    total = sum(weights)
    return [weight / total for weight in weights], texts
