"""A reader's own table: rows of numbers, typed or uploaded; what is no number is named, the rest kept."""

import torch
from torch import Tensor

from datamodules.sheet import sheet

MOST_ROWS, MOST_COLUMNS = 500, 12


def typed_table(text: str, columns: int = 2) -> tuple[list[str], Tensor, str]:
    """Names of the columns, the rows (N, D) float64 that are whole, and a sentence on what is left out and
    what was decided ("" for nothing); see `datamodules.sheet`.

    Args:
        columns: the least number of columns.

    Raises:
        ValueError: fewer than three whole rows, or too few columns; one sentence.
    """
    known = sheet(text)
    names, rows, notes = known.numbers()
    width = len(names)
    if not columns <= width <= MOST_COLUMNS:
        raise ValueError(
            f"The table has {width} columns of numbers: between {columns} and {MOST_COLUMNS} are needed."
        )
    x = torch.tensor(rows, dtype=torch.float64)
    holes = x.isnan().any(1)
    texts = [*known.notes, *notes]
    if holes.any():
        first = known.lines[int(holes.nonzero()[0])]
        more = f" and {int(holes.sum()) - 1} more" if holes.sum() > 1 else ""
        texts.append(f"Left out: line {first}{more}, where a number is missing.")
    x = x[~holes]
    if len(x) > MOST_ROWS:
        texts.append(f"The first {MOST_ROWS} of {len(x)} rows are used.")
    if len(x) < 3:
        reason = f" ({texts[-1].rstrip('.')})" if texts else ""
        raise ValueError(f"The table has {len(x)} whole rows{reason}: at least 3 are needed.")
    short = [f"x{j}" if name == f"column {j}" else name[:12] for j, name in enumerate(names, 1)]
    return short, x[:MOST_ROWS], " ".join(texts)
