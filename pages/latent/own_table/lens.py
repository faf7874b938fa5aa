"""A reader's own table: models of several sizes fitted to it, compared by BIC and by what is held out.

    BIC = p ln N − 2 Σ_n log p(x_n)        on the rows that were fitted (Schwarz 1978)

Columns are brought to mean 0 and variance 1 on the rows that are fitted. 15 % of the examples are held out
and another 15 % left for `lab test`: the same split as `datamodules.table` makes. An example is a row, of a
chain (HMM) a stretch of rows in order of time.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch
from sklearn.datasets import load_iris
from torch import Tensor

from datamodules import sheet
from lab import files, weights
from lab.experiments import find, runs_folder
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.flow.maf import MaskedFlow
from modules.latent.em import Collapse
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.hmm import HMM
from modules.latent.mixture import GaussianMixture

MODELS = {"mixture": "components", "factor analysis": "factors", "HMM": "states", "flow": "layers"}
EXPERIMENTS = {"mixture": "gmm", "factor analysis": "fa", "HMM": "hmm", "flow": "maf"}
COLOURS = {
    "mixture": "each row's likeliest component",
    "factor analysis": "the posterior mean of the first factor",
    "HMM": "each row's likeliest state",
    "flow": "log p of each row",
}
LEAST, MOST_ROWS, MOST_COLUMNS = 20, 2000, 8
STEPS = 200  # of EM; a flow takes as many gradient steps
CELLS = 60  # of the drawn plane, a side


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
    iris = load_iris()
    rows = "".join(
        ",".join(f"{v:g}" for v in row) + f",{iris.target_names[kind]}\n"
        for row, kind in zip(iris.data.tolist(), iris.target.tolist(), strict=True)
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


@dataclass(frozen=True)
class Data:
    """A table as it is fitted.

    Attributes:
        names: of the columns; mean, deviation (D,) of each.
        rows: (N, D) as they were read.
        train, held: examples (B, D), of a chain (B, T, D), brought to mean 0 and variance 1.
        length: T, 0 where an example is a row.
        said: what was decided and left out.
        columns: all names of the table.
    """

    names: list[str]
    rows: Tensor
    mean: Tensor
    deviation: Tensor
    train: Tensor
    held: Tensor
    length: int
    said: list[str]
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
    said = [*known.notes, *notes]
    if len(names) > MOST_COLUMNS:
        said.append(f"The first {MOST_COLUMNS} of {len(names)} columns are used: choose others by name.")
        names = names[:MOST_COLUMNS]
    rows = torch.tensor(numbers, dtype=torch.float64)[:, : len(names)]
    holes = rows.isnan().any(1)
    if holes.any() and not chain:
        said.append(f"{int(holes.sum())} of {len(rows)} rows are left out: a cell is missing there.")
        rows = rows[~holes]
    if len(rows) > MOST_ROWS:
        said.append(f"The first {MOST_ROWS:,} of {len(rows):,} rows are used.")
        rows = rows[:MOST_ROWS]
    if len(names) < 2 and kind == "factor analysis":
        raise ValueError("A factor needs two columns at least: name more, or choose another model.")
    if len(rows) < LEAST:
        raise ValueError(f"The table has {len(rows)} whole rows: at least {LEAST} are needed.")
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
    return Data(names, rows, mean, deviation, x[pick(train)], x[pick(held)], length, said, known.names)


@dataclass
class Compared:
    """What is known so far: a row of numbers and the model for each size from 1."""

    rows: list[dict[str, float]] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)

    def best(self, key: str) -> int:
        """The size with the least `key`."""
        return 1 + min(range(len(self.rows)), key=lambda i: self.rows[i][key])


def model_of(kind: str, size: int, columns: int) -> Any:
    if kind == "mixture":
        return GaussianMixture((columns,), components=size, floor=1e-3, restarts=5)
    if kind == "factor analysis":
        return FactorAnalysis((columns,), factors=size, floor=1e-3)
    if kind == "HMM":
        return HMM(size, "gaussian", num_features=columns, floor=1e-3, restarts=3)
    return MaskedFlow((columns,), layers=size, hidden=(16,)).double()


def largest(kind: str, columns: int, most: int) -> int:
    """The most that can be tried: there are fewer factors than columns."""
    return max(1, min(most, columns - 1)) if kind == "factor analysis" else most


def compared(data: Data, kind: str, most: int) -> Iterator[tuple[float, Compared]]:
    """Fit every size from 1 to `most`; yields the share done and what is found so far."""
    found, count = Compared(), largest(kind, len(data.names), most)
    for size in range(1, count + 1):
        model = seeded(partial(model_of, kind, size, len(data.names)), size)
        work = flow_steps(model, data) if kind == "flow" else em_steps(model, data, size)
        for share in work:
            yield (size - 1 + share) / count, found
        with torch.no_grad():
            nll, held = (-model.log_prob(x) for x in (data.train, data.held))
        parameters = int(
            sum(p.numel() for p in model.parameters()) if kind == "flow" else model.num_parameters
        )
        bic = parameters * math.log(len(data.train)) + 2 * float(nll.sum())
        row = {"parameters": parameters, "nll": float(nll.mean()), "held": float(held.mean()), "bic": bic}
        found = Compared([*found.rows, row], [*found.models, model.eval().requires_grad_(False)])
        yield size / count, found


def em_steps(model: Any, data: Data, seed: int) -> Iterator[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Collapse)  # that a large model collapses, its likelihood tells
        model.start(data.train, torch.Generator().manual_seed(seed))
    before = -math.inf
    for step in range(STEPS):
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore", Collapse)
            now = model.em_step(data.train)
        if now - before < 1e-6 * len(data.train):
            return
        before = now
        if step % 10 == 9:
            yield step / STEPS


def flow_steps(model: Any, data: Data) -> Iterator[float]:
    """Adam; the parameters of the step that is best on the held-out rows are kept."""
    best, kept = math.inf, None
    optimizer = torch.optim.AdamW(model.parameters(), 0.02, weight_decay=0.1)
    for step, _ in training_steps(lambda: -model.log_prob(data.train).mean(), optimizer, STEPS, clip=5.0):
        if step % 10 == 0:
            with torch.no_grad():
                held = -float(model.log_prob(data.held).mean())
            if held < best:
                best, kept = held, {k: v.clone() for k, v in model.state_dict().items()}
            yield step / STEPS
    if kept is not None:
        model.load_state_dict(kept)


# --- What is drawn --------------------------------------------------------------------------------


def plane(data: Data) -> tuple[Tensor, Tensor]:
    """The places of a grid over both columns, as they were read: x (CELLS,), y (CELLS,)."""
    low, high = data.rows.amin(0), data.rows.amax(0)
    margin = 0.12 * (high - low)
    x, y = (
        torch.linspace(float(low[i] - margin[i]), float(high[i] + margin[i]), CELLS).double() for i in (0, 1)
    )
    return x, y


@torch.no_grad()
def density(model: Any, data: Data) -> Tensor:
    """p on `plane`, (CELLS, CELLS), a row a place of y, in the columns' own units."""
    x, y = plane(data)
    places = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).reshape(-1, 2)
    p = (model.log_prob(data.scaled(places)) - data.deviation.log().sum()).exp()
    return p.reshape(CELLS, CELLS)


