"""Are the settings of a training sane, and theirs whom the user trusts? Judged before anything is built.

Types are the parser's to judge, and what a constructor says of its own arguments is passed on; here
stands what neither of them knows.
"""

import inspect
import math
import os
import re
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
import yaml
from jsonargparse import Namespace, get_loader, set_loader, set_parsing_settings
from lightning.fabric.plugins import ClusterEnvironment
from lightning.pytorch.accelerators import Accelerator
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import Logger
from lightning.pytorch.plugins import CheckpointIO, LayerSync, Precision
from lightning.pytorch.profilers import Profiler
from lightning.pytorch.strategies import Strategy
from lightning.pytorch.utilities.exceptions import MisconfigurationException
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torchmetrics import Metric

from datamodules.base import DataModule
from lab import renames, untrusted
from lab.errors import UserError
from lab.experiments import read_yaml
from lab.untrusted import MOST_TEXT, check_yaml
from modules.base import Module

TOO_LITTLE = "There is too little memory: take smaller batches, data or a smaller model."
SEEDS = 2**32  # numpy takes seeds below this

build_yaml = get_loader("yaml")


def load_yaml(text: str) -> Any:
    """A YAML of a file or an option, judged before the parser builds it, under present names."""
    check_yaml(text, "A setting")
    return renames.upgrade(build_yaml(text))


set_loader("yaml", load_yaml, (yaml.YAMLError,))

# The parser imports nothing else that a setting names, in whatever place; and a class is only made where one
# is asked for.
set_parsing_settings(
    import_path_denylist=["*"],
    import_path_allowlist=list(untrusted.PACKAGES),
    instantiate_subclass_spec_in_any=False,
)

# What settings may name. That an optimizer's place gets an optimizer is the parser's to judge.
KINDS = (
    Module, DataModule, Optimizer, LRScheduler, Metric, Callback, Logger, Strategy, Accelerator, Profiler,
    Precision, CheckpointIO, ClusterEnvironment, LayerSync,
)  # fmt: skip
WANTED = (
    "class of Lectern, torch, Lightning, torchmetrics or PyG that a setting may name "
    "(a file of your own: --trust FILE.py)"
)
# Where functions are kept that a setting may name (activations, hooks of DDP) or has by default.
FUNCTIONS = (
    "modules",
    "datamodules",
    "torch.nn",
    "torch.optim",
    "torch.distributed.algorithms",
    "lightning.pytorch",
)


@contextmanager
def trusting(files: Sequence[str]) -> Iterator[None]:
    """Inside, settings may name the classes of these files.

    Raises:
        UserError: one is no Python file, or cannot be imported.
    """
    with untrusted.trusting(files) as names:
        set_parsing_settings(import_path_allowlist=names)
        try:
            yield
        finally:
            set_parsing_settings(import_path_denylist=names)


def check_classes(config: Any, where: str = "") -> None:
    """Refuse settings whose values are made by anything but a class of KINDS. Nothing is called.

    Args:
        config: what a YAML holds, or what the parser made of one command.
        where: the place of `config` in all settings: "model.init_args.optimizer".

    Raises:
        UserError: one sentence that names the first place and what stands there.
    """
    if isinstance(config, Namespace):
        config = vars(config)
    if isinstance(config, dict):
        name = config.get("class_path")
        if isinstance(name, str) and "." in name:  # one without is the parser's to find
            untrusted.find_class(name, KINDS, WANTED, where)
        for key, value in config.items():
            check_classes(value, f"{where}.{key}".removeprefix("."))
    elif isinstance(config, list | tuple):
        for value in config:
            check_classes(value, where)
    elif inspect.isroutine(config):
        name = f"{config.__module__}.{config.__qualname__}"
        if not any(name.startswith(f"{place}.") for place in (*FUNCTIONS, *untrusted.TRUSTED)):
            raise UserError(
                f"{where} names {name}, which is no function that settings may have: nothing was run."
            )


def at_least(least: float) -> Callable[[float], bool]:
    return lambda value: least <= value < math.inf


def share_or_count(value: float) -> bool:
    """A share of the batches as 0.1, or their number as 10: never none of them."""
    return value >= 1 if float(value).is_integer() else 0 < value < 1  # the parser may spell 2 as 2.0


