"""`lab fit`, `validate`, `test` and `predict`."""

import errno
import logging
import os
import warnings
from argparse import ArgumentError

import filelock
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from datamodules.fetch import MissingData
from lab import settings
from lab.errors import UserError
from lab.experiments import Experiment
from lab.training.cli import LabCLI, error_message
from lab.training.folders import RUN_FOLDER
from lab.training.resume import resolve_arguments, take_option
from lab.training.seeds import fit_more_seeds


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
    folder, full = resolve_arguments(command, experiment, args)
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
        raise UserError(error_message(error, experiment)) from None
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
