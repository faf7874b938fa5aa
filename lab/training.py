"""Train, resume and test any experiment: LightningCLI with a run folder, a card and exact resume.

A run writes `runs/<experiment>/<time>/`: config.yaml (all its settings) when it begins, metrics.csv while
it goes, checkpoints/{best,last}.ckpt at the end of each epoch, and at its end model.safetensors and
card.json. Of several seeds each has such a folder in it, `seed-<number>/`. A card is there only where
everything that config.yaml says was done; what a resume finds undone, it does.
"""

import csv
import errno
import importlib.util
import inspect
import io
import json
import logging
import math
import os
import platform
import re
import sys
import time
import warnings
from argparse import ArgumentError
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Literal

import filelock
import lightning as L
import numpy as np
import torch
import yaml
from jsonargparse import Namespace
from jsonargparse.typing import PositiveInt
from lightning.pytorch.accelerators import CPUAccelerator
from lightning.pytorch.callbacks import WeightAveraging
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI
from lightning.pytorch.plugins.precision import HalfPrecision, MixedPrecision, Precision
from lightning.pytorch.strategies import ParallelStrategy
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from datamodules.base import Batches, DataModule
from datamodules.fetch import MissingData
from lab import complaints, files, memory, settings, weights
from lab.checkpoints import Checkpoint, SealedIO, last_kept, restore_best
from lab.errors import UserError
from lab.experiments import CONFIGS, Experiment, catalog, read_yaml, run_folders, runs_folder
from modules.base import CountModel, Density, Mean, Module, Predictor

RUN_FOLDER = "LECTERN_RUN_FOLDER"  # environment: the folder of this very run
SaveDtype = Literal["float16", "bfloat16", "float32", "float64"]
EVALUATION = 2**32  # beyond all epochs
SLICE = range(4, 33)  # examples whose metrics a card keeps beside those of the whole split
DRAWS = 5  # of what `--card` measures and is drawn by other means than a sum over examples
# in place of what runs of earlier versions have kept, where it meant nothing
OLDER = ("--trainer.use_distributed_sampler=false",)
LAST = "last"  # as the monitor: the last epoch ships, as of games that no metric judges
PARSERS: dict[Callable, tuple] = {}  # of each method of the trainer that this process has run
OWN_OPTIONS = """
--preset gpu|ddp|fsdp|nodes: where it runs.  --trust FILE.py, which may be said several times: settings may
name classes of that file.  --ckpt_path last: the newest run's last epoch.  Of `lab test`, --card: measure all
numbers of the card again, and write them there.
"""
NEEDED = ("event_shape", "image_shape", "num_features", "vocab_size")
LINKED = (*NEEDED, "num_classes", "modes", "mode_sd")


class EpochSeed(L.Callback):
    """Seed every epoch by (seed, epoch, process): a resumed run draws what an uninterrupted one draws.

    An evaluation outside of training is seeded too, by (seed, number of the draw, process): what it says of
    weights does not depend on how they were come by.
    """

    def __init__(self, seed: int) -> None:
        self.seed, self.draw = seed, 0

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.begin(trainer, trainer.current_epoch)

    def on_validation_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.state.fn != "fit":
            self.begin(trainer, EVALUATION + self.draw)

    on_test_start = on_validation_start

    def begin(self, trainer: L.Trainer, number: int) -> None:
        numbers = np.random.SeedSequence((int(self.seed), number, trainer.global_rank))
        torch.manual_seed(int(numbers.generate_state(1, np.uint64)[0]))


class ClipsFused(L.Callback):
    """Let gradients be clipped in mixed precision also where the optimizer is fused.

    torch's fused optimizers can divide by the loss's scale within their step, so Lightning refuses to clip
    before it. Told that they can't, the gradients are brought to scale first, as for any other optimizer.
    """

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        for optimizer in trainer.optimizers:
            if getattr(optimizer, "_step_supports_amp_scaling", False):
                optimizer._step_supports_amp_scaling = False  # type: ignore[attr-defined]


class WholeBatch(L.Callback):
    """Say that a batch is everything, where more was asked for than an epoch has; a default may be more."""

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        data: Any = trainer.datamodule  # type: ignore[attr-defined]
        batches = getattr(trainer.train_dataloader, "sampler", None)
        if not isinstance(batches, Batches) or not trainer.is_global_zero:
            return
        if batches.asked > batches.drawn and batches.asked != default(type(data), "batch_size"):
            print(
                f"batch_size is {batches.asked:,}: a batch is all {batches.drawn:,} examples of an epoch.",
                flush=True,
            )


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
                    f"{advice(trainer, pl_module, batch)}"
                )


