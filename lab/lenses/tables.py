"""A reader's own table: rows of numbers, typed or uploaded; what is no number is named, the rest kept."""

import csv
import io
import math

import torch
from torch import Tensor

from datamodules.table import number

MOST_ROWS, MOST_COLUMNS = 500, 12


def typed_table(text: str, columns: int = 2) -> tuple[list[str], Tensor, str]:
    """Names of the columns, the rows (N, D) float64 that are whole, and a sentence on what is left out ("" if
    nothing is).

    Commas, semicolons, tabs or blanks part the cells; a first row without a number names the columns.

    Args:
        columns: the least number of columns.

    Raises:
        ValueError: fewer than three whole rows, or too few columns; one sentence.
    """
    first = text.strip().partition("\n")[0]
    delimiter = max(",;\t ", key=first.count)
    rows = [
        [cell.strip() for cell in row if cell.strip() or delimiter != " "]
        for row in csv.reader(io.StringIO(text.replace("\0", "")), delimiter=delimiter)
    ]
    lines = [(i, row) for i, row in enumerate(rows, start=1) if any(row)]
    if not lines:
        raise ValueError("The table is empty: type a row of numbers on each line.")
    width = len(lines[0][1])
    if not columns <= width <= MOST_COLUMNS:
        raise ValueError(f"The table has {width} columns: between {columns} and {MOST_COLUMNS} are needed.")
    headed = all(number(cell) is None for cell in lines[0][1])
    names = [c[:12] for c in lines[0][1]] if headed else [f"x{j + 1}" for j in range(width)]
    kept, left_out = [], []
    for i, row in lines[headed:]:
        values = [number(cell) for cell in row]
        bad = next((c for c, v in zip(row, values, strict=True) if v is None or math.isnan(v)), None)
        if len(row) != width:
            left_out.append(f"line {i} has {len(row)} cells, not {width}")
        elif bad is not None:
            left_out.append(f"line {i} has {bad[:20]!r}, no number")
        else:
            kept.append(values)
    if len(kept) > MOST_ROWS:
        left_out.append(f"{len(kept) - MOST_ROWS} rows are more than {MOST_ROWS}")
        kept = kept[:MOST_ROWS]
    if len(kept) < 3:
        reason = f" ({left_out[0]})" if left_out else ""
        raise ValueError(f"The table has {len(kept)} whole rows{reason}: at least 3 are needed.")
    more = f", and {len(left_out) - 1} more" if len(left_out) > 1 else ""
    sentence = f"Left out: {left_out[0]}{more}." if left_out else ""
    return names, torch.tensor(kept, dtype=torch.float64), sentence
