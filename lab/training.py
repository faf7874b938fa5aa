"""Train, resume and test any experiment: LightningCLI with a run folder, a card and exact resume.

A run writes `runs/<experiment>/<time>/`: metrics.csv while it goes, checkpoints/{best,last}.ckpt at
the end of each epoch, and at its end model.safetensors and card.json.
"""

import csv
import errno
import importlib.util
import io
import json
import logging
import os
import platform
import sys
import time
import warnings
from argparse import ArgumentError
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import lightning as L
import torch
from jsonargparse.typing import PositiveInt
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from datamodules.base import DataModule
from datamodules.fetch import MissingData
from lab import memory, settings, weights
from lab.errors import UserError
from lab.experiments import CONFIGS, Experiment, run_folders, runs_folder
from modules.base import Module

RUN_FOLDER = "LECTERN_RUN_FOLDER"  # environment: the folder of this very run
SaveDtype = Literal["float16", "bfloat16", "float32", "float64"]
LINKED = ("event_shape", "image_shape", "num_features", "num_classes", "vocab_size")


class EpochSeed(L.Callback):
    """Seed every epoch by (seed, epoch, process): a resumed run draws what an uninterrupted one draws."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        torch.manual_seed(hash((self.seed, trainer.current_epoch, trainer.global_rank)) % 2**63)


class StopOnNaN(L.Callback):
    """End a dead run with a sentence rather than train on.

    Raises:
        UserError: the loss is NaN or infinite, or a million times what it was.
    """

    DIVERGED = 1e6  # times the first loss; no training that ended well has come near

    def __init__(self) -> None:
        self.first: float | None = None

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        # reading the loss waits for the device, so not at every step
        if batch_idx % 10 == 0 or trainer.is_last_batch:
            loss = float(outputs["loss"])
            self.first = abs(loss) + 1 if self.first is None else self.first
            if not abs(loss) < self.DIVERGED * self.first:
                raise UserError(
                    f"The loss is {loss:.5g} in epoch {trainer.current_epoch}, step {trainer.global_step}: "
                    "lower the learning rate or clip the gradient (--trainer.gradient_clip_val 1)."
                )


class Record(L.Callback):
    """One row of metrics.csv an epoch; resumed runs continue the file, which CSVLogger would erase."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.csv"
        self.rows: list[dict[str, float]] = []
        self.seconds = 0.0

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.started = time.monotonic() - self.seconds

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.seconds = time.monotonic() - self.started
        row: dict[str, float] = {"epoch": trainer.current_epoch, "step": trainer.global_step}
        row |= {k: v.item() for k, v in trainer.callback_metrics.items() if k != "train/loss"}  # one batch's
        groups = [group for optimizer in trainer.optimizers for group in optimizer.param_groups]
        if groups:  # models that count have none
            row["lr"] = groups[0]["lr"]
        row["seconds"] = round(self.seconds, 2)
        self.rows.append(row)
        if trainer.is_global_zero:
            write_csv(self.path, self.rows)
            if not trainer.progress_bar_callback:
                shown = "  ".join(f"{k} {v:.5g}" for k, v in row.items() if k != "step")
                print(shown, flush=True)

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows, self.seconds = list(state_dict["rows"]), state_dict["seconds"]


class Checkpoint(ModelCheckpoint):
    """Lightning's, which keeps nothing before the first optimizer step; models that count take none."""

    def _should_skip_saving_checkpoint(self, trainer: L.Trainer) -> bool:
        if not trainer.lightning_module.automatic_optimization:
            self._last_global_step_saved = -1
        return super()._should_skip_saving_checkpoint(trainer)


def write_csv(path: Path, rows: list[dict[str, float]]) -> None:
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    weights.write(path, table.getvalue().encode())


