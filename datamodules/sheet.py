"""The reader of tables: a text as columns of numbers, dates and words, whatever program wrote it.

Between cells stand commas, semicolons, tabs, bars or blanks (a line `sep=;` says which); decimal marks are
points or commas; the first row may name the columns, the next their units. The whole text decides, and
`notes` say what was decided and what is left out.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from datamodules.cells import EMPTY, Decimal, decimal_of, number, parse_dates

Kind = Literal["number", "date", "text", "row number", "empty"]
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "blanks", "\n": "lines"}
MOST_BYTES, MOST_ROWS, MOST_COLUMNS = 20_000_000, 200_000, 500
LEFT_OUT = {"date": "dates", "text": "text", "row number": "row numbers", "empty": "mostly empty"}
LARGEST = 1e30  # of a number: squares and sums of such are finite
MOST_WORDS = 50  # in a column of text that is chosen
SAMPLE = 1000  # rows by which the separator is chosen
ROW_NUMBERS = {"", "#", "no", "no.", "nr", "index", "id", "row", "rownames", "row names", "unnamed: 0"}


@dataclass(frozen=True)
class Sheet:
    """A table as it was read.

    Attributes:
        names: of the columns.
        kinds: what each column holds; "row number" counts the rows, "empty" is mostly without a value.
        rows: the cells of each row.
        lines: where each row stands in the text, from 1.
        decimal: the mark of fractions.
        notes: a sentence on each decision that a reader could not foresee, and on what is left out.
    """

    names: list[str]
    kinds: list[Kind]
    rows: list[list[str]]
    lines: list[int]
    decimal: Decimal
    notes: list[str]

    @property
    def chosen(self) -> list[str]:
        """The columns of numbers."""
        return [name for name, kind in zip(self.names, self.kinds, strict=True) if kind == "number"]

    def column(self, name: str) -> list[str]:
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def dates(self) -> list[float | None]:
        """Years of the first column of dates; [] where there is none."""
        name = next((n for n, kind in zip(self.names, self.kinds, strict=True) if kind == "date"), None)
        return [] if name is None else parse_dates(self.column(name))

    def named(self, columns: Sequence[str]) -> list[str]:
        """The names of columns that are asked for by name or by number from 1.

        Raises:
            ValueError: there is no such column.
        """
        known = {name.lower(): name for name in reversed(self.names)}
        results = []
        for asked in columns:
            at = int(asked) if asked.isdigit() else 0
            if asked not in self.names and asked.lower() not in known and not 1 <= at <= len(self.names):
                raise ValueError(
                    f"There is no column {asked[:40]!r}: the table has {listed(self.names, 12)}."
                )
            name = asked if asked in self.names else known.get(asked.lower()) or self.names[at - 1]
            if name not in results:
                results.append(name)
        return results

    def numbers(self, columns: Sequence[str] | None = None) -> tuple[list[str], list[list[float]], list[str]]:
        """Names of columns, their numbers (N rows; NaN where a cell has none), and notes on what is left out.

        Args:
            columns: by name or number; None is all columns of numbers. Chosen dates count in years, chosen
                words in the order of the alphabet from 0.

        Raises:
            ValueError: no such column, none of numbers, or a number beyond LARGEST.
        """
        names = self.chosen if columns is None else self.named(columns)
        if not names:
            raise ValueError("No column holds numbers.")
        notes, result = [], []
        if columns is None:
            for kind, text in LEFT_OUT.items():
                out = [n for n, k in zip(self.names, self.kinds, strict=True) if k == kind]
                if out:
                    notes.append(f"Left out: {listed(out, 4)} ({text}).")
        strange: list[tuple[int, str, str]] = []
        for name in names:
            cells, kind = self.column(name), self.kinds[self.names.index(name)]
            if kind == "date":
                values = [math.nan if v is None else v for v in parse_dates(cells)]
            elif kind == "text":
                words = sorted({cell for cell in cells if cell.lower() not in EMPTY})
                if len(words) > MOST_WORDS:
                    raise ValueError(
                        f"{name!r} has {len(words)} different words: at most {MOST_WORDS} can count."
                    )
                values = [float(words.index(cell)) if cell in words else math.nan for cell in cells]
                notes.append(f"{name!r} counts {listed([f'{w} as {i}' for i, w in enumerate(words)], 3)}.")
            else:
                read = [number(cell, self.decimal) for cell in cells]
                strange += [(self.lines[i], cells[i], name) for i, v in enumerate(read) if v is None]
                values = [math.nan if v is None else v for v in read]
                beyond = next((cell for cell, v in zip(cells, values, strict=True) if abs(v) > LARGEST), None)
                if beyond is not None:
                    raise ValueError(f"{name!r} has {beyond[:20]}: numbers up to ±{LARGEST:g} can be used.")
            result.append(values)
        if strange:
            line, cell, name = min(strange)
            more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
            notes.append(f"Line {line} has {cell[:20]!r} in {name!r}{more}: no number, it counts as missing.")
        return names, [list(row) for row in zip(*result, strict=True)], notes


def listed(words: Sequence[str], most: int) -> str:
    """The first words, and how many more there are."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(word[:40] for word in words[:most]) + more


