"""Training runs started from the dashboard: start, wait, watch, stop, resume.

A run is a `lab fit` in a process of its own, so it outlives the page that started it. Everything known
of it is in its folder: status.json (process, settings, owner), log.txt, config.yaml, metrics.csv,
checkpoints/, and at its end model.safetensors and card.json. Each of several seeds has such a folder in it.

Each run has two cores to itself, a slot; the others wait. A waiting run is already its process, which
polls until it is first in the queue and can lock a slot, and then becomes the `lab fit`, lock and all: the
system frees the slot when the process ends, however it ends. Waiting runs have a file `queued`.
"""

import csv
import hashlib
import hmac
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import filelock
import psutil

from lab import untrusted
from lab.errors import UserError
from lab.experiments import catalog, has_card, run_folders, runs_folder

State = Literal["queued", "running", "finished", "stopped", "failed", "damaged"]

CORES = 2  # of one run
WAITING = 20  # at most so many runs in the queue
OWN = 4  # of them by one browser
LARGEST = 10.0  # GB of all runs together; $LECTERN_RUNS_GB says otherwise
WAIT = (sys.executable, "-m", "lab.runs")  # what a run is at first
MOST_TURN = 64  # bytes of a place in it
KILLED = 10.0  # seconds that a killed process may live on
SPARE = 1.0  # GB that stay free on the disk


@dataclass(frozen=True)
class Field:
    """A setting that the dashboard may change: where it stands in the experiment's YAML, and its range."""

    path: str
    label: str
    low: float
    high: float
    default: float | None = None  # where the YAML says nothing; None: such an experiment has no such setting

    def fits(self, value: Any) -> bool:
        """Check whether it is a number of the range, whole if the range is."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return self.low <= value <= self.high and (isinstance(self.low, float) or value == int(value))


FIELDS = {
    "epochs": Field("trainer.max_epochs", "Epochs", 1, 10_000, 10),
    "rate": Field("model.init_args.optimizer.init_args.lr", "Learning rate", 1e-6, 10.0),
    "batch": Field("data.init_args.batch_size", "Batch size", 1, 100_000),
    "seed": Field("seed_everything", "Seed", 0, 9999, 0),
}


STATUS: dict[str, type | tuple[type, ...]] = {  # of what kind each entry of status.json is
    "pid": int, "created": (int, float), "began": (int, float), "experiment": str, "overrides": list,
    "owner": str, "stopped": bool,
}  # fmt: skip


def is_status(status: Any) -> bool:
    """Check whether it is what a run writes as its status."""
    if not isinstance(status, dict):
        return False
    if not all(isinstance(value, STATUS.get(name, object)) for name, value in status.items()):
        return False
    options = all(isinstance(option, str) for option in status.get("overrides", []))
    return options and 0 < status.get("pid", 1) < 2**31


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
        """Status written at the start: pid, start time of the process, experiment, overrides, owner."""
        return self.read_status or {}

    @cached_property
    def read_status(self) -> dict[str, Any] | None:
        """The same; {} where none was written, None where the file is none of ours."""
        try:
            status = json.loads(untrusted.read(self.folder / "status.json", untrusted.MOST_JSON))
        except OSError:
            return {}
        except (ValueError, RecursionError, untrusted.Refused):
            return None
        return status if is_status(status) else None

    @property
    def state(self) -> State:
        """Damaged is a run whose status or card is none that a run writes: it is shown, and nothing more."""
        waiting = (self.folder / "queued").is_file()
        if self.read_status is None:
            return "damaged"
        if process_of(self):
            return "queued" if waiting else "running"
        if (self.folder / "card.json").is_file():
            return "finished" if has_card(self.folder) else "damaged"
        if waiting:  # its process ended before its turn came
            return "stopped"
        return "stopped" if self.status.get("stopped") or not self.status else "failed"

    @property
    def training(self) -> Path:
        """Folder into which epochs are written: the run's, or that of the seed which was trained last."""
        seeds = self.folder.glob("seed-*/metrics.csv")
        return max(seeds, key=lambda path: path.stat().st_mtime, default=self.folder / "metrics.csv").parent

    @property
    def metrics(self) -> list[dict[str, float]]:
        """Rows of metrics.csv, one an epoch; a cell without a number is left out, and a row without epoch."""
        rows = [
            {k: v for k, text in row.items() if k and (v := number(text)) is not None}
            for row in read_rows(self.training / "metrics.csv")
        ]
        return [row for row in rows if "epoch" in row]

    @property
    def log(self) -> str:
        """The last 20,000 characters that the run printed."""
        try:
            # a character has four bytes at most
            end = untrusted.read_end(self.folder / "log.txt", 4 * 20_000)
            return end.decode(errors="replace")[-20_000:]
        except OSError:
            return ""

    @property
    def error(self) -> str:
        """The sentence a failed run ended with; "" where none."""
        lines = [line for line in self.log.splitlines() if line.startswith("lab: ")]
        return lines[-1].removeprefix("lab: ") if lines and self.state == "failed" else ""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a metrics.csv, whatever stands in their cells; none where it cannot be read."""
    try:
        text = untrusted.read(path, untrusted.MOST_ROWS).decode(errors="replace")
        return list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, csv.Error, untrusted.Refused):
        return []


def number(text: object) -> float | None:
    """A cell of metrics.csv; None where it has none."""
    try:
        return float(text) if isinstance(text, str) else None
    except ValueError:
        return None


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
    except (KeyError, ValueError, OverflowError, psutil.Error, ChildProcessError):
        return None


def list_runs() -> list[Run]:
    """All runs of all experiments, newest first."""
    root = runs_folder()
    names = [p.name for p in root.iterdir() if p.is_dir()] if root.is_dir() else []
    return sorted(
        (Run(f) for name in names if name[0] != "." for f in run_folders(name)),
        key=lambda r: r.folder.name,
        reverse=True,
    )


# --- Settings and limits --------------------------------------------------------------------------


def settings(experiment: str) -> dict[str, float]:
    """The fields that an experiment has, with its own values.

    Raises:
        UserError: the catalog has no such experiment.
    """
    known = catalog()  # `find` would take the path of any file
    if experiment not in known:
        raise UserError(f"There is no experiment {experiment!r} in the catalog: `lab list` shows all.")
    results = {}
    for name, field in FIELDS.items():
        value: Any = known[experiment].config
        for part in field.path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        value = field.default if value is None else value
        if value is not None:
            results[name] = type(field.low)(value)
    return results


def options(experiment: str, values: Mapping[str, float]) -> list[str]:
    """The options of `lab fit` for what differs from the experiment's own settings.

    Raises:
        UserError: an unknown experiment or field, or a value out of its range.
    """
    own = settings(experiment)
    for name, value in values.items():
        if name not in own:
            raise UserError(f"{experiment} has no setting {name!r}: choose among {', '.join(own)}.")
        field = FIELDS[name]
        if not field.fits(value):
            raise UserError(f"{field.label} runs from {field.low:g} to {field.high:g}, not {value!r}.")
    return [f"--{FIELDS[name].path}={value}" for name, value in values.items() if value != own[name]]


def check_disk_space() -> None:
    """Refuse what would fill the disk.

    Raises:
        UserError: all runs together are too large, or too little of the disk is free.
    """
    root = runs_folder()
    try:
        most = float(os.environ.get("LECTERN_RUNS_GB") or LARGEST)
    except ValueError:
        raise UserError("LECTERN_RUNS_GB is no number: set it to the GB that all runs may take.") from None
    taken = 0
    for place, _, files in os.walk(root):
        for file in files:
            try:
                taken += os.lstat(os.path.join(place, file)).st_size
            except OSError:  # gone meanwhile
                continue
    if taken > most * 1e9:
        raise UserError(
            f"All runs together take {taken / 1e9:.1f} GB, more than the {most:g} GB they may: "
            "delete some of their folders."
        )
    there = next(place for place in (root, *root.parents) if place.is_dir())
    if (free := shutil.disk_usage(there).free) < SPARE * 1e9:
        raise UserError(
            f"The disk has {free / 1e9:.1f} GB left, and {SPARE:g} GB must stay free: make room first."
        )


# --- Who started it -------------------------------------------------------------------------------


def hash_secret(key: str) -> str:
    """Hash that a run keeps of the secret of the browser that started it."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


