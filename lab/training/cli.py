"""LightningCLI over one experiment: its parser, its trainer, and what it does before and after."""

import importlib.util
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cached_property, reduce
from itertools import zip_longest
from operator import or_
from pathlib import Path
from typing import Any, Literal, get_args

import filelock
import lightning as L
import numpy as np
import torch
from jsonargparse import Namespace
from jsonargparse.typing import PositiveInt
from lightning.pytorch.accelerators import CPUAccelerator
from lightning.pytorch.callbacks import WeightAveraging
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI
from lightning.pytorch.plugins.precision import HalfPrecision, MixedPrecision, Precision
from lightning.pytorch.strategies import ParallelStrategy

from datamodules.base import DataModule
from datamodules.fetch import MissingData
from lab import complaints, memory, renames, settings, weights
from lab.checkpoints import Checkpoint, SealedIO, last_kept, restore_best
from lab.errors import UserError
from lab.experiments import Experiment, runs_folder
from lab.training.callbacks import ClipsFused, EpochSeed, Record, StopOnNaN, WholeBatch, write_csv
from lab.training.folders import (
    lock_run,
    print_changes,
    save_settings,
    saved_settings,
    seed_folder,
)
from lab.training.measuring import DRAWS, SLICE, evaluate_slice, hardware, update_card, versions
from lab.training.pairing import LINKED, data_size, is_unknown_pair, misfit_message, model_builder
from lab.training.resume import FORMER_OPTIONS
from modules.base import CountModel, Density, Mean, Module, Predictor

SaveDtype = Literal["float16", "bfloat16", "float32", "float64"]

LAST = "last"  # as the monitor: the last epoch ships, as of games that no metric judges

PARSERS: dict[Callable, tuple] = {}  # of each method of the trainer that this process has run

OWN_OPTIONS = """
--preset gpu|ddp|fsdp|nodes: where it runs.  --trust FILE.py, which may be said several times: settings may
name classes of that file.  --ckpt_path last: the newest run's last epoch.  Of `lab test`, --card: measure all
numbers of the card again, and write them there.
"""


