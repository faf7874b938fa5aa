"""Cells that a reader types or stores: numbers and dates in their common spellings, and what a comma means.

A comma parts two numbers or is a decimal mark, and no single cell tells which: the whole text decides.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import Literal

Decimal = Literal[".", ","]
EMPTY = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "--", "."}
GROUPS = "'’ \u00a0\u202f"  # marks of thousands beside the comma and the point
GROUPED = {
    decimal: re.compile(rf"[+-]?\d{{1,3}}([{other}{GROUPS}])\d{{3}}(\1\d{{3}})*([{decimal}]\d*)?")
    for decimal, other in ((".", ","), (",", "."))
}  # fmt: skip
FRACTION = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
WHOLE_OR_COMMA = re.compile(r"[+-]?\d+(,\d+)?|\?")


def number(cell: str, decimal: Decimal = ".") -> float | None:
    """The number in a cell, NaN if it is empty; None if it is no number.

    Marks of thousands (1,234.5; 1.234,5; 1 234), a sign of money and a per cent sign are passed over.
    """
    cell = cell.strip()
    if cell.lower() in EMPTY:
        return math.nan
    cell = cell.replace("−", "-").strip("$€£% \u00a0")
    if GROUPED[decimal].fullmatch(cell):
        cell = re.sub(rf"[{'.' if decimal == ',' else ','}{GROUPS}]", "", cell)
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def decimal_of(cells: Iterable[str], separator: str) -> Decimal:
    """The decimal mark of all cells of a table, by the cells that have a comma.

    Where every one of them may be thousands too (1,234), it is what the separator goes with: semicolons with
    decimal commas, others with points.
    """
    commas = points = grouped = 0
    for cell in cells:
        if "," in cell or "." in cell:
            cell = cell.strip().strip("$€£% \u00a0")
            if "," in cell and number(cell, ",") is not None:
                grouped += number(cell, ".") is not None
                commas += 1
            elif number(cell, ".") is not None:
                points += not GROUPED[","].fullmatch(cell)  # 1.234 may be thousands
    if commas == grouped and separator != ";":  # 1,234 everywhere, or no comma
        return "."
    return "," if commas > points else "."


# --- Lists and matrices that are typed --------------------------------------------------------------


def decimal_commas(text: str) -> bool:
    """True if the commas of typed numbers can be decimal marks: between digits alone, at most one per word,
    something else parts the words, and no number has a point.
    """  # fmt: skip
    words = text.replace("−", "-").replace(";", " ").split()
    return (
        len(words) > 1
        and any("," in word for word in words)
        and "." not in text
        and all("," not in word or FRACTION.fullmatch(word) for word in words)
    )


def words(text: str, one: bool = False) -> tuple[list[str], str]:
    """The words of a list, parted by blanks, semicolons or commas, and a sentence where commas were found to
    be decimal marks instead ("" where not).

    Args:
        one: a single number is due, so that 0,5 is one.
    """
    text = text.replace("−", "-")
    if decimal_commas(text) or (one and FRACTION.fullmatch(text.strip())):
        result = text.replace(";", " ").replace(",", ".").split()
        return result, decimal_note(result)
    return text.replace(",", " ").replace(";", " ").split(), ""


COLONS = re.compile(r"[+-]?\d*(,\d+)?:[+-]?\d*(,\d+)?")


def colons(text: str) -> tuple[list[str], str]:
    """The words a:b of a list, parted by blanks, semicolons or commas, and a sentence as of `words`.

    Commas are decimal marks where every word between blanks and semicolons is two numbers with such.
    """
    text = text.replace("−", "-")
    parts = text.replace(";", " ").split()
    if "," in text and "." not in text and all(COLONS.fullmatch(part) for part in parts):
        result = text.replace(";", " ").replace(",", ".").split()
        return result, decimal_note(result)
    return text.replace(",", " ").replace(";", " ").split(), ""


def decimal_note(names: list[str]) -> str:
    """Note that commas are decimal marks, with the first numbers as an example."""
    return f"Commas are read as decimal marks: {' and '.join(names[:2])}."


def rows(text: str, fits: Callable[[list[int]], bool] = lambda widths: True) -> tuple[list[list[str]], str]:
    """The words of each row, rows between semicolons or on lines, and a sentence as of `words`.

    Args:
        fits: whether rows of so many words are what is due; where decimal commas make no such rows, and
            commas between words do, they part words.
    """
    parts = [part for part in text.replace("−", "-").replace("\n", ";").split(";") if part.strip()]
    if decimal_commas(text):
        results = [part.replace(",", ".").split() for part in parts]
        if fits([len(row) for row in results]):
            return results, decimal_note(results[0])
    return [part.replace(",", " ").split() for part in parts], ""


def pairs(text: str, lines: bool = True) -> tuple[list[tuple[int, str, list[str]]], str]:
    """Typed points: line, text and cells of each, and a sentence as of `words`.

    Points stand on lines of their own or between semicolons, their cells between commas, tabs or blanks.
    Where lines are 1,5;2,5 or 1,5 2,5, their commas are decimal marks.

    Args:
        lines: a single line 1,5;2,5 is one point; else there are at least two points in it.
    """
    results = [
        (i, line.strip()) for i, line in enumerate(text.replace("−", "-").splitlines(), 1) if line.strip()
    ]
    ways = [results] if lines or len(results) > 1 else []
    ways.append([])
    for i, line in results:
        pieces = [piece.strip() for piece in line.split(";") if piece.strip()]
        one = len(pieces) == 2 and not any(re.search(r"[,\s]", piece) for piece in pieces)  # 3;4
        ways[-1] += [(i, ",".join(pieces))] if one else [(i, piece) for piece in pieces]
    for parts in ways:
        split = [re.split(r"\s*[;\t]\s*|\s+", part) for _, part in parts]
        decimal = [len(two) == 2 and all(WHOLE_OR_COMMA.fullmatch(cell) for cell in two) for two in split]
        marked = [
            two for two, d in zip(split, decimal, strict=True) if d and any("," in cell for cell in two)
        ]
        if marked and 2 * sum(decimal) >= len(parts):
            return [
                (
                    i,
                    part,
                    [cell.replace(",", ".") for cell in two] if d or "," not in part else split_point(part),
                )
                for (i, part), two, d in zip(parts, split, decimal, strict=True)
            ], decimal_note([cell.replace(",", ".") for cell in marked[0]])
    return [(i, part, split_point(part)) for i, part in ways[-1]], ""


def split_point(point: str) -> list[str]:
    """The cells of a point between commas, tabs, or else blanks."""
    return [cell.strip() for cell in re.split("[,\t]", point)] if re.search("[,\t]", point) else point.split()


# --- Dates ------------------------------------------------------------------------------------------

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CLOCK = r"(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2}))?[\d.,]*\s*(?:[AaPp][Mm])?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})(?:[-/.](\d{{1,2}}))?{CLOCK}")
YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})[-/.](\d{{4}}|\d{{2}}){CLOCK}")
NAMED = re.compile(r"(?:(\d{1,2})[-. /])?\s*([A-Za-z]{3,9})[-. /]*(?:(\d{1,2}),\s*)?'?(\d{4}|\d{2})")
PART = re.compile(r"(\d{4})[- ]?([MQmq])(\d{1,2})")


def parse_date(cell: str, day_first: bool = False) -> float | None:
    """The date in a cell, in years with their fraction; None if it is none.

    Args:
        day_first: 01/02/2020 is in February; between points it always is.
    """
    cell, clock = cell.strip(), (0, 0, 0)
    if result := YEAR_FIRST.fullmatch(cell):
        year, month, day, *rest = (int(part or 0) for part in result.groups())
        clock = (rest[0], rest[1], rest[2])
    elif result := YEAR_LAST.fullmatch(cell):
        first, mark, second, last, *hours = result.groups()
        year, month, day = int(last), int(first), int(second)
        if day_first or mark == ".":
            month, day = day, month
        clock = (int(hours[0] or 0), int(hours[1] or 0), int(hours[2] or 0))
    elif result := PART.fullmatch(cell):
        year, month, day = int(result[1]), int(result[3]), 1
        if result[2] in "Qq":
            month = 3 * month - 2
    elif (result := NAMED.fullmatch(cell)) and result[2][:3].lower() in MONTHS:
        year, month, day = (
            int(result[4]),
            MONTHS.index(result[2][:3].lower()) + 1,
            int(result[1] or result[3] or 1),
        )
    else:
        return None
    if not (1 <= month <= 12 and day <= 31):
        return None
    if year < 100:  # 49 was the airline passengers'
        year += 2000 if year < 30 else 1900
    hours_ = clock[0] + clock[1] / 60 + clock[2] / 3600
    return year + (month - 1) / 12 + (max(day, 1) - 1 + hours_ / 24) / 372  # months of 31 days keep the order


def parse_dates(cells: Iterable[str]) -> list[float | None]:
    """The dates of a column; whether days or months come first, all of its cells decide."""
    cells = list(cells)
    firsts = [int(result[1]) for cell in cells if (result := YEAR_LAST.fullmatch(cell.strip()))]
    day_first = any(first > 12 for first in firsts)
    return [parse_date(cell, day_first) for cell in cells]