def is_started_by(run: Run, keys: Iterable[str]) -> bool:
    """Check whether one of these secrets started the run."""
    owner = str(run.status.get("owner", "")).encode(errors="replace")  # of what is no seal, bytes compare too
    return any(hmac.compare_digest(hash_secret(key).encode(), owner) for key in keys)


# --- Start, stop, resume --------------------------------------------------------------------------


def start(experiment: str, values: Mapping[str, float] | None = None, key: str = "") -> Run:
    """Begin to train in the background, or wait for a free slot.

    Args:
        values: by the names of FIELDS; only these can be set.
        key: a secret of who starts it, kept as a digest.

    Raises:
        UserError: an unknown experiment or field, a value out of range, a full queue, no room on the disk.
    """
    overrides = options(experiment, values or {})
    folder = runs_folder() / experiment / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    return launch(Run(folder), experiment, overrides, hash_secret(key))


def resume(run: Run) -> Run:
    """Go on from the run's last checkpoint, in its folder, as soon as a slot is free.

    Raises:
        UserError: the run is still going, or never began; a full queue, no room on the disk.
    """
    run = Run(run.folder)  # what is true now
    going = UserError(f"{run.name} is still running: stop it first.")
    try:
        with filelock.FileLock(run.folder / "resume.lock", timeout=0):  # of two clicks one counts
            if process_of(run) or is_locked(run):
                raise going
            if not (run.folder / "config.yaml").is_file():
                raise UserError(f"{run.name} stopped before its first epoch began: start it again.")
            # of a folder that somebody else wrote too: no option but those that a page may set
            known = tuple(f"--{field.path}=" for field in FIELDS.values())
            overrides = [o for o in run.status.get("overrides", []) if str(o).startswith(known)]
            experiment = run.status.get("experiment", run.experiment)
            return launch(run, experiment, [*overrides, "--ckpt_path=last"], run.status.get("owner", ""))
    except filelock.Timeout:
        raise going from None