@torch.no_grad()
def belief(model: Any, kind: str, data: Data) -> Tensor:
    """What the model says of each row, (N,): its likeliest component or state; E[z_1 | x]; log p(x)."""
    x = data.examples
    if kind == "mixture":
        return model.responsibilities(x).argmax(1)
    if kind == "HMM":
        return model.posterior(x).smoothed[0].argmax(1)
    if kind == "factor analysis":
        return model.posterior(x).mean[:, 0]
    return model.log_prob(x)


def places(data: Data) -> tuple[Tensor, Tensor, tuple[str, str]]:
    """Where the rows are drawn, across and up, (N,) each, and the names of the axes: a series over its rows,
    one column over the order of the rows too, else the first two columns."""
    if data.length or len(data.names) == 1:
        return torch.arange(len(data.rows)), data.rows[:, 0], ("row", data.names[0])
    return data.rows[:, 0], data.rows[:, 1], (data.names[0], data.names[1])


def captions(found: Compared, kind: str, unit: str) -> list[str]:
    """A sentence for each size."""
    said = []
    for size, row in enumerate(found.rows, 1):
        best = [
            word for word, key in (("BIC", "bic"), ("what is held out", "held")) if found.best(key) == size
        ]
        said.append(
            f"{MODELS[kind].capitalize()}: {size}, {row['parameters']:,} parameters. Held out "
            f"{row['held']:.3f} nats {unit}, fitted {row['nll']:.3f}."
            + (f" Best by {' and '.join(best)}." if best else "")
        )
    return said


def equations(found: Compared, count: int) -> list[str]:
    """BIC of each size with its numbers, LaTeX."""
    return [
        rf"\mathrm{{BIC}} = p \ln N - 2 \textstyle\sum_n \log p(x_n) = {row['parameters']} \ln {count} + "
        rf"2 \cdot {count} \cdot {row['nll']:.4f} = {row['bic']:.1f}"
        for row in found.rows
    ]


# --- A run ----------------------------------------------------------------------------------------


def save(data: Data, kind: str, size: int, found: Compared) -> Path:
    """Write the model of one size as a finished run of its experiment, the table beside it."""
    name, now = EXPERIMENTS[kind], datetime.now()
    folder = runs_folder() / name / now.strftime("%Y%m%d-%H%M%S-%f")
    folder.mkdir(parents=True)
    lines = [",".join(f'"{n.replace(chr(34), "")}"' for n in data.names)]
    lines += [",".join("" if math.isnan(v) else repr(v) for v in row) for row in data.rows.tolist()]
    files.write(folder / "table.csv", ("\n".join(lines) + "\n").encode())
    experiment = find(name)
    init: dict[str, Any] = {"path": str(folder / "table.csv"), "missing": "keep" if data.length else "drop"}
    if data.length:
        init["length"] = data.length
    row = found.rows[size - 1]
    card = {
        "experiment": name,
        "family": experiment.family,
        "config": {"seed_everything": 0, "data": {**experiment.config["data"], "init_args": init}},
        "data": {"name": "Series" if data.length else "Table", "kind": "own", "columns": data.names},
        "metrics": {"train/nll": row["nll"], "val/nll": row["held"]},
        "seeds": [size],
        "epochs": STEPS,
        "minutes": 0.0,
        "date": now.astimezone(UTC).date().isoformat(),
    }
    weights.save(folder, deepcopy(found.models[size - 1]), card)
    return folder
