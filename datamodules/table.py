"""Tables: the rows of a reader's own CSV, as points or as a time series.

    lab fit gmm --data.path my.csv --data.columns height,mass

How a table is read, `datamodules.sheet` says: dates, text and row numbers are left out unless they are
chosen, and `notes` say what was. Every column is brought to mean 0 and variance 1 on the training rows, so
that nobody's unit counts more. A row is an example, shuffled into training, validation and test (70, 15 and
15 %); as a `Series` rows are in order of time, and an example is `length` rows. Without a path: the
measurements of 150 irises (Fisher 1936), which come with scikit-learn; as a series, 4,000 steps of the chain
`clouds`.

Shapes: a batch is x (B, D) float, of a series (B, T, D); NaN where a cell is empty.
"""

from functools import cached_property
from typing import Any, Literal, get_args

import torch
from sklearn.datasets import load_iris
from torch import Tensor

from datamodules import chains
from datamodules.base import SPLITS, DataModule, TensorSplit, within
from datamodules.sheet import MOST_ROWS, Sheet, load, sheet

Missing = Literal["refuse", "drop", "keep"]
LENGTH = 50  # rows of an example of a long series
LEAST = 7  # examples, of which one each is held out


def columns_of(columns: str | list[str] | None, known: Sheet) -> list[str] | None:
    """The names that are meant: a list, or a text with commas between them."""
    if columns is None or isinstance(columns, list):
        return columns
    if columns in known.names:
        return [columns]
    return [name.strip() for name in columns.split(",") if name.strip()]


