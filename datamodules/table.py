"""Tables: the rows of a reader's own CSV, as points or as a time series.

    lab fit gmm --data.path my.csv

Columns are numbers; a first row of names is known by what is no number in it. Every column is brought to mean
0 and variance 1 on the training rows, so that nobody's unit counts more. A row is an example, shuffled into
training, validation and test (70, 15 and 15 %); as a `Series` rows are in order of time, and an example is
`length` rows. Without a path: the measurements of 150 irises (Fisher 1936), which come with scikit-learn; as
a series, 4,000 steps of the chain `clouds`.

Shapes: a batch is x (B, D) float, of a series (B, T, D); NaN where a cell is empty.
"""

import csv
import io
import math
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from sklearn.datasets import load_iris
from torch import Tensor

from datamodules import chains
from datamodules.base import SPLITS, DataModule, TensorSplit, within

Missing = Literal["refuse", "drop", "keep"]
MOST_BYTES, MOST_ROWS, MOST_COLUMNS = 20_000_000, 200_000, 500
EMPTY = ("", "na", "nan", "null", "none", "?")


def number(cell: str) -> float | None:
    """The number in a cell, NaN if it is empty; None if it is no number."""
    cell = cell.strip()
    if cell.lower() in EMPTY:
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse(text: str, source: str = "The table") -> tuple[list[str], Tensor]:
    """Names of the columns, and the numbers (N, D) float64, NaN where a cell is empty.

    Commas, semicolons or tabs part the cells.

    Raises:
        ValueError: no rows, rows of unequal length, a cell that is no number, too much; one sentence.
    """
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error as error:
        raise ValueError(f"{source} is no CSV: {error}.") from None
    if not rows:
        raise ValueError(f"{source} is empty: give it rows of numbers.")
    width = len(rows[0])
    if width > MOST_COLUMNS or len(rows) > MOST_ROWS:
        raise ValueError(
            f"{source} is {len(rows):,} rows by {width:,} columns: at most {MOST_ROWS:,} by {MOST_COLUMNS}."
        )
    headed = any(number(cell) is None for cell in rows[0])
    names = [c.strip() for c in rows[0]] if headed else [f"column {i + 1}" for i in range(width)]
    body, table = rows[headed:], []
    if not body:
        raise ValueError(f"{source} has names but no numbers: add rows below them.")
    for i, row in enumerate(body, start=1 + headed):
        if len(row) != width:
            raise ValueError(
                f"{source}, row {i}, has {len(row)} cells, the first row {width}: make them equal."
            )
        values = [number(cell) for cell in row]
        if None in values:
            at = values.index(None)
            raise ValueError(
                f"{source}, row {i}, has {row[at][:30]!r} in {names[at]!r}: every cell is to be a number."
            )
        table.append(values)
    return names, torch.tensor(table, dtype=torch.float64)


def read(path: str) -> str:
    """The text of a file.

    Raises:
        ValueError: there is none, it is too large, or no UTF-8 text.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise ValueError(f"path is {path!r}: there is no such file.")
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES // 10**6} MB: take fewer rows.")
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text (byte {error.start}): save it as CSV in UTF-8.") from None


class Table(DataModule):
    """Args:
        path: of a CSV; None is the irises.
        missing: an empty cell is refused, drops its row, or is kept as NaN for a model that can leave it out.
        batch_size: rows per step; more than there are is one batch.
        seed: of the split and of the order of each epoch.

    Raises:
        ValueError: the file, or an argument, cannot be used; one sentence.
    """

    embedded = True  # what it reads without a path
    built_in = "irises"

    def __init__(
        self, path: str | None = None, missing: Missing = "refuse", batch_size: int = MOST_ROWS, seed: int = 0
    ) -> None:
        super().__init__(batch_size, seed)
        if missing not in get_args(Missing):
            raise ValueError(f"missing is {missing!r}: it must be one of {', '.join(get_args(Missing))}.")
        self.path, self.missing = path, missing
        self.names, rows = self._built_in() if path is None else parse(read(path), path)
        self.rows = self._whole(rows)

    def _built_in(self) -> tuple[list[str], Tensor]:
        """What is read without a path."""
        iris = load_iris()
        return list(iris.feature_names), torch.as_tensor(iris.data, dtype=torch.float64)

    def _whole(self, rows: Tensor) -> Tensor:
        holes = rows.isnan()
        if self.missing == "refuse" and holes.any():
            row, column = holes.nonzero()[0].tolist()
            raise ValueError(
                f"{self.path}: data row {row + 1} has nothing in {self.names[column]!r}: fill it, or say "
                "--data.missing drop."
            )
        return rows[~holes.any(1)] if self.missing == "drop" else rows

    @cached_property
    def parts(self) -> dict[str, Tensor]:
        """The rows of each split, as positions."""
        order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(self.seed))
        return self._cut(order)

    def _cut(self, order: Tensor) -> dict[str, Tensor]:
        held_out = int(0.15 * len(order))
        if held_out < 1:
            raise ValueError(f"The data have {len(order)} examples: at least 7 are needed to hold some out.")
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
            "mean": mean.tolist(),
            "deviation": deviation.tolist(),
            "splits": {split: len(rows) for split, rows in self.parts.items()},
            "seed": self.seed,
        }


class Series(Table):
    """A table whose rows are in order of time.

    Args:
        length: T, rows in one example.
        path, missing, batch_size, seed: see `Table`; a row must not be dropped.
    """

    built_in = "clouds"

    def __init__(
        self, path: str | None = None, length: int = 10, missing: Literal["refuse", "keep"] = "refuse",
        batch_size: int = MOST_ROWS, seed: int = 0,
    ) -> None:  # fmt: skip
        within(1, MOST_ROWS, length=length)
        if missing not in ("refuse", "keep"):
            raise ValueError(f"missing is {missing!r}: a series can refuse or keep what is missing.")
        self.length = length
        super().__init__(path, missing, batch_size, seed)

    def _built_in(self) -> tuple[list[str], Tensor]:
        return ["x", "y"], chains.sample("clouds", 1, 4000)[0][0].double()

    @cached_property
    def parts(self) -> dict[str, Tensor]:
        """The first row of each example; the last examples are held out."""
        return self._cut(torch.arange(0, len(self.rows) - self.length + 1, self.length))

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