def advice(trainer: L.Trainer, model: L.LightningModule, batch: Any) -> str:
    """What may help a dead run, of what this model takes."""
    seen = islice(getattr(trainer, "train_dataloader", None) or (), 1000)
    if any(holes(each) for each in chain([batch], seen)):
        return "the data hold NaN or infinity. Leave these examples out, or fill them in."
    if not trainer.optimizers:
        return "look at the data, which this model counts or solves for and has no learning rate."
    if not model.automatic_optimization:  # Lightning clips nothing there
        return "lower the learning rate."
    return "lower the learning rate or clip the gradient (--trainer.gradient_clip_val 1)."


def holes(batch: Any) -> bool:
    """Whether a batch holds what is no finite number."""
    if isinstance(batch, torch.Tensor):
        return batch.is_floating_point() and not bool(batch.isfinite().all())
    if isinstance(batch, dict):
        return any(map(holes, batch.values()))
    return isinstance(batch, list | tuple) and any(map(holes, batch))


class Record(L.Callback):
    """One row of metrics.csv an epoch; resumed runs continue the file, which CSVLogger would erase."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.csv"
        self.rows: list[dict[str, float]] = []
        self.seconds = 0.0

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.started = time.monotonic() - self.seconds
        if self.rows and trainer.is_global_zero:
            write_csv(self.path, self.rows)  # a kill may have left the row of an epoch that was not saved

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
            if not trainer.fast_dev_run:  # type: ignore[attr-defined]  # which leaves nothing behind
                write_csv(self.path, self.rows)
            if not trainer.progress_bar_callback:
                shown = "  ".join(f"{k} {v:.5g}" for k, v in row.items() if k != "step")
                print(shown, flush=True)

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows, self.seconds = list(state_dict["rows"]), state_dict["seconds"]


def write_csv(path: Path, rows: list[dict[str, float]]) -> None:
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    files.write(path, table.getvalue().encode())


class LabCLI(LightningCLI):
    """LightningCLI over one experiment's YAML, its defaults, and any options of the user.

    Args:
        folder: of the run; of several seeds each has a folder of its own in it.
        lock: what keeps other processes from this run, to be taken before anything of it is touched.
        lead: this is the run's first fit, which speaks for all its seeds.
        rewrite: a test writes what it measures into the card of the weights.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        args: list[str],
        lock: filelock.FileLock,
        lead: bool = True,
        rewrite: bool = False,
    ) -> None:
        self.experiment, self.run_folder, self.folder = experiment, folder, folder
        self.lock, self.lead, self.command, self.rewrite = lock, lead, args[0], rewrite
        self.args = args
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

    def setup_parser(self, *args: Any, **kwargs: Any) -> None:
        """The parser of the one command that is run, made once a process: it takes as long as the parsing."""
        method = getattr(L.Trainer, self.command)  # its arguments are options
        if method not in PARSERS:
            self.subcommands = lambda: {self.command: LightningCLI.subcommands()[self.command]}  # type: ignore[method-assign]
            super().setup_parser(*args, **kwargs)
            self._subcommand_parsers[self.command].epilog = OWN_OPTIONS
            PARSERS[method] = self.parser, self._subcommand_parsers, self._subcommand_method_arguments
        self.parser, self._subcommand_parsers, self._subcommand_method_arguments = PARSERS[method]

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        parser.add_argument(
            "--monitor", type=str, default="val/nll", help=f"the metric that picks the best epoch, or {LAST}"
        )
        parser.add_argument("--mode", type=Literal["min", "max"], default="min", help="of the metric")
        parser.add_argument("--save_dtype", type=SaveDtype, default="float32", help="of the saved weights")
        parser.add_argument(
            "--seeds", type=PositiveInt, default=1, help="fit this many seeds; the card has mean and std"
        )
        parser.set_defaults(
            {"trainer.use_distributed_sampler": settings.FIXED["trainer.use_distributed_sampler"][0]}
        )
        for name in LINKED:  # sizes that follow from the data
            parser.link_arguments(
                "data", f"model.init_args.{name}", compute_fn=size_of(name), apply_on="instantiate"
            )

    def parse_arguments(self, parser: LightningArgumentParser, args: Any) -> None:
        settings.judge_files(args)
        super().parse_arguments(parser, args)
        for part in ("model", "data"):
            settings.resolve_paths(
                (self.config[self.config.subcommand].get(part) or Namespace()).get("init_args")
            )
        settings.judge_classes(self.config[self.config.subcommand])
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
        if self.subcommand == "fit" and self.config.fit.seeds > 1:
            self.folder = seed_folder(self.run_folder, self.config.fit.seed_everything)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything that this fit was told, as plain values."""
        try:
            config = json.loads(self.parser.dump(self.config, format="json", skip_none=False))["fit"]
        except ValueError:  # a default of a class of others that is no plain value
            raise UserError(
                "The settings hold what no file can keep: give the classes that they name plain arguments."
            ) from None
        return {k: v for k, v in config.items() if k not in ("config", "ckpt_path", "weights_only")}

    @property
    def own_settings(self) -> dict[str, Any]:
        """Those of this seed alone, as if it were the only one."""
        return self.settings | {"seeds": 1}

    def instantiate_classes(self) -> None:
        explain = settings.constructors(lambda error: one_sentence(error, self.experiment))
        self.parser.add_instantiator(sized(self.config[self.subcommand], self.args), Module)
        with explain, memory.Bounded(memory.available()):
            super().instantiate_classes()
        for note in getattr(self.datamodule, "notes", []) if self.trainer.is_global_zero else []:
            print(note, flush=True)

    def instantiate_trainer(self, **kwargs: Any) -> L.Trainer:
        config = self.config[self.subcommand]
        interactive, bar = sys.stderr.isatty(), config.trainer.enable_progress_bar
        self.record = Record(self.folder)
        checkpoints: dict[str, Any] = {
            "dirpath": self.folder / "checkpoints",
            "enable_version_counter": False,
        }
        self.best = self.last = Checkpoint(**checkpoints, filename="last", save_on_train_epoch_end=True)
        if config.monitor != LAST:
            self.best = Checkpoint(
                **checkpoints,
                filename="best",
                monitor=config.monitor,
                mode=config.mode,
                save_on_train_epoch_end=True,
            )
        own = self.config_init[self.subcommand].trainer.callbacks or []
        own = own if isinstance(own, list) else [own]
        plugins = self.config_init[self.subcommand].trainer.plugins or []
        plugins = plugins if isinstance(plugins, list) else [plugins]
        self.seed = EpochSeed(config.seed_everything)
        logger = self.config_init[self.subcommand].trainer.logger
        if logger is None:
            logger = False
            if importlib.util.find_spec("tensorboard"):
                from lightning.pytorch.loggers import TensorBoardLogger

                logger = TensorBoardLogger(self.folder, name="", version="tensorboard")
        if (
            few := config.trainer.overfit_batches
        ):  # Lightning's own would put another sampler in place of ours
            self.datamodule.in_order = True
            kwargs |= {"overfit_batches": 0, "limit_train_batches": few}
        return super().instantiate_trainer(
            callbacks=[
                *own,
                self.seed,
                ClipsFused(),
                *([WholeBatch()] if self.lead else []),
                StopOnNaN(),
                self.record,
                *dict.fromkeys((self.best, self.last)),
            ],
            plugins=[*plugins, SealedIO()],
            logger=logger,
            default_root_dir=str(self.folder),
            enable_progress_bar=interactive if bar is None else bar,
            **kwargs,
        )

    def _run_subcommand(self, subcommand: str) -> None:
        try:
            with settings.complaints(lambda error: one_sentence(error, self.experiment)), self.bounded():
                super()._run_subcommand(subcommand)
        except MissingData:
            raise
        except (RuntimeError, ValueError, TypeError, LookupError, AttributeError) as error:
            read = hasattr(self.datamodule, "train_set")
            if self.trainer.current_epoch or not read or not untried(self.model, self.datamodule):
                raise  # a fault of ours
            raise UserError(misfit(self.model, self.datamodule)) from error

    def bounded(self) -> AbstractContextManager[None]:
        """Bound what this process takes by what its machine has left; of a GPU its driver takes care."""
        if not isinstance(self.trainer.accelerator, CPUAccelerator):
            return nullcontext()
        return memory.limited(memory.available() // self.trainer.num_devices)

    def before_fit(self) -> None:
        config = self.config["fit"]
        names = self.model.metric_names("val")
        judge_monitor(config.monitor, [*names, LAST])
        for callback in self.trainer.callbacks:  # type: ignore[attr-defined]
            monitor = getattr(callback, "monitor", None)
            if monitor and callback is not self.best and type(self.model).__module__.startswith("modules."):
                judge_monitor(monitor, [*names, *self.model.metric_names("train"), "train/loss"])
        with settings.constructors(lambda error: one_sentence(error, self.experiment)):
            settings.judge_optimizer(self.model)
        if isinstance(self.model, CountModel) and self.trainer.world_size > 1:
            raise UserError("Counting is done by one process: set --trainer.devices 1.")
        if isinstance(self.model, CountModel) and isinstance(self.trainer.strategy, ParallelStrategy):
            raise UserError("Counting has no gradients to share: set --trainer.strategy auto.")
        on_cpu = isinstance(self.trainer.accelerator, CPUAccelerator)
        if config.trainer.sync_batchnorm and on_cpu and self.trainer.world_size > 1:
            raise UserError(
                "torch synchronizes batch norm on GPUs alone: leave --trainer.sync_batchnorm out."
            )
        if config.seeds > 1 and self.trainer.world_size > 1:
            raise UserError("Several seeds need one process each: set --seeds 1 or --trainer.devices 1.")
        if config.seeds > 1 and config.ckpt_path not in (None, "last"):
            raise UserError("Several seeds go on each from its own checkpoint: say --ckpt_path last.")

    def fit(self, ckpt_path: str | None, **kwargs: Any) -> None:
        """Train from where the run stands, then test and save; what was done before is left alone."""
        rehearsal = bool(self.config["fit"].trainer.fast_dev_run)  # writes nothing
        first_process = self.trainer.is_global_zero
        if first_process and self.lead and not rehearsal:
            take(self.lock)
        if resumed := ckpt_path == "last":  # killed in its first epoch it begins there again
            ckpt_path = str(last) if (last := last_kept(self.folder)) else None
        if ckpt_path:
            weights.check_checkpoint(Path(ckpt_path), self.model)
        if rehearsal:
            self.trainer.fit(ckpt_path=ckpt_path, **kwargs)
            return
        if first_process:
            if self.lead:
                before = kept(self.run_folder if resumed or not ckpt_path else Path(ckpt_path).parent.parent)
                if before and (resumed or ckpt_path):
                    name_changes(before, self.settings)
                begin(self.run_folder, self.settings, resumed)
            if self.folder != self.run_folder:
                begin(self.folder, self.own_settings, resumed)
        if resumed and is_finished(self.folder, self.own_settings):
            if first_process:
                print(f"{self.folder} is finished: nothing is left to do.", flush=True)
            return
        if ckpt_path and first_process:
            restore_best(Path(ckpt_path), self.folder / "checkpoints")
        self.trainer.fit(ckpt_path=ckpt_path, **kwargs)
        self.finish()

    def use_trained_weights(self) -> None:
        """Evaluate the checkpoint that was asked for, else the zoo's or the newest run's weights."""
        path = self.config[self.subcommand].get("ckpt_path")
        place = Path(path) if path else self.experiment.newest
        if place and self.trainer.is_global_zero:
            data = json.loads(self.parser.dump(self.config, format="json", skip_none=False))[self.subcommand][
                "data"
            ]
            print(weights.taken(place, data), flush=True)
        if path:
            weights.check_checkpoint(Path(path), self.model)
        elif place:
            trained = weights.load(place).state_dict()
            name = self.experiment.name
            weights.check_fits(trained, self.model, f"With these settings {name}'s trained weights are those")
            self.model.load_state_dict(trained)
        else:
            raise UserError(
                f"{self.experiment.name} has no trained weights: run `lab fit {self.experiment.name}`."
            )

    def before_test(self) -> None:
        if self.rewrite and self.config[self.subcommand].get("ckpt_path"):
            raise UserError("A checkpoint has no card: leave --ckpt_path or --card out.")
        self.use_trained_weights()
        self.to_full_precision()

    before_validate = before_test

    def test(self, **kwargs: Any) -> None:
        """Lightning's test; or every metric of the card measured again, and written there."""
        if not self.rewrite:
            self.trainer.test(**kwargs)
            return
        metrics, error = self.measure(DRAWS)
        if self.trainer.is_global_zero:
            assert self.experiment.newest is not None
            seconds = self.seconds
            size = int(len(self.datamodule.test_set) / max(seconds, 1e-3) / 2)  # half a second
            size = min(max(size, SLICE[0]), SLICE[-1])
            parts = {"size": size, **on_a_slice(self.model, self.datamodule, size, self.seed.seed)}
            measured_anew(self.experiment.newest, self.model, metrics, error, parts, seconds)

    def to_full_precision(self) -> None:
        """Measure in float32 what was trained in less; whoever trains in more measures in more."""
        plugin = self.trainer.strategy.precision_plugin
        if isinstance(plugin, MixedPrecision | HalfPrecision):
            self.trainer.strategy.precision_plugin = Precision()
            self.model.float()

    def measure(self, draws: int = 1) -> tuple[dict[str, float], dict[str, float]]:
        """Metrics of validation and test, and their standard errors.

        That of a mean over examples is theirs. Of other metrics it is the standard deviation over `draws`
        (at least two) of what the model draws for them, the split being given; none where nothing is drawn.
        """
        self.to_full_precision()
        found: list[dict[str, float]] = []
        error: dict[str, float] = {}
        meters = {name.replace("_", "/", 1): meter for name, meter in self.model.meters.items()}
        for draw in range(draws):
            self.seed.draw = self.model.draw = draw
            values: dict[str, float] = {}
            for evaluate in (self.trainer.validate, self.trainer.test):
                started = time.monotonic()
                evaluate(self.model, datamodule=self.datamodule, verbose=False)
                self.seconds = time.monotonic() - started  # the test's is the last
                values |= {k: v.item() for k, v in self.trainer.callback_metrics.items()}
            found.append(values)
            if draw == 0:
                own = {k: meters[k].error for k in values if isinstance(meters[k], Mean)}
                error = {k: e for k, e in own.items() if math.isfinite(e)}
            others = [k for k in values if k not in error]
            if (draw == 1 and all(found[0][k] == found[1][k] for k in others)) or not others:
                break
        self.seed.draw = self.model.draw = 0
        if len(found) > 1:
            spread = {k: float(np.std([f[k] for f in found], ddof=1)) for k in others}
            if any(e > 0 for e in spread.values()):
                error |= {k: e for k, e in spread.items() if math.isfinite(e)}
        return found[0], error

    def before_predict(self) -> None:
        if not isinstance(self.model, Predictor | Density):
            raise UserError(
                f"{self.experiment.name} is of class {type(self.model).__name__}, which neither classifies "
                "nor has an exact likelihood: there is nothing to predict."
            )
        self.use_trained_weights()

    def after_predict(self) -> None:
        """Write one row per example of the test split, in its order: the first process, what all found."""
        batches = [torch.as_tensor(p).tolist() for p in self.trainer.predict_loop.predictions]
        shares = [batches]
        if self.trainer.world_size > 1:
            shares = [[] for _ in range(self.trainer.world_size)]
            torch.distributed.all_gather_object(shares, batches)
        if not self.trainer.is_global_zero:
            return
        # of each batch the processes have the examples in turns
        turns = (turn for parts in zip(*shares, strict=True) for turn in zip_longest(*parts))
        predictions = [prediction for turn in turns for prediction in turn if prediction is not None]
        rows: list[dict[str, float]] = [{"example": i, "prediction": p} for i, p in enumerate(predictions)]
        path = runs_folder() / self.experiment.name / "predictions.csv"
        write_csv(path, rows)
        print(f"Saved {path}")

    def finish(self) -> None:
        """Test the best epoch's weights as they will be saved, then save them with their card."""
        config = self.config["fit"]
        # whatever averages weights would put those of the last epoch in the best one's place to validate
        self.trainer.callbacks = [c for c in self.trainer.callbacks if not isinstance(c, WeightAveraging)]  # type: ignore[attr-defined]
        if self.best.best_model_path:
            checkpoint = weights.read_checkpoint(Path(self.best.best_model_path))
            self.model.load_state_dict(checkpoint["state_dict"])
        dtype = getattr(torch, config.save_dtype)
        for tensor in self.model.state_dict().values():
            if tensor.is_floating_point():  # round before the test: the card's numbers are the file's
                tensor.copy_(tensor.to(dtype))
        metrics, error = self.measure()
        if self.trainer.is_global_zero:
            weights.save(self.folder, self.model, self.card(metrics, error), dtype)
            print(
                f"Saved {self.folder}: " + ", ".join(f"{k} {v:.5g}" for k, v in metrics.items()), flush=True
            )

    def card(self, metrics: dict[str, float], error: dict[str, float]) -> dict[str, Any]:
        """What is known of the trained weights."""
        config = dict(self.settings)
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
            "error": error,
            "seeds": [config["seed_everything"]],
            "best": {"monitor": config["monitor"], "value": best.item() if best is not None else None},
            "epochs": epochs,
            "minutes": round(self.record.seconds / 60, 2),
            "hardware": hardware(self.trainer),
            "versions": versions(),
            "date": datetime.now(UTC).date().isoformat(),
        }