class LabCLI(LightningCLI):
    """LightningCLI over one experiment's YAML, its defaults, and any options of the user."""

    def __init__(self, experiment: Experiment, folder: Path, args: list[str]) -> None:
        self.experiment, self.folder = experiment, folder
        # the parser of the one command that is run: making it takes longer than reading the settings
        self.subcommands = lambda: {args[0]: LightningCLI.subcommands()[args[0]]}  # type: ignore[method-assign]
        super().__init__(
            Module,
            DataModule,
            subclass_mode_model=True,
            subclass_mode_data=True,
            save_config_callback=None,
            auto_configure_optimizers=False,
            load_from_checkpoint_support=False,
            parser_kwargs={"prog": "lab", "exit_on_error": False},
            args=args,
        )

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        parser.add_argument(
            "--monitor", type=str, default="val/nll", help="the metric that picks the best epoch"
        )
        parser.add_argument("--mode", type=Literal["min", "max"], default="min", help="of the metric")
        parser.add_argument("--save_dtype", type=SaveDtype, default="float32", help="of the saved weights")
        parser.add_argument(
            "--seeds", type=PositiveInt, default=1, help="fit this many seeds; the card has mean and std"
        )
        for name in LINKED:  # sizes that follow from the data
            parser.link_arguments(
                "data", f"model.init_args.{name}", compute_fn=size_of(name), apply_on="instantiate"
            )

    def parse_arguments(self, parser: LightningArgumentParser, args: Any) -> None:
        settings.judge_files(args)
        super().parse_arguments(parser, args)
        settings.judge(self.config[self.config.subcommand])

    def _parse_ckpt_path(self) -> None:
        """LightningCLI would take the model's arguments from the checkpoint; ours come from the YAML."""

    def before_instantiate_classes(self) -> None:
        trainer = self.config[self.subcommand].trainer
        cores, devices = os.cpu_count() or 1, trainer.devices
        on_cpu = trainer.accelerator == "cpu" or (
            trainer.accelerator == "auto" and not torch.cuda.is_available()
        )
        if on_cpu and str(devices).isdigit() and int(devices) > cores:
            raise UserError(f"This machine has {cores} CPU cores: set --trainer.devices to at most {cores}.")

    def instantiate_classes(self) -> None:
        explain = settings.constructors(lambda error: one_sentence(error, self.experiment))
        with explain, memory.Bounded(memory.available()):
            super().instantiate_classes()

    def instantiate_trainer(self, **kwargs: Any) -> L.Trainer:
        config = self.config[self.subcommand]
        interactive = sys.stderr.isatty()
        self.record = Record(self.folder)
        checkpoints: dict[str, Any] = {
            "dirpath": self.folder / "checkpoints",
            "enable_version_counter": False,
        }
        self.best = Checkpoint(
            **checkpoints,
            filename="best",
            monitor=config.monitor,
            mode=config.mode,
            save_on_train_epoch_end=True,
        )
        self.last = Checkpoint(**checkpoints, filename="last", save_on_train_epoch_end=True)
        own = self.config_init[self.subcommand].trainer.callbacks or []
        seed = EpochSeed(config.seed_everything)
        logger = config.trainer.logger
        if logger is None:
            logger = False
            if importlib.util.find_spec("tensorboard"):
                from lightning.pytorch.loggers import TensorBoardLogger

                logger = TensorBoardLogger(self.folder, name="", version="tensorboard")
        return super().instantiate_trainer(
            callbacks=[*own, seed, StopOnNaN(), self.record, self.best, self.last],
            logger=logger,
            default_root_dir=str(self.folder),
            use_distributed_sampler=False,  # our batches are shared out by the datamodule, without padding
            enable_progress_bar=interactive and config.trainer.enable_progress_bar is not False,
            **kwargs,
        )

    def before_fit(self) -> None:
        config = self.config["fit"]
        if config.monitor not in (names := self.model.metric_names("val")):
            raise UserError(
                f"There is no metric {config.monitor!r} to monitor: choose one of {', '.join(names)}."
            )
        with settings.constructors(lambda error: one_sentence(error, self.experiment)):
            settings.judge_optimizer(self.model)
        if path := config.get("ckpt_path"):
            weights.check_checkpoint(Path(path), self.model)

    def use_trained_weights(self) -> None:
        """Evaluate the checkpoint that was asked for, else the zoo's or the newest run's weights."""
        if path := self.config[self.subcommand].get("ckpt_path"):
            weights.check_checkpoint(Path(path), self.model)
        elif self.experiment.weights:
            self.model.load_state_dict(weights.load(self.experiment.weights).state_dict())
        else:
            raise UserError(
                f"{self.experiment.name} has no trained weights: run `lab fit {self.experiment.name}`."
            )

    before_validate = before_test = before_predict = use_trained_weights

    def after_predict(self) -> None:
        """Write one row per example of the test split."""
        predictions = torch.cat([torch.as_tensor(p) for p in self.trainer.predict_loop.predictions])
        rows: list[dict[str, float]] = [
            {"example": i, "prediction": p} for i, p in enumerate(predictions.tolist())
        ]
        path = runs_folder() / self.experiment.name / "predictions.csv"
        write_csv(path, rows)
        print(f"Saved {path}")

    def after_fit(self) -> None:
        """Test the best epoch's weights as they will be saved, then save them with their card."""
        config = self.config["fit"]
        if config.trainer.fast_dev_run:
            return
        if self.best.best_model_path:
            checkpoint = weights.read_checkpoint(Path(self.best.best_model_path))
            self.model.load_state_dict(checkpoint["state_dict"])
        dtype = getattr(torch, config.save_dtype)
        for tensor in self.model.state_dict().values():
            if tensor.is_floating_point():  # round before the test: the card's numbers are the file's
                tensor.copy_(tensor.to(dtype))
        metrics: dict[str, float] = {}
        for evaluate in (self.trainer.validate, self.trainer.test):
            evaluate(self.model, datamodule=self.datamodule, verbose=False)
            metrics |= {k: v.item() for k, v in self.trainer.callback_metrics.items()}
        if self.trainer.is_global_zero:
            weights.save(self.folder, self.model, self.card(metrics), dtype)
            print(
                f"Saved {self.folder}: " + ", ".join(f"{k} {v:.5g}" for k, v in metrics.items()), flush=True
            )

    def card(self, metrics: dict[str, float]) -> dict[str, Any]:
        """What is known of the trained weights."""
        config = json.loads(self.parser.dump(self.config, format="json", skip_none=False))["fit"]
        for key in ("config", "ckpt_path", "weights_only"):
            config.pop(key, None)
        # of the trainer's many options only what is set; to data and model a null may mean something
        config["trainer"] = {k: v for k, v in config["trainer"].items() if v is not None}
        init_args = config["model"].get("init_args") or {}
        config["training"] = {
            k: init_args[k] for k in ("optimizer", "lr_scheduler", "lr_interval") if k in init_args
        }
        epochs = len(self.record.rows)
        best = self.best.best_model_score
        return {
            "experiment": self.experiment.name,
            "family": self.experiment.family,
            "config": config,
            "data": self.datamodule.describe(),
            "metrics": metrics,
            "seeds": [config["seed_everything"]],
            "best": {"monitor": config["monitor"], "value": best.item() if best is not None else None},
            "epochs": epochs,
            "minutes": round(self.record.seconds / 60, 2),
            "hardware": hardware(self.trainer),
            "versions": {"python": platform.python_version()}
            | {p: version(p) for p in ("lectern", "torch", "lightning", "torchmetrics", "torch-geometric")},
            "date": datetime.now(UTC).date().isoformat(),
        }


