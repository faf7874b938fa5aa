"""`lab size`: how many components, factors or states? BIC and the held-out likelihood answer.

    lab size gmm --path my.csv --columns height,mass --most 6
    lab size hmm --path my.csv --length 20
    lab size maf --path my.csv

The model of an experiment is fitted at every size up to `--most` on the training split: by EM from its own
starts, a flow of 1, 2, … layers by gradient steps at the experiment's rate. BIC is of that split, the
held-out nats of the validation split. The test split is left alone.
"""

import inspect
import math
import warnings
from typing import Any

import torch
from torch import Tensor

from datamodules.base import DataModule
from datamodules.fetch import MissingData
from datamodules.table import Table
from lab import settings, untrusted
from lab.errors import UserError
from lab.experiments import Experiment, find
from lab.parser import Parser
from modules.base import Module
from modules.flow.flow import Flow
from modules.latent.em import EMDensity, compare_sizes

SIZES = ("components", "factors", "states", "layers")
MOST = 50


def run(args: list[str]) -> None:
    """Parse `lab size <experiment> [--path FILE] [--columns a,b] [--length 50] ...` and print a table.

    Raises:
        UserError: a model without a size or a density, data that cannot be read, an option out of range.
    """
    parser = Parser(prog="lab size", description="Fit a model at several sizes; BIC and held-out likelihood.")
    parser.add_argument("experiment", help="such as gmm, fa, hmm or maf")
    parser.add_argument("--path", help="your own CSV, where the experiment reads one")
    parser.add_argument("--columns", help="of it, by name or number, with commas between")
    parser.add_argument("--length", type=int, help="rows of an example of a time series")
    parser.add_argument("--missing", help="what becomes of rows with a hole: drop, keep or refuse")
    parser.add_argument("--most", type=int, default=8, help="the largest size")
    parser.add_argument("--steps", type=int, default=100, help="of EM, or of the gradient")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--trust", action="append", default=[], metavar="FILE.py", help="a file whose classes may be imported"
    )
    options = parser.parse_args(args)
    for name, most in (("most", MOST), ("steps", 10_000)):
        if not 1 <= getattr(options, name) <= most:
            raise UserError(f"--{name} is {getattr(options, name)}: it must be from 1 to {most:,}.")
    if not 0 <= options.seed < settings.SEEDS:
        raise UserError(
            f"--seed is {options.seed}: it must be a whole number from 0 to {settings.SEEDS - 1}."
        )
    torch.manual_seed(options.seed)
    try:
        with settings.constructors(), untrusted.trusting(options.trust):
            own = {name: getattr(options, name) for name in ("path", "columns", "length", "missing")}
            rows = table(options.experiment, own, options.most, options.steps)
    except MissingData as error:
        raise UserError(str(error)) from None
    show(rows)


def table(name: str, own: dict[str, Any], most: int, steps: int) -> list[dict[str, Any]]:
    """A row of `modules.latent.em.compare_sizes` for each size; a size that cannot be is left out.

    Args:
        own: path, columns and length of the reader's table, as far as they are said.
    """
    experiment = find(name)
    model_class, model_args = described(experiment, "model", Module)
    data_class, data_args = described(experiment, "data", DataModule)
    size = next((s for s in SIZES if s in inspect.signature(model_class).parameters), None)
    flow = issubclass(model_class, Flow)
    if size is None or not (flow or issubclass(model_class, EMDensity)):
        raise UserError(
            f"{name} is of class {model_class.__name__}, whose size nothing chooses: "
            "take gmm, fa, hmm or maf."
        )
    for option, value in own.items():
        if value is not None:
            reads = data_class if option != "path" or issubclass(data_class, Table) else None
            if reads is None or option not in inspect.signature(reads).parameters:
                what = "no series" if option == "length" else "no table of yours"
                raise UserError(
                    f"{name} reads {what}: leave --{option} out, or take "
                    f"{'hmm' if option == 'length' else 'gmm, fa, hmm or maf'}."
                )
            data_args = {**data_args, option: value}
    data = data_class(**data_args)
    for note in getattr(data, "notes", []):
        print(note)
    data.prepare_data()
    data.setup("fit")
    sizes = {k: v for k, v in data.sizes.items() if k in inspect.signature(model_class).parameters}
    models: dict[int, Any] = {}
    for k in range(1, most + 1):
        try:
            models[k] = model_class(**{**model_args, **sizes, size: k})
        except ValueError:
            if not models:
                raise
            break  # more factors than numbers
    if flow:
        rate = described_rate(experiment.config["model"])
        return [
            fit_flow(k, model, whole(data.train_set), whole(data.val_set), steps, rate)
            for k, model in models.items()
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a large model collapses, its likelihood tells
        return compare_sizes(models, whole(data.train_set), whole(data.val_set), steps)


def fit_flow(size: int, flow: Flow, x: Tensor, held_out: Tensor, steps: int, rate: float) -> dict[str, Any]:
    """A flow of so many layers, fitted to x (N, D) by Adam on all of it; the row of `choose`, with the
    parameters of the step that was best on `held_out`."""
    optimizer = torch.optim.Adam(flow.parameters(), rate)
    best, row = math.inf, {}
    parameters = sum(p.numel() for p in flow.parameters())
    for _ in range(steps + 1):
        nll = -flow.log_prob(x).mean()
        with torch.no_grad():
            held = -float(flow.log_prob(held_out).mean())
        if not math.isfinite(held):
            break
        if held < best:
            best = held
            bic = parameters * math.log(len(x)) + 2 * len(x) * float(nll.detach())
            row = {
                "size": size,
                "parameters": parameters,
                "nll": float(nll.detach()),
                "held_out": held,
                "bic": bic,
            }
        optimizer.zero_grad()
        nll.backward()
        torch.nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        optimizer.step()
    return row


def described_rate(config: dict[str, Any]) -> float:
    """The learning rate that a YAML names."""
    optimizer = (config.get("init_args") or {}).get("optimizer") or {}
    return float((optimizer.get("init_args") or {}).get("lr", 1e-3))


def described(experiment: Experiment, key: str, kind: type) -> tuple[Any, dict[str, Any]]:
    """Class and arguments that a YAML names, without those of training."""
    config = experiment.config[key]
    cls = untrusted.find_class(
        config["class_path"], kind, f"{key} of Lectern", experiment.name, untrusted.OURS
    )
    training = ("optimizer", "lr_scheduler", "lr_interval")
    return cls, {k: v for k, v in (config.get("init_args") or {}).items() if k not in training}


def whole(split: Any) -> Tensor:
    """Every example of a split, its first tensor."""
    return split[torch.arange(len(split))][0]


def show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    least = {key: min(row[key] for row in rows) for key in ("bic", "held_out")}
    shown = Table("size", "parameters", "nll", "held out", "BIC", "", box=None)
    for row in rows:
        best = [word for word, key in (("BIC", "bic"), ("held out", "held_out")) if row[key] == least[key]]
        shown.add_row(
            str(row["size"]), f"{row['parameters']:,}", f"{row['nll']:.4f}", f"{row['held_out']:.4f}",
            f"{row['bic']:,.1f}", f"best by {' and '.join(best)}" if best else "",
        )  # fmt: skip
    Console(width=100).print(shown)