# Options of the trainer: what a number must be, in words too. None always leaves it to Lightning.
TRAINER: dict[str, tuple[Callable[[Any], bool], str]] = {
    "min_epochs": (at_least(1), "at least 1"),
    "min_steps": (at_least(1), "at least 1"),
    "limit_train_batches": (share_or_count, "a share above 0 (0.1), or a whole number from 1"),
    "limit_val_batches": (share_or_count, "a share above 0 (0.1), or a whole number from 1"),
    "limit_test_batches": (share_or_count, "a share above 0 (0.1), or a whole number from 1"),
    "limit_predict_batches": (share_or_count, "a share above 0 (0.1), or a whole number from 1"),
    "overfit_batches": (lambda v: v == 0 or share_or_count(v), "0, a share (0.1), or a whole number"),
    "val_check_interval": (share_or_count, "a share above 0 (0.1), or a whole number from 1"),
    "check_val_every_n_epoch": (at_least(1), "at least 1"),
    "num_sanity_val_steps": (at_least(-1), "at least -1"),
    "log_every_n_steps": (at_least(0), "at least 0"),
    "accumulate_grad_batches": (at_least(1), "at least 1"),
    "gradient_clip_val": (lambda v: 0 <= v < 3e38, "at least 0, and below 3e38"),  # float32 holds no more
    "num_nodes": (at_least(1), "at least 1"),
    "reload_dataloaders_every_n_epochs": (at_least(0), "at least 0"),
    "fast_dev_run": (at_least(0), "true, false, or a number of batches"),
}


# Options that have one value here, and why.
FIXED: dict[str, tuple[Any, str]] = {
    "trainer.default_root_dir": (None, "runs are kept in $LECTERN_RUNS"),
    "trainer.model_registry": (None, "weights are kept beside their card"),
    "trainer.use_distributed_sampler": (False, "the data share batches out among processes themselves"),
    "weights_only": (True, "what a checkpoint holds besides weights is never run"),
    "return_predictions": (True, "they are written into predictions.csv"),
}
OF_FIT = ("monitor", "mode", "save_dtype", "seeds")  # what the other commands do not read


def check_settings(config: Any) -> None:
    """Refuse settings that no training can have.

    Args:
        config: what the parser made of one command: `trainer`, `seed_everything`, `seeds`, ...

    Raises:
        UserError: one sentence that names the first setting out of range and what it must be.
    """
    trainer = config.trainer
    if not isinstance(trainer, Namespace):
        raise UserError(f"trainer is {trainer}: give its options by name, or leave it out.")
    for name in ("monitor", "mode", "save_dtype", "seeds", "seed_everything"):
        if config.get(name, "") is None:
            raise UserError(f"{name} is null: give it a value, or leave it out.")
    for name, (fits, wanted) in TRAINER.items():
        value = trainer.get(name)
        if isinstance(value, int | float) and not fits(value):
            raise UserError(f"--trainer.{name} is {value}: it must be {wanted}.")
    for name in ("max_epochs", "max_steps"):
        value = trainer.get(name)
        if value is not None and value < 1 and value != -1:
            raise UserError(
                f"--trainer.{name} is {value}: train at least 1, or -1 for no bound of this kind."
            )
    if isinstance(trainer.max_time, str) and not re.fullmatch(r"\d+:\d\d:\d\d:\d\d", trainer.max_time):
        raise UserError(
            f"--trainer.max_time is {trainer.max_time:.60}: write it as 00:01:30:00, the days first."
        )
    if trainer.max_epochs == -1 and trainer.max_steps == -1 and trainer.max_time is None:
        raise UserError(
            "--trainer.max_epochs is -1, which never ends: set --trainer.max_steps or max_time too."
        )
    if trainer.enable_checkpointing is False or trainer.barebones:
        raise UserError(
            "A training without checkpoints has no best epoch to save: leave checkpointing enabled."
        )
    for name, (value, why) in FIXED.items():
        if config.get(name) not in (value, None):
            raise UserError(f"--{name} is {config[name]!s:.60}: leave it out, {why}.")
    if trainer.gradient_clip_algorithm and not trainer.gradient_clip_val:
        raise UserError(
            "--trainer.gradient_clip_algorithm clips nothing by itself: set --trainer.gradient_clip_val too."
        )
    seed, seeds = config.seed_everything, config.seeds
    if seed is False or not 0 <= seed <= SEEDS - seeds:
        raise UserError(f"--seed_everything is {seed}: it must be a whole number from 0 to {SEEDS - seeds}.")


def resolve_paths(config: Any) -> None:
    """Make the paths of files whole that arguments name, so that a run may be resumed from another folder."""
    for name, value in vars(config).items() if isinstance(config, Namespace) else ():
        if isinstance(value, Namespace):
            resolve_paths(value)
        elif isinstance(value, str) and (Path(value).suffix or os.sep in value):  # not the word "pydocs"
            with suppress(OSError, RuntimeError, ValueError):  # too long, of nobody's home, or no path at all
                if (path := Path(value).expanduser()).is_file():
                    config[name] = os.path.abspath(path)