def size_of(name: str) -> Callable[[DataModule], Any]:
    return lambda data: data.sizes.get(name)


def hardware(trainer: L.Trainer) -> str:
    if trainer.accelerator.__class__.__name__ == "CUDAAccelerator":
        return f"{trainer.world_size} × {torch.cuda.get_device_name()}"
    threads = torch.get_num_threads()
    return f"{platform.machine()} CPU, {trainer.world_size} process(es), {threads} thread(s)"


def new_run_folder(name: str) -> Path:
    """A fresh folder for a run: all processes of one job agree on it."""
    job = os.environ.get("SLURM_JOB_ID") or os.environ.get("TORCHELASTIC_RUN_ID")
    if job:
        return runs_folder() / name / f"job-{job}"
    time_ = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    return runs_folder() / name / time_


def last_checkpoint(name: str) -> Path:
    """The newest `last.ckpt` among an experiment's runs.

    Raises:
        UserError: there is none.
    """
    for folder in run_folders(name):
        if (path := folder / "checkpoints" / "last.ckpt").is_file():
            return path
    raise UserError(f"There is no run of {name} to resume: start one with `lab fit {name}`.")


def take_option(args: list[str], key: str) -> str | None:
    """Remove `key value` or `key=value` from `args`; the value, or None if it is not there."""
    for i, arg in enumerate(args):
        name, eq, value = arg.partition("=")
        if name == key:
            if not eq:
                value = args[i + 1] if i + 1 < len(args) else ""
            del args[i : i + (1 if eq else 2)]
            return value
    return None


