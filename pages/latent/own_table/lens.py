"""Models of several sizes fitted to a table, compared by BIC and by what is held out.

BIC = p ln N − 2 Σ_n log p(x_n)        on the rows that were fitted (Schwarz 1978)
"""

import math
import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lab import files, weights
from lab.experiments import find, runs_folder
from lab.lenses.rows import CELLS, Data, plane
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.flow.maf import MAF
from modules.latent.em import CollapseWarning
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.hmm import HMM
from modules.latent.mixture import GaussianMixture

MODELS = {"mixture": "components", "factor analysis": "factors", "HMM": "states", "flow": "layers"}
EXPERIMENTS = {"mixture": "gmm", "factor analysis": "fa", "HMM": "hmm", "flow": "maf"}
STEPS = 200  # of EM; a flow takes as many gradient steps


@dataclass
class Compared:
    """Results so far: a row of numbers and the model for each size from 1."""

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
    return MAF((columns,), layers=size, hidden=(16,)).double()


def largest(kind: str, columns: int, most: int) -> int:
    """The most that can be tried: there are fewer factors than columns."""
    return max(1, min(most, columns - 1)) if kind == "factor analysis" else most


def compared(data: Data, kind: str, most: int) -> Iterator[tuple[float, Compared]]:
    """Fit every size from 1 to `most`; yields the share done and what is found so far."""
    result, count = Compared(), largest(kind, len(data.names), most)
    for size in range(1, count + 1):
        model = seeded(partial(model_of, kind, size, len(data.names)), size)
        work = flow_steps(model, data) if kind == "flow" else em_steps(model, data, size)
        for share in work:
            yield (size - 1 + share) / count, result
        with torch.no_grad():
            nll, held = (-model.log_prob(x) for x in (data.train, data.held))
        parameters = int(
            sum(p.numel() for p in model.parameters()) if kind == "flow" else model.num_parameters
        )
        bic = parameters * math.log(len(data.train)) + 2 * float(nll.sum())
        row = {"parameters": parameters, "nll": float(nll.mean()), "held": float(held.mean()), "bic": bic}
        result = Compared([*result.rows, row], [*result.models, model.eval().requires_grad_(False)])
        yield size / count, result


def em_steps(model: Any, data: Data, seed: int) -> Iterator[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # that a large model collapses, its likelihood tells
        model.initialize_best(data.train, torch.Generator().manual_seed(seed))
    before = -math.inf
    for step in range(STEPS):
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore", CollapseWarning)
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


@torch.no_grad()
def density(model: Any, data: Data) -> Tensor:
    """p on `plane`, (CELLS, CELLS), a row a place of y, in the columns' own units."""
    x, y = plane(data)
    places = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).reshape(-1, 2)
    p = (model.log_prob(data.scaled(places)) - data.deviation.log().sum()).exp()
    return p.reshape(CELLS, CELLS)


# --- A run ----------------------------------------------------------------------------------------


def save(data: Data, kind: str, size: int, result: Compared) -> Path:
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
    row = result.rows[size - 1]
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
    weights.save(folder, deepcopy(result.models[size - 1]), card)
    return folder