def judge_monitor(monitor: str, names: list[str]) -> None:
    """Refuse to wait for a metric that nobody measures."""
    if monitor not in names:
        raise UserError(f"There is no metric {monitor!r} to monitor: choose one of {', '.join(names)}.")


def versions() -> dict[str, str]:
    packages = ("lectern", "torch", "lightning", "torchmetrics", "torch-geometric")
    return {"python": platform.python_version()} | {p: version(p) for p in packages}


def evaluated(model: Module, data: DataModule, seed: int = 0, batches: int | None = None) -> dict[str, float]:
    """What `lab test` says of weights, on this process's CPU: of the test split, or of its first batches."""
    trainer = L.Trainer(
        accelerator="cpu",
        devices=1,
        callbacks=[EpochSeed(seed)],
        limit_test_batches=batches,
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
    )
    trainer.test(model, datamodule=data, verbose=False)
    return {k: v.item() for k, v in trainer.callback_metrics.items()}


def on_a_slice(model: Module, data: DataModule, size: int, seed: int = 0) -> dict[str, float]:
    """What the test says of the first `size` examples of its split alone: cheap to ask of every model again.

    Data that come as one batch, such as a graph, are their own slice.
    """
    before, data.batch_size = data.batch_size, min(data.batch_size, size)
    try:
        return evaluated(model, data, seed, 1)
    finally:
        data.batch_size = before