def resolve(command: str, experiment: Experiment, args: list[str]) -> tuple[Path, list[str]]:
    """Run folder and full argument list: presets, `last` and the experiment become paths.

    Raises:
        UserError: no such preset; nothing to resume.
    """
    args = list(args)
    given = os.environ.get(RUN_FOLDER)
    folder = Path(given) if given else new_run_folder(experiment.name)
    configs = [CONFIGS / "defaults.yaml", experiment.path]
    if (preset := take_option(args, "--preset")) is not None:
        configs.append(CONFIGS / "presets" / f"{preset}.yaml")
        if not configs[-1].is_file():
            names = ", ".join(sorted(p.stem for p in (CONFIGS / "presets").glob("*.yaml")))
            raise UserError(f"There is no preset {preset!r}: choose one of {names}.")
    if (checkpoint := take_option(args, "--ckpt_path")) is not None:
        if not checkpoint:
            raise UserError("--ckpt_path is empty: give `last`, or the path of a checkpoint.")
        if checkpoint == "last":
            path = folder / "checkpoints" / "last.ckpt" if given else last_checkpoint(experiment.name)
            checkpoint, folder = str(path), path.parent.parent
        args += [f"--ckpt_path={checkpoint}", "--weights_only=true"]  # never unpickle what it may hold
    return folder, [command, *(f"--config={path}" for path in configs), *args]


def run(command: str, experiment: Experiment, args: list[str]) -> None:
    """`lab fit|validate|test|predict <experiment> …`.

    Raises:
        UserError: what the user can mend, in one sentence.
    """
    folder, full = resolve(command, experiment, args)
    before = os.environ.get(RUN_FOLDER)
    os.environ[RUN_FOLDER] = str(folder)  # for the processes that a strategy starts
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="lightning")  # advice on workers, loggers, sys.argv
            logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
            cli = LabCLI(experiment, folder, full)
            seeds = cli.config[command].seeds
            if command == "fit" and seeds > 1 and not cli.config[command].trainer.fast_dev_run:
                fit_more_seeds(cli, folder, full, seeds)
    except (ArgumentError, MisconfigurationException) as error:
        raise UserError(one_sentence(error, experiment)) from None
    except MissingData as error:
        raise UserError(str(error)) from None
    except OSError as error:
        full_disk = "the disk is full; free some space" if error.errno == errno.ENOSPC else error.strerror
        raise UserError(f"Cannot write {error.filename or folder}: {full_disk or error}.") from error
    finally:
        if before is None:
            del os.environ[RUN_FOLDER]
        else:
            os.environ[RUN_FOLDER] = before


def fit_more_seeds(cli: LabCLI, folder: Path, args: list[str], seeds: int) -> None:
    """Fit the other seeds in folders of their own; keep the weights that validation likes best.

    The card's metrics are means over all seeds, `std` their standard deviations (n - 1).
    """
    if cli.trainer.world_size > 1:
        raise UserError("Several seeds need one process each: set --seeds 1 or --trainer.devices 1.")
    first, cards, folders = cli.config["fit"].seed_everything, [weights.read_card(folder)], [folder]
    for seed in range(first + 1, first + seeds):
        folders.append(folder / f"seed-{seed}")
        LabCLI(cli.experiment, folders[-1], [*args, f"--seed_everything={seed}"])
        cards.append(weights.read_card(folders[-1]))
    better = min if cli.config["fit"].mode == "min" else max
    best = better(range(seeds), key=lambda i: cards[i]["best"]["value"])
    values = {
        name: torch.tensor([c["metrics"][name] for c in cards], dtype=torch.float64)
        for name in cards[0]["metrics"]
    }
    card = cards[best] | {
        "metrics": {name: v.mean().item() for name, v in values.items()},
        "std": {name: v.std().item() for name, v in values.items()},
        "seeds": list(range(first, first + seeds)),
        "shipped": {"seed": first + best, "metrics": cards[best]["metrics"]},
        "minutes": round(sum(c["minutes"] for c in cards), 2),
    }
    weights.write(folder / "model.safetensors", (folders[best] / "model.safetensors").read_bytes())
    weights.write(folder / "card.json", weights.as_json(card))
    print(
        f"Over {seeds} seeds: "
        + ", ".join(f"{k} {v:.5g} ± {card['std'][k]:.2g}" for k, v in card["metrics"].items())
    )


def one_sentence(error: Exception, experiment: Experiment) -> str:
    """The parser's innermost complaint, without its dump of all that would have been right."""
    noise = ("Given value", "Subtypes:", "Errors:", "Does not validate", "Expected a <class 'NoneType'>")
    lines = [line.strip(" -") for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(noise)]
    return f"{experiment.name}: {'; '.join(lines[:4])}.".replace(":;", ":").replace("..", ".")
