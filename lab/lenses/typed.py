"""Numbers and small matrices that a reader types; what cannot be read is named, the rest is used."""

import math

from lab.errors import UserError


def numbers(text: str, reach: float, most: int) -> tuple[list[float], list[str]]:
    """Up to `most` numbers in [−reach, reach] of a text, and the words in it that are none."""
    values, strange = [], []
    for word in text.replace(",", " ").replace(";", " ").replace("−", "-").split():
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if abs(value) <= reach:
            values.append(value)
        else:
            strange.append(word)
    return values[:most], strange


def square(text: str, reach: float, most: int) -> list[list[float]]:
    """A square matrix: rows between semicolons or on lines of their own.

    Raises:
        UserError: a word is no number, or the rows do not make a square.
    """
    rows = []
    for line in (part for part in text.replace("\n", ";").split(";") if part.strip()):
        row, strange = numbers(line, reach, most + 1)
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
    """Up to `most` numbers in [low, high] of a text, and a sentence on what is left out, "" if nothing is."""
    values, strange = numbers(text, max(abs(low), abs(high)), len(text))
    kept = [value for value in values if low <= value <= high]
    bad = [*strange, *(f"{value:g}" for value in values if not low <= value <= high)]
    said = ""
    if bad:
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        said = f"“{bad[0][:20]}”{more} is left out: numbers from {low:g} to {high:g} can be used."
    elif len(kept) > most:
        said = f"There are {len(kept)} numbers: the first {most} are used."
    return kept[:most], said


def distribution(text: str, most: int) -> tuple[list[float], str]:
    """Typed weights, not negative, as probabilities that sum to 1, and a sentence on what is left out.

    Raises:
        UserError: fewer than two weights, or all of them 0.
    """
    weights, said = named(text, most, 0.0, 1e6)
    if len(weights) < 2 or sum(weights) <= 0:
        raise UserError(f"Give 2 to {most} weights, not all of them 0, such as 0.5 0.3 0.2.")
    total = sum(weights)
    return [weight / total for weight in weights], said