def measured_anew(
    folder: Path,
    model: Module,
    metrics: dict[str, float],
    error: dict[str, float],
    parts: dict[str, float],
    seconds: float,
) -> None:
    """Write what was measured into the card of `folder`, with date and versions; all else stays.

    Of several seeds the metrics are means: there it goes to those of the seed that ships. An argument that
    is younger than the card and that the recipe sets is added, or the card would build another model.

    Args:
        parts: metrics of a slice, and its size. seconds: that the test took.
    """
    card = weights.read_card(folder)
    place = card.get("shipped", card)
    place["metrics"], place["error"] = place["metrics"] | metrics, error
    card["measured"] = {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions(),
        "seconds": round(seconds, 2),
    }
    card["slice"] = parts
    known, fresh = card["config"]["model"]["init_args"], weights.build(card).hparams
    known |= {k: weights.plain(v) for k, v in model.hparams.items() if k not in known and v != fresh.get(k)}
    files.write(folder / "card.json", weights.as_json(card))
    print(f"Wrote {folder / 'card.json'}", flush=True)


def size_of(name: str) -> Callable[[DataModule], Any]:
    return lambda data: data.sizes.get(name)


def default(model_class: type, name: str) -> Any:
    """What an argument of the constructor is unless it is said, the class's own or one of its bases'."""
    signatures = (
        inspect.signature(vars(c)["__init__"]) for c in model_class.__mro__ if "__init__" in vars(c)
    )
    return next((s.parameters[name].default for s in signatures if name in s.parameters), None)


