"""`lab size`: how many components, factors or states? BIC and the held-out likelihood answer.

    lab size gmm --path my.csv --most 6

The model of an experiment is fitted at every size up to `--most` on the training split, by EM from its own
starts; BIC is of that split, the held-out nats of the validation split. The test split is left alone.
"""

import importlib
import inspect
import warnings
from typing import Any

import torch
from torch import Tensor

from datamodules.fetch import MissingData
from lab import settings
from lab.errors import UserError
from lab.experiments import find
from lab.parser import Parser
from modules.latent.em import EMDensity, choose

SIZES = ("components", "factors", "states")
MOST = 50


def run(args: list[str]) -> None:
    """Parse `lab size <experiment> [--path FILE] [--most 8] [--steps 100] [--seed 0]` and print a table.

    Raises:
        UserError: a model without a size or a density, data that cannot be read, an option out of range.
    """
    parser = Parser(prog="lab size", description="Fit a model at several sizes; BIC and held-out likelihood.")
    parser.add_argument("experiment", help="such as gmm, fa or hmm")
    parser.add_argument("--path", help="your own CSV, where the experiment reads one")
    parser.add_argument("--most", type=int, default=8, help="the largest size")
    parser.add_argument("--steps", type=int, default=100, help="of EM")
    parser.add_argument("--seed", type=int, default=0)
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
        with settings.constructors():
            rows = table(options.experiment, options.path, options.most, options.steps)
    except MissingData as error:
        raise UserError(str(error)) from None
    show(rows)


def table(name: str, path: str | None, most: int, steps: int) -> list[dict[str, Any]]:
    """A row of `modules.latent.em.choose` for each size; a size that cannot be is left out."""
    experiment = find(name)
    model_class, model_args = described(experiment.config["model"])
    data_class, data_args = described(experiment.config["data"])
    size = next((s for s in SIZES if s in inspect.signature(model_class).parameters), None)
    if size is None or not issubclass(model_class, EMDensity):
        raise UserError(
            f"{name} is a {model_class.__name__}, whose size nothing chooses: take gmm, fa or hmm."
        )
    if path is not None:
        if "path" not in inspect.signature(data_class).parameters:
            raise UserError(f"{name} reads no table of yours: leave --path out, or take gmm, fa or hmm.")
        data_args = {**data_args, "path": path}
    data = data_class(**data_args)
    data.prepare_data()
    data.setup("fit")
    sizes = {k: v for k, v in data.sizes.items() if k in inspect.signature(model_class).parameters}
    models: dict[int, EMDensity] = {}
    for k in range(1, most + 1):
        try:
            models[k] = model_class(**{**model_args, **sizes, size: k})
        except ValueError:
            if not models:
                raise
            break  # more factors than numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a large model collapses, its likelihood tells
        return choose(models, whole(data.train_set), whole(data.val_set), steps)


def described(config: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Class and arguments that a YAML names, without those of training."""
    module, _, name = config["class_path"].rpartition(".")
    arguments = config.get("init_args") or {}
    training = ("optimizer", "lr_scheduler", "lr_interval")
    return getattr(importlib.import_module(module), name), {
        k: v for k, v in arguments.items() if k not in training
    }


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