def put_int_first(function: Callable[..., Any]) -> None:
    """Let options that may be an int or a float read 1 as an int, so that one batch is not all of them.

    jsonargparse tries types in their order, and `typing` gives `Optional[Union[int, float]]` the order that
    came first in the process, be it that of another library.
    """
    for name, annotation in function.__annotations__.items():
        kinds = get_args(annotation)
        if int in kinds and float in kinds:
            function.__annotations__[name] = reduce(or_, sorted(kinds, key=lambda kind: kind is not int))


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
            put_int_first(L.Trainer.__init__)
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
                "data", f"model.init_args.{name}", compute_fn=data_size(name), apply_on="instantiate"
            )

    def parse_arguments(self, parser: LightningArgumentParser, args: Any) -> None:
        settings.check_files(args)
        super().parse_arguments(parser, args)
        for part in ("model", "data"):
            settings.resolve_paths(
                (self.config[self.config.subcommand].get(part) or Namespace()).get("init_args")
            )
        settings.check_classes(self.config[self.config.subcommand])
        settings.check_settings(self.config[self.config.subcommand])

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
        """All settings of this fit."""
        return self.plain(self.config)

    def plain(self, config: Any) -> dict[str, Any]:
        """Settings of a fit as the parser has read them, as plain values."""
        try:
            config = json.loads(self.parser.dump(config, format="json", skip_none=False))["fit"]
        except ValueError:  # a default of a class of others that is no plain value
            raise UserError(
                "The settings hold what no file can keep: give the classes that they name plain arguments."
            ) from None
        config = renames.upgrade(config)
        return {k: v for k, v in config.items() if k not in ("config", "ckpt_path", "weights_only")}

    @property
    def own_settings(self) -> dict[str, Any]:
        """Settings of this seed alone, as if it were the only one."""
        return self.settings | {"seeds": 1}

    def saved_settings(self, folder: Path) -> dict[str, Any] | None:
        """The settings that a run was last given, as this version saves them: what is younger than the run
        has its default. None where none began in `folder`."""
        before = saved_settings(folder)
        if before is None or before in (self.settings, self.own_settings):
            return before
        config = folder / "config.yaml"
        return self.plain(self.parser.parse_args(["fit", f"--config={config}", *FORMER_OPTIONS]))

    def is_finished(self, folder: Path, settings: dict[str, Any]) -> bool:
        """True if everything that `settings` say was done in `folder`."""
        return (folder / "card.json").is_file() and self.saved_settings(folder) == settings

    def instantiate_classes(self) -> None:
        explain = settings.constructors(lambda error: error_message(error, self.experiment))
        self.parser.add_instantiator(model_builder(self.config[self.subcommand], self.args), Module)
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
            with settings.complaints(lambda error: error_message(error, self.experiment)), self.bounded():
                super()._run_subcommand(subcommand)
        except MissingData:
            raise
        except (RuntimeError, ValueError, TypeError, LookupError, AttributeError) as error:
            read = hasattr(self.datamodule, "train_set")
            if self.trainer.current_epoch or not read or not is_unknown_pair(self.model, self.datamodule):
                raise  # a fault of ours
            raise UserError(misfit_message(self.model, self.datamodule)) from error

    def bounded(self) -> AbstractContextManager[None]:
        """Bound what this process takes by what its machine has left; of a GPU its driver takes care."""
        if not isinstance(self.trainer.accelerator, CPUAccelerator):
            return nullcontext()
        return memory.limited(memory.available() // self.trainer.num_devices)

    def before_fit(self) -> None:
        config = self.config["fit"]
        names = self.model.metric_names("val")
        check_monitor(config.monitor, [*names, LAST])
        for callback in self.trainer.callbacks:  # type: ignore[attr-defined]
            monitor = getattr(callback, "monitor", None)
            if monitor and callback is not self.best and type(self.model).__module__.startswith("modules."):
                check_monitor(monitor, [*names, *self.model.metric_names("train"), "train/loss"])
        with settings.constructors(lambda error: error_message(error, self.experiment)):
            settings.check_optimizer(self.model)
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
            lock_run(self.lock)
        if resumed := ckpt_path == "last":  # killed in its first epoch it begins there again
            ckpt_path = str(last) if (last := last_kept(self.folder)) else None
        if ckpt_path:
            weights.check_checkpoint(Path(ckpt_path), self.model)
        if rehearsal:
            self.trainer.fit(ckpt_path=ckpt_path, **kwargs)
            return
        if first_process:
            if self.lead:
                before = self.saved_settings(
                    self.run_folder if resumed or not ckpt_path else Path(ckpt_path).parent.parent
                )
                if before and (resumed or ckpt_path):
                    print_changes(before, self.settings)
                if not resumed or before != self.settings:
                    save_settings(self.run_folder, self.settings)
            if self.folder != self.run_folder and not (
                resumed and self.saved_settings(self.folder) == self.own_settings
            ):
                save_settings(self.folder, self.own_settings)
        if resumed and self.is_finished(self.folder, self.own_settings):
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
            parts = {"size": size, **evaluate_slice(self.model, self.datamodule, size, self.seed.seed)}
            callbacks = self.experiment.config.get("trainer", {}).get("callbacks")
            update_card(self.experiment.newest, self.model, metrics, error, parts, seconds, callbacks)

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
        results: list[dict[str, float]] = []
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
            results.append(values)
            if draw == 0:
                own = {k: meters[k].error for k in values if isinstance(meters.get(k), Mean)}
                error = {k: e for k, e in own.items() if math.isfinite(e)}
            others = [k for k in values if k not in error]
            if (draw == 1 and all(results[0][k] == results[1][k] for k in others)) or not others:
                break
        self.seed.draw = self.model.draw = 0
        if len(results) > 1:
            spread = {k: float(np.std([f[k] for f in results], ddof=1)) for k in others}
            if any(e > 0 for e in spread.values()):
                error |= {k: e for k, e in spread.items() if math.isfinite(e)}
        return results[0], error

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
        """The card: all that is known of the trained weights."""
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


def check_monitor(monitor: str, names: list[str]) -> None:
    """Refuse to monitor a metric that nobody measures."""
    if monitor not in names:
        raise UserError(f"There is no metric {monitor!r} to monitor: choose one of {', '.join(names)}.")


def error_message(error: Exception, experiment: Experiment) -> str:
    """The sentence on what is wrong with the settings of an experiment."""
    if denied := re.search(r"Importing '([^']*)' is not allowed", str(error)):
        slot = re.search(r'Parser key "([^"]*)"', str(error))
        place = slot[1] if slot else experiment.name
        return f"{place} names {denied[1]!r}, which is no {settings.WANTED}: nothing was run."
    return f"{experiment.name}: {complaints.sentence(error).rstrip('.')}."