def sized(config: Any, args: list[str]) -> Callable[..., Module]:
    """What makes the model of a command, of the sizes that its data have.

    Raises:
        ValueError: the data lack one that the model needs, or have another than `args` give.
    """
    names = config.model.class_path, config.data.class_path
    outer, data = (name.rpartition(".")[2] for name in names)
    given = {name for key, _ in settings.pairs(args) for name in LINKED if key.endswith(f".{name}")}

    def make(model_class: type[Module], *args: Any, **kwargs: Any) -> Module:
        # of classes, a model that can do without them is told whether it has them
        needed = (*NEEDED, *(["num_classes"] if kwargs.get("conditional", True) else []))
        for name in kwargs.keys() & set(LINKED) if model_class.__name__ == outer else ():
            found, said = kwargs[name], config.model.init_args.get(name)
            if found is None and name in given:
                kwargs[name] = said
            elif found is None and name in needed and default(model_class, name) is not None:
                raise ValueError(f"{outer} needs {name}, which {data} does not have: choose other data.")
            elif name in given and json.dumps(said) != json.dumps(found):
                raise ValueError(f"{name} is {said}, but {found!s:.60} in {data}: leave it out.")
        return model_class(*args, **kwargs)

    return make


def untried(model: Module, data: DataModule) -> bool:
    """Whether both are ours and no recipe brings them together: that they fit has been said by nobody."""
    pair = tuple(f"{type(part).__module__}.{type(part).__qualname__}" for part in (model, data))
    ours = pair[0].startswith("modules.") and pair[1].startswith("datamodules.")
    return ours and pair not in {(recipe.module, recipe.datamodule) for recipe in catalog().values()}


