"""Training runs started from the dashboard: start, watch, stop, resume.

A run is a `lab fit` in a process of its own, so it outlives the page that started it. Everything known
of it is in its folder: status.json (process), log.txt, metrics.csv, checkpoints/, and at its end
model.safetensors and card.json.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import psutil

from lab.errors import UserError
from lab.experiments import find, run_folders, runs_folder

State = Literal["running", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class Run:
    """One folder `runs/<experiment>/<time>/`."""

    folder: Path

    @property
    def experiment(self) -> str:
        return self.folder.parent.name

    @property
    def name(self) -> str:
        """`<experiment>/<time>`: how a page refers to the run."""
        return f"{self.experiment}/{self.folder.name}"

    @cached_property
    def status(self) -> dict[str, Any]:
        """What was written at the start: pid, start time of the process, experiment, overrides."""
        try:
            return json.loads((self.folder / "status.json").read_text())
        except (OSError, ValueError):
            return {}

    @property
    def state(self) -> State:
        if process_of(self):
            return "running"
        if (self.folder / "card.json").is_file():
            return "finished"
        return "stopped" if self.status.get("stopped") or not self.status else "failed"

    @property
    def metrics(self) -> list[dict[str, float]]:
        """Rows of metrics.csv, one an epoch; a cell without a number is left out."""
        try:
            with open(self.folder / "metrics.csv", newline="") as file:
                return [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(file)]
        except OSError:
            return []

    @property
    def log(self) -> str:
        """The last 20,000 characters that the run printed."""
        try:
            return (self.folder / "log.txt").read_text(errors="replace")[-20_000:]
        except OSError:
            return ""

    @property
    def error(self) -> str:
        """The sentence a failed run ended with; "" where none."""
        lines = [line for line in self.log.splitlines() if line.startswith("lab: ")]
        return lines[-1].removeprefix("lab: ") if lines and self.state == "failed" else ""


def process_of(run: Run) -> psutil.Process | None:
    """The run's live process. A recycled process number is told apart by its start time."""
    try:
        process = psutil.Process(run.status["pid"])
        if process.create_time() != run.status["created"]:
            return None
        if process.status() == psutil.STATUS_ZOMBIE:  # ended, and started by this very process: collect it
            os.waitpid(process.pid, os.WNOHANG)
            return None
        return process
    except (KeyError, psutil.Error, ChildProcessError):
        return None


def list_runs() -> list[Run]:
    """All runs of all experiments, newest first."""
    root = runs_folder()
    names = [p.name for p in root.iterdir() if p.is_dir()] if root.is_dir() else []
    return sorted(
        (Run(f) for name in names for f in run_folders(name)), key=lambda r: r.folder.name, reverse=True
    )


def start(experiment: str, overrides: Sequence[str] = ()) -> Run:
    """Begin `lab fit <experiment> <overrides>` in the background.

    Raises:
        UserError: no such experiment.
    """
    find(experiment)
    folder = runs_folder() / Path(experiment).stem / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    return launch(Run(folder), experiment, list(overrides))


def resume(run: Run) -> Run:
    """Go on from the run's last checkpoint, in its folder.

    Raises:
        UserError: the run is still going, or has no checkpoint yet.
    """
    if process_of(run):
        raise UserError(f"{run.name} is still running: stop it first.")
    if not (run.folder / "checkpoints" / "last.ckpt").is_file():
        raise UserError(f"{run.name} stopped before its first epoch ended: start it again.")
    overrides = [o for o in run.status.get("overrides", []) if not o.startswith("--ckpt_path")]
    return launch(run, run.status.get("experiment", run.experiment), [*overrides, "--ckpt_path=last"])


def stop(run: Run, patience: float = 10.0) -> None:
    """End a running run; its checkpoints stay, so it can be resumed."""
    process = process_of(run)
    if process is None:
        return
    write_status(run, {**run.status, "stopped": True})
    family = [process, *process.children(recursive=True)]
    for p in family:
        p.send_signal(signal.SIGINT)
    _, alive = psutil.wait_procs(family, timeout=patience)
    for p in alive:
        p.kill()
    psutil.wait_procs(alive)  # a killed process may live on for a moment


def launch(run: Run, experiment: str, overrides: list[str]) -> Run:
    run.folder.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "LECTERN_RUN_FOLDER": str(run.folder), "LECTERN_RUNS": str(runs_folder())}
    with open(run.folder / "log.txt", "a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab", "fit", experiment, *overrides],
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=env,
            start_new_session=True,  # outlives the dashboard
        )
    created = psutil.Process(process.pid).create_time()
    write_status(
        run,
        {
            "pid": process.pid,
            "created": created,
            "experiment": experiment,
            "overrides": overrides,
            "began": time.time(),
        },
    )
    return Run(run.folder)


def write_status(run: Run, status: dict[str, Any]) -> None:
    part = run.folder / "status.part"
    part.write_text(json.dumps(status))
    part.replace(run.folder / "status.json")
