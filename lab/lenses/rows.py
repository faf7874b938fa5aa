"""A reader's own table as it is fitted: read, scaled, and parted into examples; three tables to begin with.

Columns are brought to mean 0 and variance 1 on the rows that are fitted. 15 % of the examples are held out
and another 15 % left for `lab test`: the same split as `datamodules.table` makes. An example is a row, of a
chain (HMM) a stretch of rows in order of time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import sheet
from lab.lenses import stock

LEAST, MOST_ROWS, MOST_COLUMNS = 20, 2000, 8
CELLS = 60  # of the drawn plane, a side


@dataclass(frozen=True)
class Data:
    """A table as it is fitted.

    Attributes:
        names: of the columns; mean, deviation (D,) of each.
        rows: (N, D) as they were read.
        train, held: examples (B, D), of a chain (B, T, D), brought to mean 0 and variance 1.
        length: T, 0 where an example is a row.
        notes: what was decided and left out.
        columns: all names of the table.
    """

    names: list[str]
    rows: Tensor
    mean: Tensor
    deviation: Tensor
    train: Tensor
    held: Tensor
    length: int
    notes: list[str]
    columns: list[str]

    def scaled(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.deviation

    @property
    def examples(self) -> Tensor:
        """All rows as examples: (N, D), of a chain (1, N, D)."""
        x = self.scaled(self.rows)
        return x[None] if self.length else x


def read(text: str, columns: str, kind: str) -> Data:
    """The table in a text, as rows, or for an HMM as a series.

    Args:
        columns: names with commas between; "" is all columns of numbers.

    Raises:
        ValueError: it cannot be read, or has too few rows; one sentence.
    """
    known, chain = sheet.sheet(text), kind == "HMM"
    wanted = [columns] if columns in known.names else [c.strip() for c in columns.split(",") if c.strip()]
    names, numbers, notes = known.numbers(wanted or None)
    texts = [*known.notes, *notes]
    if len(names) > MOST_COLUMNS:
        texts.append(f"The first {MOST_COLUMNS} of {len(names)} columns are used: choose others by name.")
        names = names[:MOST_COLUMNS]
    rows = torch.tensor(numbers, dtype=torch.float64)[:, : len(names)]
    holes = rows.isnan().any(1)
    if holes.any() and not chain:
        texts.append(f"{int(holes.sum())} of {len(rows)} rows are left out: a cell is missing there.")
        rows = rows[~holes]
    if len(rows) > MOST_ROWS:
        texts.append(f"The first {MOST_ROWS:,} of {len(rows):,} rows are used.")
        rows = rows[:MOST_ROWS]
    if len(names) < 2 and kind == "factor analysis":
        raise ValueError("A factor needs two columns at least: name more, or choose another model.")
    if len(rows) < LEAST:
        raise ValueError(
            f"The table has {len(rows)} whole row{'s' * (len(rows) != 1)}: at least {LEAST} are needed."
        )
    length = max(1, min(50, len(rows) // 20)) if chain else 0
    starts = torch.arange(0, len(rows) - length + 1, length) if chain else torch.randperm(
        len(rows), generator=torch.Generator().manual_seed(0)
    )  # fmt: skip
    out = int(0.15 * len(starts))
    train, held = starts[: len(starts) - 2 * out], starts[len(starts) - 2 * out : len(starts) - out]
    used = rows[: len(train) * length] if chain else rows[train]
    mean = used.nanmean(0)
    deviation = (used - mean).square().nanmean(0).sqrt()
    if not bool((deviation > 0).all()):
        raise ValueError(
            f"{names[int((~(deviation > 0)).nonzero()[0])]!r} never changes: choose other columns."
        )
    pick = (lambda at: at[:, None] + torch.arange(length)) if chain else (lambda at: at)
    x = (rows - mean) / deviation
    return Data(names, rows, mean, deviation, x[pick(train)], x[pick(held)], length, texts, known.names)


# --- What is drawn --------------------------------------------------------------------------------


def plane(data: Data) -> tuple[Tensor, Tensor]:
    """The places of a grid over both columns, as they were read: x (CELLS,), y (CELLS,)."""
    low, high = data.rows.amin(0), data.rows.amax(0)
    margin = 0.12 * (high - low)
    x, y = (
        torch.linspace(float(low[i] - margin[i]), float(high[i] + margin[i]), CELLS).double() for i in (0, 1)
    )
    return x, y


def places(data: Data) -> tuple[Tensor, Tensor, tuple[str, str]]:
    """Place the rows across and up, (N,) each, and name the axes: a series over its rows,
    one column over the order of the rows too, else the first two columns."""
    if data.length or len(data.names) == 1:
        return torch.arange(len(data.rows)), data.rows[:, 0], ("row", data.names[0])
    return data.rows[:, 0], data.rows[:, 1], (data.names[0], data.names[1])


# --- Examples -------------------------------------------------------------------------------------


def geyser() -> str:
    """Eruptions as of Old Faithful: after a short one the wait is short. Drawn, not measured."""
    generator = torch.Generator().manual_seed(8)
    long = torch.rand(272, generator=generator) < 0.64
    noise = torch.randn(272, 2, generator=generator)
    length = torch.where(long, 4.3 + 0.41 * noise[:, 0], 2.03 + 0.26 * noise[:, 0])
    wait = torch.where(long, 80 + 5.9 * noise[:, 1], 54.5 + 5.8 * noise[:, 1]) + 3 * noise[:, 0]
    rows = "".join(f"{a:.3f},{b:.0f}\n" for a, b in zip(length.tolist(), wait.tolist(), strict=True))
    return "eruption,waiting\n" + rows


def irises() -> str:
    """Fisher's 150 irises, with their species."""
    rows = "".join(
        ",".join(f"{v:g}" for v in row) + f",{species}\n"
        for row, species in zip(stock.irises()[0].tolist(), stock.irises()[1], strict=True)
    )
    return "sepal length,sepal width,petal length,petal width,species\n" + rows


def tides() -> str:
    """Hours at a harbour, with decimal commas: a quiet sea, and storms that stay for a while. Drawn."""
    generator = torch.Generator().manual_seed(1)
    storm, lines = False, []
    for hour in range(400):
        storm = storm != bool(torch.rand((), generator=generator) < 0.06)
        a, b = torch.randn(2, generator=generator).tolist()
        wind, wave = (14 + 2.5 * a, 3.2 + 0.6 * b) if storm else (5 + 1.5 * a, 0.9 + 0.25 * b)
        numbers = f"{wind:.1f};{wave:.2f}".replace(".", ",")
        lines.append(f"{1 + hour // 24:02}.03.2024 {hour % 24:02}:00;{numbers}")
    return "Zeit;Wind;Welle\n" + "\n".join(lines) + "\n"


EXAMPLES: dict[str, Callable[[], str]] = {"geyser": geyser, "irises": irises, "harbour": tides}