def misfit(model: Module, data: DataModule) -> str:
    """What to say of a model that can do nothing with the batches of these data."""
    names = [
        name
        for name, recipe in catalog().items()
        if recipe.module == f"{type(model).__module__}.{type(model).__qualname__}"
    ]
    better = f"data like those of {' or '.join(names[:2])}" if names else "other data"
    seen = in_words(next(iter(data.train_dataloader())))
    return f"{type(model).__name__} cannot use batches of {type(data).__name__}, {seen}: take {better}."


def in_words(batch: Any) -> str:
    """What a batch is: "64 × 1 × 8 × 8 numbers and 64 whole numbers"."""
    if isinstance(batch, torch.Tensor):
        kind = "numbers" if batch.is_floating_point() else "whole numbers"
        return " ".join([" × ".join(map(str, batch.shape)), kind])
    return " and ".join(map(in_words, batch)) if isinstance(batch, tuple | list) else "a graph"


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


def seed_folder(folder: Path, seed: int) -> Path:
    """Where one of several seeds of a run is kept."""
    return folder / f"seed-{seed}"


def kept(folder: Path) -> dict[str, Any] | None:
    """The settings that a run was last given; None where none began in `folder`."""
    path = folder / "config.yaml"
    return read_yaml(path) if path.is_file() else None