def check_optimizer(model: Module) -> None:
    """Make the optimizer and its schedule once: torch judges rates, betas, decays and lengths.

    Raises:
        ValueError, TypeError: torch's own words.
    """
    result = model.configure_optimizers()
    if isinstance(result, dict):
        plan = result["lr_scheduler"]
        scheduler, monitor = plan["scheduler"], plan.get("monitor", "")
        if monitor is None:
            raise ValueError("lightning.pytorch.cli.ReduceLROnPlateau is the one that names its `monitor`")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch expects a step of the optimizer first
            try:
                scheduler.step(*([0.0] if monitor else []))
            except ArithmeticError as error:
                raise ValueError(f"{type(scheduler).__name__} cannot take a step: {error}") from error


def check_files(args: Sequence[str]) -> None:
    """Refuse files too large to be settings, and classes of none of KINDS, before the parser reads them.

    Raises:
        UserError: `--config` names no YAML of settings, any option a file beyond MOST_TEXT bytes, or one of
            them a class that settings are not made of.
    """
    for key, value in pairs(args):
        path, place = Path(value), key.lstrip("-").rstrip("+")
        if key in ("--config", "-c"):
            check_classes(read_yaml(path))
        elif place.endswith(".class_path"):
            check_classes({"class_path": value}, place.removesuffix(".class_path"))
        elif "class_path" in value:
            with suppress(yaml.YAMLError):  # the parser's to refuse
                check_classes(load_yaml(value), place)
        if re.fullmatch(r"--data(\.init_args)?\.(path|corpus)", key):
            continue  # data, whose reader knows how much is too much
        try:
            exists = key != "--ckpt_path" and path.exists()
        except (OSError, ValueError):  # too long for a path, or no text that could be one
            continue
        if exists and not path.is_dir() and not (path.is_file() and path.stat().st_size <= MOST_TEXT):
            raise UserError(f"{value} is no file of settings: these have at most {MOST_TEXT:,} bytes.")


def pairs(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`["--a=1", "--b", "2"]` as ("--a", "1"), ("--b", "2")."""
    for before, arg in zip(["", *args], args, strict=False):
        key, equals, value = arg.partition("=")
        yield (key, value) if equals and arg.startswith("-") else (before, arg)


@contextmanager
def constructors(explain: Callable[[Exception], str] = str) -> Iterator[None]:
    """Turn what constructors of model, data, trainer and optimizer say of their arguments into one sentence.

    Args:
        explain: makes the sentence of the error.

    Raises:
        UserError: the constructor's own words.
    """
    try:
        yield
    except (
        ValueError, TypeError, ArithmeticError, LookupError, NotImplementedError, ImportError,
        MisconfigurationException,
    ) as error:  # fmt: skip
        raise UserError(explain(error)) from error
    except MemoryError as error:
        raise UserError(TOO_LITTLE) from error


@contextmanager
def complaints(explain: Callable[[Exception], str] = str) -> Iterator[None]:
    """Turn what model and data say of each other, once data are read and batches come, into one sentence.

    That is a ValueError which our own code raises; where another's code fails, it is a fault of ours, and its
    traceback stays. Too little memory is the user's to mend, whoever found it out, and so is what one of
    Lightning's callbacks misses, which is there because it was asked for, and how often to validate.

    Raises:
        UserError: their own words.
    """
    try:
        yield
    except Exception as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        raiser = str(frame.f_globals.get("__name__"))
        if is_out_of_memory(error):
            raise UserError(TOO_LITTLE) from error
        ours = ("modules", "datamodules", *untrusted.TRUSTED)
        asked = raiser.startswith(
            ("lightning.pytorch.callbacks.", "lightning.pytorch.tuner.", "lightning.pytorch.loops.fit_loop")
        )
        text = isinstance(error, ValueError) and "values to unpack" not in str(error)  # which nobody says
        if (text and raiser.partition(".")[0] in ours) or (asked and error.args):
            raise UserError(explain(error)) from error
        raise


# torch's words, and C++'s, where a tensor of the CPU does not fit
NO_MEMORY = ("can't allocate memory", "bad_alloc")


def is_out_of_memory(error: Exception) -> bool:
    """Check whether it says that memory, of the machine or of its GPU, was not enough."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in NO_MEMORY)
    )