def decode(data: bytes, source: str = "The file") -> tuple[str, list[str]]:
    """The text of a file, and notes: UTF-8 or UTF-16, else as Windows writes; cut at a line where too long.

    Raises:
        ValueError: it is no text.
    """
    notes, size = [], len(data) / 1e6
    if len(data) > MOST_BYTES:
        data = data[: data.rfind(b"\n", 0, MOST_BYTES) + 1] or data[:MOST_BYTES]
        notes.append(f"{source} has {size:.1f} MB: only the first {len(data) / 1e6:.1f} are used.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data[: len(data) // 2 * 2].decode("utf-16", errors="replace"), notes
    if data[:4] == b"PK\x03\x04" or data[:4] == b"\xd0\xcf\x11\xe0":
        raise ValueError(f"{source} is a workbook or an archive: save the sheet as CSV.")
    if b"\0" in data:
        raise ValueError(f"{source} is no text: save the table as CSV.")
    try:
        return data.decode("utf-8-sig"), notes
    except UnicodeDecodeError:
        notes.append("It is not UTF-8: read as Windows-1252.")
        return data.decode("cp1252", errors="replace"), notes


def load(path: str) -> tuple[str, list[str]]:
    """The text of the file at `path`, and notes; see `decode`.

    Raises:
        ValueError: there is none, or no text.
    """
    file = Path(path)
    try:
        file = file.expanduser()
        if not file.is_file():
            raise ValueError(f"path is {path!r}: there is no such file.")
        with open(file, "rb") as opened:
            return decode(opened.read(2 * MOST_BYTES), path)
    except (OSError, RuntimeError) as error:  # a home of nobody is a RuntimeError
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise ValueError(f"{path} cannot be read: {reason}.") from None


# --- Cells ------------------------------------------------------------------------------------------


def split(text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The cells of all rows that have any, and the line of each."""
    if separator == "\n":
        pairs = [([line.strip().strip('"')], i) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        return [row for row, _ in pairs], [i for _, i in pairs]
    blank = separator == " "
    reader = csv.reader(
        io.StringIO(text.replace("\t", " ") if blank else text), delimiter=separator, skipinitialspace=True
    )
    rows, lines = [], []
    last = 0
    for row in reader:
        cells = [cell.strip() for cell in row]
        if blank:
            cells = cells[: len(cells) - 1] if cells and not cells[-1] else cells
            cells = cells[1:] if cells and not cells[0] and not row[0] else cells
        if any(cells):
            rows.append(cells)
            lines.append(last + 1)
        last = reader.line_num
    return rows, lines


def dialect(text: str) -> str:
    """Separator of the cells: that by which most rows are equally wide and most cells numbers.

    Raises:
        ValueError: it is no CSV.
    """
    result = ("\n", -1.0)
    lines = text.split("\n")
    sample = "\n".join(lines[: 2 * SAMPLE])
    for separator in SEPARATORS:
        if separator not in sample and separator != "\n":
            continue
        try:
            rows, _ = split(sample, separator)
        except csv.Error:
            continue
        if not (rows := rows[:SAMPLE]):  # nothing but separators
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0]
        if width == 1 and separator != "\n":
            continue
        body = [row for row in rows if len(row) == width]
        decimal = decimal_of((cell for row in body for cell in row), separator)
        cells = [number(cell, decimal) is not None for row in body[len(body) > 1 :] for cell in row]
        numbers = sum(cells) / len(cells)
        if separator == "\n" and decimal == "," and numbers < 1:
            continue  # a list of decimal commas has nothing else
        score = count / len(rows) + numbers
        if score > result[1] + 1e-9:
            result = (separator, score)
    return result[0]


def sheet(text: str, source: str = "The table") -> Sheet:
    """The table in a text.

    Raises:
        ValueError: it is empty, no CSV, has names alone, or too many columns; one sentence.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    notes: list[str] = []
    first, _, rest = text.partition("\n")
    given = re.fullmatch(r'"?sep=(\\t|.)"?', first.strip(" \n"), re.IGNORECASE)
    if given:
        text = "\n" + rest  # lines keep their numbers
    while re.match(r"\n*[#%]", text) and re.search(r"\n\s*[^#%\s]", text):  # a head of remarks
        at = re.match(r"\n*", text).end()  # type: ignore[union-attr]
        text = text[:at] + text[at:].partition("\n")[1] + text[at:].partition("\n")[2]
    if not text.strip():
        raise ValueError(f"{source} is empty: give it rows of numbers.")
    separator = ("\t" if given[1] == "\\t" else given[1]) if given else dialect(text)
    try:
        rows, lines = split(text, separator)
    except csv.Error as error:
        raise ValueError(f"{source} is no CSV: {error}.") from None
    if not rows:
        raise ValueError(f"{source} has no cell with anything in it: give it rows of numbers.")
    rows, lines, named = squared(rows, lines, notes)
    width = len(rows[0])
    if width > MOST_COLUMNS:
        raise ValueError(f"{source} has {width:,} columns: at most {MOST_COLUMNS} can be used.")
    if len(rows) > MOST_ROWS + 1:
        notes.append(f"{source} has {len(rows):,} rows: the first {MOST_ROWS:,} are used.")
        rows, lines = rows[: MOST_ROWS + 1], lines[: MOST_ROWS + 1]
    decimal = decimal_of((cell for row in rows for cell in row), separator)
    if decimal == ",":
        between = SEPARATORS.get(separator, separator)
        notes.insert(0, f"Commas are read as decimal marks, {between} between columns.")
    elif separator == "," and width == 2 and re.fullmatch(r"([+-]?\d+,\d+\n)*[+-]?\d+,\d+", text.strip()):
        notes.insert(0, "Commas are read as parting two columns.")
    types = [kind_of([row[j] for row in rows[1:] or rows], decimal) for j in range(width)]
    numeric = [j for j, kind in enumerate(types) if kind == "number"]
    words = [j for j in numeric if number(rows[0][j], decimal) is None]
    headed = named or 2 * len(words) > len(numeric) or (not numeric and len(rows) == 1) or years(rows, types)
    if not headed:  # then the first row counts too
        types = [kind_of([row[j] for row in rows], decimal) for j in range(width)]
        numeric = [j for j, kind in enumerate(types) if kind == "number"]
    names = unique(rows[0]) if headed else [f"column {j + 1}" for j in range(width)]
    rows, lines = rows[headed:], lines[headed:]
    if not rows:
        raise ValueError(f"{source} has names but no numbers: add rows below them.")
    if headed and len(rows) > 1 and numeric:
        heads = [rows[0][j] for j in numeric]
        if any(heads) and all(cell in EMPTY or number(cell, decimal) is None for cell in heads):
            notes.append(f"Line {lines[0]} holds no number and is left out (units?).")
            rows, lines = rows[1:], lines[1:]
    for j, name in enumerate(names if headed else []):
        if name.lower() in ROW_NUMBERS or re.fullmatch(r"column \d+", name):
            counted = [number(row[j], decimal) for row in rows]
            if counted[0] in (0, 1) and counted == [counted[0] + i for i in range(len(rows))]:
                types[j] = "row number"
    return Sheet(names, types, rows, lines, decimal, notes)


def squared(
    rows: list[list[str]], lines: list[int], notes: list[str]
) -> tuple[list[list[str]], list[int], bool]:
    """Rows of one width, and whether the first is known to be a row of names, one shorter than the others.

    Lines above and below the table are left out; a row of another width within it keeps its place, empty.
    """
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    named = False
    filled = len(rows) > 1 and any(cell and number(cell, ",") is not None for cell in rows[1])
    if filled and len(rows[0]) == width - 1 and len(rows[1]) == width:  # R writes no name of row names
        rows[0], named = ["", *rows[0]], True
    trimmed = [row[:width] if len(row) > width and not any(row[width:]) else row for row in rows]
    fits = [len(row) == width for row in trimmed]
    start, end = fits.index(True), len(fits) - fits[::-1].index(True)
    odd = [i for i, fit in enumerate(fits) if not fit]
    if odd:
        i = odd[0]
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        cells = "1 cell" if len(rows[i]) == 1 else f"{len(rows[i])} cells"
        notes.append(f"Line {lines[i]}{more} is left out: it has {cells}, the others {width}.")
    kept = [row if fit else [""] * width for row, fit in zip(trimmed, fits, strict=True)]
    return kept[start:end], lines[start:end], named and start == 0


def kind_of(cells: Sequence[str], decimal: Decimal) -> Kind:
    """Kind of a column: what at least half of its cells are, of those that have a value."""
    some = [cell for cell in cells if cell.lower() not in EMPTY]
    if not some:
        return "empty"
    if 2 * sum(number(cell, decimal) is not None for cell in some) >= len(some):
        return "number" if 2 * len(some) >= len(cells) else "empty"
    if 2 * sum(v is not None for v in parse_dates(some)) >= len(some):
        return "date"
    return "text"


def years(rows: Sequence[Sequence[str]], types: Sequence[Kind]) -> bool:
    """True if the first row names columns by years that follow each other, beside a column of text."""
    first = [cell.strip() for cell, kind in zip(rows[0], types, strict=True) if kind == "number"]
    if "text" not in types or len(first) < 2 or not all(re.fullmatch(r"1[5-9]\d\d|20\d\d", c) for c in first):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(first)}
    return len(steps) == 1 and steps.pop() > 0


def unique(names: Sequence[str]) -> list[str]:
    """Names without gaps and twins."""
    result: list[str] = []
    for j, name in enumerate(names, 1):
        name = " ".join(name.split())[:80] or f"column {j}"
        twins = sum(other == name or other.startswith(f"{name} (") for other in result)
        result.append(f"{name} ({twins + 1})" if twins else name)
    return result