def announced(checkpoint: Path, settings: dict[str, Any] | None) -> str:
    """What is taken of a folder that is no run of this user's: weights, and the settings beside them."""
    taken = f"{checkpoint} is not of your runs ({runs_folder()}): takes its weights"
    if settings is None:
        return f"{taken}."
    return f"{taken}, and the settings beside it: {', '.join(class_paths(settings))}."


def begin(folder: Path, settings: dict[str, Any], resumed: bool) -> None:
    """Keep the settings of a run that begins or goes on. A card of others is taken away first."""
    if not resumed or kept(folder) != settings:
        (folder / "card.json").unlink(missing_ok=True)
        files.write(folder / "config.yaml", yaml.safe_dump(settings, sort_keys=False).encode())


def is_finished(folder: Path, settings: dict[str, Any]) -> bool:
    """Whether everything that `settings` say was done in `folder`."""
    return (folder / "card.json").is_file() and kept(folder) == settings


def name_changes(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Say which settings of a run that goes on are not those it had."""
    old, new = flat(before), flat(now)
    changes = [
        f"{k} {new.get(k)} instead of {old.get(k)}" for k in {**old, **new} if old.get(k) != new.get(k)
    ]
    if changes:
        print(f"Goes on with {', '.join(changes)}.", flush=True)


def flat(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by their path: `{"trainer.max_epochs": 3}`."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        values |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return values


def class_paths(settings: Any, place: str = "") -> Iterator[str]:
    """Every class that settings name, after its place: "model modules.autoregressive.made.MADE"."""
    if isinstance(settings, dict):
        if "class_path" in settings:
            yield f"{place} {settings['class_path']!s}"
        for name, value in settings.items():
            yield from class_paths(value, f"{place}.{name}".removeprefix(".").replace(".init_args", ""))
    elif isinstance(settings, list):
        for value in settings:
            yield from class_paths(value, place)


def take(lock: filelock.FileLock) -> None:
    """Make a run this process's alone, until `lock` is released or the process is dead.

    Raises:
        UserError: it is another's.
    """
    folder = Path(lock.lock_file).parent
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise UserError(
            f"{folder} is being trained by another process: wait for its end or stop it."
        ) from None


def last_run(name: str) -> Path:
    """The folder of an experiment's newest run.

    Raises:
        UserError: there is none.
    """
    for folder in run_folders(name):
        if kept(folder) or any(folder.glob("**/checkpoints/last*.ckpt")):
            return folder
    raise UserError(f"There is no run of {name}: start one with `lab fit {name}`.")


def last_checkpoint(folder: Path) -> Path | None:
    """A run's last checkpoint, or the one before it; of several seeds that of the first.

    Raises:
        UserError: see `last_kept`.
    """
    seeds = sorted(folder.glob("seed-*"), key=lambda path: (len(path.name), path.name))
    return next(filter(None, map(last_kept, [folder, *seeds])), None)


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


def real(path: str | Path) -> Path:
    """Where a path leads, links followed; one that leads to itself stays as it is."""
    return Path(os.path.realpath(path))


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
        presets = {path.stem: path for path in sorted((CONFIGS / "presets").glob("*.yaml"))}
        if preset not in presets:
            raise UserError(f"There is no preset {preset!r}: choose one of {', '.join(presets)}.")
        configs.append(presets[preset])
    if (checkpoint := take_option(args, "--ckpt_path")) is not None:
        if not checkpoint:
            raise UserError("--ckpt_path is empty: give `last`, or the path of a checkpoint.")
        if checkpoint == "last":
            folder = folder if given else last_run(experiment.name)
            if command != "fit":
                checkpoint = str(last_checkpoint(folder) or folder / "checkpoints" / "last.ckpt")
        origin = folder if checkpoint == "last" else Path(checkpoint).parent.parent
        if checkpoint != "last" and runs_folder() not in real(checkpoint).parents:
            print(announced(Path(checkpoint), kept(origin) if command == "fit" else None), flush=True)
        own = command == "fit" or runs_folder() in real(origin).parents
        if own and kept(origin):  # the settings that it was started with
            configs[:2] = [origin / "config.yaml"]
            args = [*OLDER, *args]
        args = ["--weights_only=true", *args, f"--ckpt_path={checkpoint}"]  # never unpickle what it may hold
    elif command != "fit" and experiment.newest and kept(experiment.newest):  # one's own run, as it was
        configs[:2] = [experiment.newest / "config.yaml"]
        args = [*OLDER, *args]
    if dict(settings.pairs(args)).get("--trainer.logger") in ("CSVLogger", "TensorBoardLogger"):
        args.append(f"--trainer.logger.init_args.save_dir={folder}")
    return folder, [command, *(f"--config={path}" for path in configs), *args]


def run(command: str, experiment: Experiment, args: list[str]) -> None:
    """`lab fit|validate|test|predict <experiment> …`.

    Raises:
        UserError: what the user can mend, in one sentence.
    """
    rewrite = command == "test" and "--card" in args
    args = [arg for arg in args if not (rewrite and arg == "--card")]
    for name in settings.OF_FIT if command != "fit" else ():
        if f"--{name}" in dict(settings.pairs(args)):
            raise UserError(f"`lab {command}` trains nothing: leave --{name} out.")
    trusted = list(iter(lambda: take_option(args, "--trust"), None))
    folder, full = resolve(command, experiment, args)
    before = os.environ.get(RUN_FOLDER)
    os.environ[RUN_FOLDER] = str(folder)  # for the processes that a strategy starts
    lock = filelock.FileLock(folder / "lock")
    try:
        with warnings.catch_warnings(), settings.trusting(trusted):
            warnings.filterwarnings("ignore", module="lightning")  # advice on workers, loggers, sys.argv
            logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
            logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)  # what a profiler found
            cli = LabCLI(experiment, folder, full, lock, rewrite=rewrite)
            if command == "fit" and cli.config.fit.seeds > 1 and not cli.config.fit.trainer.fast_dev_run:
                fit_more_seeds(cli, full)
    except (ArgumentError, MisconfigurationException) as error:
        raise UserError(one_sentence(error, experiment)) from None
    except MissingData as error:
        raise UserError(str(error)) from None
    except OSError as error:
        full_disk = "the disk is full; free some space" if error.errno == errno.ENOSPC else error.strerror
        raise UserError(f"Cannot write {error.filename or folder}: {full_disk or error}.") from error
    finally:
        lock.release(force=True)
        if before is None:
            del os.environ[RUN_FOLDER]
        else:
            os.environ[RUN_FOLDER] = before


def fit_more_seeds(cli: LabCLI, args: list[str]) -> None:
    """Fit the other seeds in folders of their own; keep the weights that validation likes best.

    The card's metrics are means over all seeds, `std` their standard deviations (n - 1).
    """
    settings, folder, resumed = cli.settings, cli.run_folder, cli.config.fit.ckpt_path == "last"
    if resumed and is_finished(folder, settings):
        return
    first, seeds = settings["seed_everything"], settings["seeds"]
    folders = [seed_folder(folder, seed) for seed in range(first, first + seeds)]
    for seed in range(first + 1, first + seeds):
        own = cli.own_settings | {"seed_everything": seed}
        if not (resumed and is_finished(seed_folder(folder, seed), own)):
            LabCLI(cli.experiment, folder, [*args, f"--seed_everything={seed}"], cli.lock, lead=False)
    cards = [weights.read_card(folder) for folder in folders]
    better = min if settings["mode"] == "min" else max
    scores = [card["best"]["value"] for card in cards]
    # where the last epoch ships, or the end came before a validation, no seed is best: the first ships
    best = 0 if None in scores else better(range(seeds), key=scores.__getitem__)
    values = {
        name: torch.tensor([c["metrics"][name] for c in cards], dtype=torch.float64)
        for name in cards[0]["metrics"]
    }
    card = {k: v for k, v in cards[best].items() if k != "error"} | {
        "metrics": {name: v.mean().item() for name, v in values.items()},
        "std": {name: v.std().item() for name, v in values.items()},
        "seeds": list(range(first, first + seeds)),
        "shipped": {"seed": first + best, **{k: cards[best][k] for k in ("metrics", "error")}},
        "minutes": round(sum(c["minutes"] for c in cards), 2),
    }
    files.write(folder / "model.safetensors", (folders[best] / "model.safetensors").read_bytes())
    files.write(folder / "card.json", weights.as_json(card))
    print(
        f"Over {seeds} seeds: "
        + ", ".join(f"{k} {v:.5g} ± {card['std'][k]:.2g}" for k, v in card["metrics"].items())
    )


def one_sentence(error: Exception, experiment: Experiment) -> str:
    """What is wrong with the settings of an experiment."""
    if denied := re.search(r"Importing '([^']*)' is not allowed", str(error)):
        slot = re.search(r'Parser key "([^"]*)"', str(error))
        place = slot[1] if slot else experiment.name
        return f"{place} names {denied[1]!r}, which is no {settings.WANTED}: nothing was run."
    return f"{experiment.name}: {complaints.sentence(error).rstrip('.')}."
