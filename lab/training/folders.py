"""A run's folder: its settings, its lock, its seeds, its last checkpoint."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import filelock
import yaml

from lab import files
from lab.checkpoints import last_kept
from lab.errors import UserError
from lab.experiments import read_yaml, run_folders, runs_folder

RUN_FOLDER = "LECTERN_RUN_FOLDER"  # environment: the folder of this very run


def new_run_folder(name: str) -> Path:
    """A fresh folder for a run: all processes of one job agree on it."""
    job = os.environ.get("SLURM_JOB_ID") or os.environ.get("TORCHELASTIC_RUN_ID")
    if job:
        return runs_folder() / name / f"job-{job}"
    time_ = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    return runs_folder() / name / time_


def seed_folder(folder: Path, seed: int) -> Path:
    """The folder of one of several seeds of a run."""
    return folder / f"seed-{seed}"


def saved_settings(folder: Path) -> dict[str, Any] | None:
    """The settings that a run was last given; None where none began in `folder`."""
    path = folder / "config.yaml"
    return read_yaml(path) if path.is_file() else None


def save_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Keep the settings of a run that begins, or goes on with others. A card of others is taken away."""
    (folder / "card.json").unlink(missing_ok=True)
    files.write(folder / "config.yaml", yaml.safe_dump(settings, sort_keys=False).encode())


def print_changes(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Print which settings of a run that goes on are not those it had."""
    old, new = flatten(before), flatten(now)
    changes = [
        f"{k} {new.get(k)} instead of {old.get(k)}" for k in {**old, **new} if old.get(k) != new.get(k)
    ]
    if changes:
        print(f"Goes on with {', '.join(changes)}.", flush=True)


def flatten(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by their path: `{"trainer.max_epochs": 3}`."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        values |= flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
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


def lock_run(lock: filelock.FileLock) -> None:
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
        if saved_settings(folder) or any(folder.glob("**/checkpoints/last*.ckpt")):
            return folder
    raise UserError(f"There is no run of {name}: start one with `lab fit {name}`.")


def last_checkpoint(folder: Path) -> Path | None:
    """A run's last checkpoint, or the one before it; of several seeds that of the first.

    Raises:
        UserError: see `last_kept`.
    """
    seeds = sorted(folder.glob("seed-*"), key=lambda path: (len(path.name), path.name))
    return next(filter(None, map(last_kept, [folder, *seeds])), None)