def is_locked(run: Run) -> bool:
    """Check whether a process trains in the run's folder, whoever started it."""
    lock = filelock.FileLock(run.folder / "lock", timeout=0)
    try:
        with lock:
            return False
    except filelock.Timeout:
        return True


def stop(run: Run, patience: float = 10.0) -> None:
    """End a running run; its checkpoints stay, so it can be resumed. A waiting one leaves the queue."""
    process = process_of(run)
    if process is None:
        return
    write_status(run, {**run.status, "stopped": True})
    family = [process, *process.children(recursive=True)]
    for p in family:
        p.send_signal(signal.SIGINT)
    for p in wait_for(family, patience):
        p.kill()
    wait_for(family, KILLED)


def wait_for(processes: list[psutil.Process], patience: float) -> list[psutil.Process]:
    """Those of the processes that still work after this many seconds.

    One that has ended and that its parent, perhaps another process than this, has not collected works no
    more: `psutil.wait_procs` would wait for it for ever.
    """
    end = time.monotonic() + patience
    while (working := [p for p in processes if works(p)]) and time.monotonic() < end:
        time.sleep(0.02)
    return working


def works(process: psutil.Process) -> bool:
    """Check whether it has not ended. One that is not collected keeps its locks while a thread of it is
    left."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return process.num_threads() > 1
        return process.is_running()
    except psutil.NoSuchProcess:
        return False


def launch(run: Run, experiment: str, overrides: list[str], owner: str = "") -> Run:
    runs_folder().mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(runs_folder() / ".starting.lock"):  # two readers who press Start at once
        check_disk_space()
        if len(queue()) >= WAITING:
            raise UserError(f"{WAITING} runs are waiting already: start yours when some of them are done.")
        if sum(waiting.status.get("owner") == owner for waiting in queue()) >= OWN:
            raise UserError(f"{OWN} of your runs are waiting already: start more when some of them are done.")
        run.folder.mkdir(parents=True, exist_ok=True)
        (run.folder / "queued").write_text(str(time.time_ns()))  # its turn
        env = {
            "OMP_NUM_THREADS": str(CORES),
            **{name: value for name, value in os.environ.items() if name != "LECTERN_PASSWORD"},
            "LECTERN_RUN_FOLDER": str(run.folder),
            "LECTERN_RUNS": str(runs_folder()),
        }
        with open(run.folder / "log.txt", "a") as log:
            process = subprocess.Popen(
                [*WAIT, experiment, *overrides],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=env,
                start_new_session=True,  # outlives the dashboard
            )
        created = psutil.Process(process.pid).create_time()
        known = {"pid": process.pid, "created": created, "experiment": experiment, "overrides": overrides}
        write_status(run, known | {"owner": owner, "began": time.time()})
    return Run(run.folder)


def write_status(run: Run, status: dict[str, Any]) -> None:
    part = run.folder / "status.part"
    part.write_text(json.dumps(status))
    part.replace(run.folder / "status.json")


# --- The queue ------------------------------------------------------------------------------------


def queue() -> list[Run]:
    """Runs that wait, in the order in which their turn comes."""
    turns = []
    for file in runs_folder().glob("*/*/queued"):
        run = Run(file.parent)
        try:
            turn = int(untrusted.read(file, MOST_TURN))
        except (OSError, ValueError, untrusted.Refused):  # its turn has come, or is being written
            continue
        if process_of(run):
            turns.append((turn, run.name, run))
    return [run for *_, run in sorted(turns)]


def slots() -> int:
    """Number of runs that may go on at once: one per pair of cores."""
    return max(1, (os.cpu_count() or 1) // CORES)


def take_slot(run: Run) -> int:
    """Wait until the run's turn has come and a slot is free; the number of the open file that locks it."""
    import fcntl  # where processes can become others; only a waiting run comes here

    places = [runs_folder() / ".slots" / str(number) for number in range(slots())]
    places[0].parent.mkdir(parents=True, exist_ok=True)
    while (run.folder / "queued").is_file():
        if next(iter(queue()), None) == run:
            for place in places:
                slot = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
                try:
                    fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(slot)
                else:
                    (run.folder / "queued").unlink()
                    return slot
        time.sleep(0.5)
    raise UserError(f"{run.name} was taken out of the queue.")


def main(args: list[str]) -> None:
    """`python -m lab.runs <experiment> <options>`: wait, then become `lab fit` with these arguments."""
    try:
        slot = take_slot(Run(Path(os.environ["LECTERN_RUN_FOLDER"])))
        check_disk_space()  # while it waited, others have written
    except UserError as error:
        sys.exit(f"lab: {error}")
    except KeyboardInterrupt:
        sys.exit("lab: stopped while it waited.")
    os.set_inheritable(slot, True)  # the lock is kept for as long as the process lives
    os.execv(sys.executable, [sys.executable, "-m", "lab", "fit", *args])


if __name__ == "__main__":
    main(sys.argv[1:])