class Table(DataModule):
    """Args:
        path: of a CSV; None is the irises.
        missing: an empty cell drops its row, is kept as NaN for a model that can leave it out, or is refused.
        columns: by name or by number from 1, in a list or with commas between; None is all of numbers.
        batch_size: rows per step; more than there are is one batch.
        seed: of the split and of the order of each epoch.

    Attributes:
        names: of the columns; rows (N, D) float64.
        notes: sentences on how the file was read and what was left out.

    Raises:
        ValueError: the file, or an argument, cannot be used; one sentence.
    """

    embedded = True  # what it reads without a path
    built_in = "irises"

    def __init__(
        self, path: str | None = None, missing: Missing = "drop", batch_size: int = MOST_ROWS, seed: int = 0,
        columns: str | list[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        if missing not in get_args(Missing):
            raise ValueError(f"missing is {missing!r}: it must be one of {', '.join(get_args(Missing))}.")
        self.path, self.missing, self.columns = path, missing, columns
        self.notes: list[str] = []
        known = self._built_in()
        if path is not None:
            text, self.notes = load(path)
            known = sheet(text, path)
            self.notes += known.notes
        self.names, rows, notes = known.numbers(columns_of(columns, known))
        self.notes += notes
        self.rows = self._whole(self._ordered(torch.tensor(rows, dtype=torch.float64), known), known.lines)

    def _built_in(self) -> Sheet:
        """Data that is read without a path."""
        iris = load_iris()
        return sheet_of(list(iris.feature_names), torch.as_tensor(iris.data, dtype=torch.float64))

    def _ordered(self, rows: Tensor, known: Sheet) -> Tensor:
        """The rows in the order in which they are to be used."""
        return rows

    def _whole(self, rows: Tensor, lines: list[int]) -> Tensor:
        holes = rows.isnan()
        if self.missing == "refuse" and holes.any():
            row, column = holes.nonzero()[0].tolist()
            raise ValueError(
                f"{self.path}, line {lines[row]}, has nothing in {self.names[column]!r}: fill it, or set "
                f"missing to {'keep' if isinstance(self, Series) else 'drop'}."
            )
        gone = holes.any(1) if self.missing == "drop" else holes.all(1) & (not isinstance(self, Series))
        if gone.any():
            self.notes.append(
                f"{int(gone.sum()):,} of {len(rows):,} rows are left out: a cell is missing there."
            )
        return rows[~gone]

    @cached_property
    def parts(self) -> dict[str, Tensor]:
        """The rows of each split, as positions."""
        order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(self.seed))
        return self._cut(order)

    def _cut(self, order: Tensor) -> dict[str, Tensor]:
        held_out = int(0.15 * len(order))
        if held_out < 1:
            raise ValueError(
                f"The data have {len(order)} examples: at least {LEAST} are needed to hold some out."
            )
        train = len(order) - 2 * held_out
        return dict(zip(SPLITS, order.split([train, held_out, held_out]), strict=True))

    @cached_property
    def scale(self) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of each column on the training rows, (D,) each."""
        train = self.training_rows
        mean = train.nanmean(0)
        deviation = (train - mean).square().nanmean(0).sqrt()
        constant = (~(deviation > 0)).nonzero().flatten().tolist()
        if constant:
            raise ValueError(f"{self.names[constant[0]]!r} never changes: take that column out.")
        return mean, deviation

    @property
    def training_rows(self) -> Tensor:
        return self.rows[self.parts["train"]]

    def _split(self, split: str) -> TensorSplit:
        mean, deviation = self.scale
        return TensorSplit(((self.rows[self.parts[split]] - mean) / deviation).float())

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (len(self.names),), "num_features": len(self.names)}

    def describe(self) -> dict[str, Any]:
        mean, deviation = self.scale
        return {
            "name": type(self).__name__,
            "kind": self.built_in if self.path is None else "own",
            "columns": self.names,
            **({"notes": self.notes} if self.notes else {}),
            "mean": mean.tolist(),
            "deviation": deviation.tolist(),
            "splits": {split: len(rows) for split, rows in self.parts.items()},
            "seed": self.seed,
        }


class Series(Table):
    """A table whose rows are in order of time; where a column of dates runs backwards, they are turned round.

    Args:
        length: T, rows in one example; None is 50, or less where that would make fewer than ten examples.
        path, missing, batch_size, seed, columns: see `Table`; a row must not be dropped.
    """

    built_in = "clouds"

    def __init__(
        self, path: str | None = None, length: int | None = None,
        missing: Literal["refuse", "keep"] = "refuse", batch_size: int = MOST_ROWS, seed: int = 0,
        columns: str | list[str] | None = None,
    ) -> None:  # fmt: skip
        within(1, MOST_ROWS, length=length)
        if missing not in ("refuse", "keep"):
            raise ValueError(f"missing is {missing!r}: a series can refuse or keep what is missing.")
        super().__init__(path, missing, batch_size, seed, columns)
        self.length = length or max(1, min(LENGTH, len(self.rows) // 10))
        if length is None and self.length < LENGTH:
            self.notes.append(f"Examples are {self.length} rows long, as there are {len(self.rows)} rows.")

    def _built_in(self) -> Sheet:
        return sheet_of(["x", "y"], chains.sample("clouds", 1, 4000)[0][0].double())

    def _ordered(self, rows: Tensor, known: Sheet) -> Tensor:
        dates = [date for date in known.dates() if date is not None]
        if len(dates) > 1 and dates == sorted(dates, reverse=True) and dates[0] > dates[-1]:
            self.notes.append("The dates run backwards: the rows are turned round.")
            known.lines.reverse()
            return rows.flip(0)
        return rows

    @cached_property
    def parts(self) -> dict[str, Tensor]:
        """The first row of each example; the last examples are held out."""
        starts = torch.arange(0, max(0, len(self.rows) - self.length + 1), self.length)
        if len(starts) < LEAST <= len(self.rows):
            raise ValueError(
                f"{len(self.rows)} rows make {len(starts)} examples of {self.length}, and at least {LEAST} "
                f"are needed: set length to {len(self.rows) // LEAST} or less."
            )
        return self._cut(starts)

    @property
    def training_rows(self) -> Tensor:
        return self.rows[: len(self.parts["train"]) * self.length]

    def _split(self, split: str) -> TensorSplit:
        mean, deviation = self.scale
        rows = self.parts[split][:, None] + torch.arange(self.length)  # (N, T)
        return TensorSplit(((self.rows[rows] - mean) / deviation).float())

    @property
    def sizes(self) -> dict[str, Any]:
        return super().sizes | {"event_shape": (self.length, len(self.names))}


def sheet_of(names: list[str], rows: Tensor) -> Sheet:
    """Numbers (N, D) as if they had been read."""
    cells = [[repr(value) for value in row] for row in rows.tolist()]
    return Sheet(names, ["number"] * len(names), cells, list(range(2, len(cells) + 2)), ".", [])
