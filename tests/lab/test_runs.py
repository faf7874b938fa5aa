"""Runs in the background: they wait, outlive their starter, stop, resume, and say why they failed."""

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import filelock
import psutil
import pytest

from lab import runs
from lab.errors import UserError

ENDLESS = {"epochs": 2000, "batch": 512}


def wait(condition, seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the run did not get there"
        time.sleep(0.1)


@pytest.fixture(autouse=True)
def ended(own_runs: Path):
    """No run outlives its test."""
    yield
    for run in runs.list_runs():
        runs.stop(run, patience=5)


@pytest.mark.heavy
def test_start_stop_resume_finish(own_runs: Path) -> None:
    run = runs.start("made-digits", ENDLESS, key="mine")
    wait(lambda: len(run.metrics) > 2 and (run.folder / "checkpoints" / "last.ckpt").is_file())
    assert run.state == "running" and run.name in [r.name for r in runs.list_runs()]
    again = runs.Run(run.folder)  # what a reloaded page sees
    assert again.state == "running"
    with pytest.raises(UserError, match="still running"):
        runs.resume(again)
    runs.stop(again)
    assert runs.Run(run.folder).state == "stopped"
    epochs = len(run.metrics)
    status = runs.Run(run.folder).status
    overrides = [*status["overrides"], f"--trainer.max_epochs={epochs + 2}"]
    runs.write_status(run, {**status, "overrides": overrides})
    resumed = runs.resume(runs.Run(run.folder))
    wait(lambda: resumed.state not in ("queued", "running"))
    assert resumed.state == "finished", resumed.log
    assert resumed.folder == run.folder
    assert [row["epoch"] for row in resumed.metrics] == list(range(len(resumed.metrics)))
    assert len(resumed.metrics) == epochs + 2
    assert runs.is_started_by(resumed, ["mine"]) and not runs.is_started_by(resumed, ["another", ""])


def test_a_failed_run_says_why(own_runs: Path) -> None:
    folder = own_runs / "made-digits" / "20260101-000000"
    run = runs.launch(runs.Run(folder), "made-digits", ["--model.init_args.order=sideways"])
    wait(lambda: run.state not in ("queued", "running"))
    assert run.state == "failed" and "sideways" in run.error
    with pytest.raises(UserError, match="before its first epoch began"):
        runs.resume(run)


@pytest.mark.parametrize("lock", ["lock", "resume.lock"])
def test_a_run_that_another_process_has_is_not_resumed(lock: str, own_runs: Path) -> None:
    """A terminal trains it, or another click is about to."""
    run = runs.Run(own_runs / "made-digits" / "20260101-000000")
    run.folder.mkdir(parents=True)
    (run.folder / "config.yaml").write_text("trainer: {max_epochs: 1}")
    with filelock.FileLock(run.folder / lock), pytest.raises(UserError, match="still running"):
        runs.resume(run)
    assert not run.status


# --- What may be started --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["made-digts", "../made-digits", "/etc/passwd", "own.yaml", "", "."])
def test_only_experiments_of_the_catalog_are_started(own_runs: Path, name: str) -> None:
    with pytest.raises(UserError, match="catalog"):
        runs.start(name)
    assert not list(own_runs.iterdir())


@pytest.mark.parametrize(
    ("field", "value"),
    [("epochs", 0), ("epochs", 10_001), ("epochs", 2.5), ("epochs", "3"), ("epochs", True), ("epochs", None),
     ("rate", 0.0), ("rate", -1.0), ("rate", float("nan")), ("rate", float("inf")), ("batch", 10**20),
     ("seed", -1), ("model.class_path", "os.system"), ("--config", "x.yaml"), ("", 1)],
)  # fmt: skip
def test_only_known_fields_within_their_range_are_taken(own_runs: Path, field: str, value: object) -> None:
    with pytest.raises(UserError) as refused:
        runs.start("made-digits", {field: value})
    assert "\n" not in str(refused.value) and not list(own_runs.iterdir())


def test_fields_become_options_and_fit_every_experiment() -> None:
    own = runs.settings("made-digits")
    assert runs.options("made-digits", own) == []
    assert runs.options("made-digits", {"epochs": 3, "rate": 0.01, "seed": 7}) == [
        "--trainer.max_epochs=3", "--model.init_args.optimizer.init_args.lr=0.01", "--seed_everything=7",
    ]  # fmt: skip
    assert "rate" not in runs.settings("table-bars") and "batch" not in runs.settings("gcn-karate")
    for name in runs.catalog():
        assert all(runs.FIELDS[field].fits(value) for field, value in runs.settings(name).items()), name


def test_a_full_folder_and_a_full_disk_get_a_sentence(
    own_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_runs / "made-digits").mkdir()
    (own_runs / "made-digits" / "large").write_bytes(bytes(2_000_000))
    monkeypatch.setenv("LECTERN_RUNS_GB", "0.001")
    with pytest.raises(UserError, match=r"0\.0 GB, more than the 0\.001 GB"):
        runs.start("made-digits")
    monkeypatch.setenv("LECTERN_RUNS_GB", "much")
    with pytest.raises(UserError, match="no number"):
        runs.start("made-digits")
    monkeypatch.delenv("LECTERN_RUNS_GB")
    monkeypatch.setattr(runs, "SPARE", 1e9)
    with pytest.raises(UserError, match="must stay free"):
        runs.start("made-digits")
    assert not list(own_runs.glob("made-digits/2*"))


# --- The queue ------------------------------------------------------------------------------------


@pytest.fixture
def one_slot(own_runs: Path, monkeypatch: pytest.MonkeyPatch):
    """The only slot, held by this test until it closes the file."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert runs.slots() == 1
    monkeypatch.setattr(runs, "WAIT", (sys.executable, "-c", WAITER))
    (own_runs / ".slots").mkdir()
    with open(own_runs / ".slots" / "0", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


# A waiting run as it is, but for one pair of cores and for what it becomes: it says its name and sleeps.
WAITER = """
import os, sys
from lab import runs
os.cpu_count = lambda: 2
become = os.execv
train = "import time; print('mine', flush=True); time.sleep(600)"
os.execv = lambda path, args: become(path, [path, "-c", train])
runs.main(sys.argv[1:])
"""


@pytest.mark.heavy
def test_runs_wait_for_a_slot_in_turn(own_runs: Path, one_slot) -> None:
    first, second, third = (runs.start("made-digits", {"seed": seed}) for seed in (1, 2, 3))
    assert runs.queue() == [first, second, third]
    assert [run.state for run in (first, second, third)] == ["queued"] * 3
    result = subprocess.run(  # another process sees the same
        [sys.executable, "-c", "from lab import runs; print([r.name for r in runs.queue()])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.strip() == str([first.name, second.name, third.name])
    runs.stop(second)  # one that waits leaves the queue
    assert runs.queue() == [first, third] and runs.Run(second.folder).state == "stopped"
    one_slot.close()
    wait(lambda: "mine" in first.log)
    assert first.state == "running" and runs.queue() == [third]
    time.sleep(1.2)  # the others have looked again meanwhile
    assert third.state == "queued" and not third.log
    runs.stop(first, patience=2)
    wait(lambda: "mine" in third.log)
    assert third.state == "running" and not runs.queue()


def test_the_queue_has_an_end(own_runs: Path, one_slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WAITING", 1)
    first = runs.start("made-digits")
    with pytest.raises(UserError, match="1 runs are waiting"):
        runs.start("made-digits")
    assert runs.queue() == [first] and len(runs.list_runs()) == 1


def test_one_browser_does_not_fill_the_queue(
    own_runs: Path, one_slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "OWN", 1)
    first = runs.start("made-digits", key="mine")
    with pytest.raises(UserError, match="1 of your runs are waiting"):
        runs.start("made-digits", key="mine")
    second = runs.start("made-digits", key="another's")
    assert runs.queue() == [first, second]


def test_a_run_whose_process_ended_in_the_queue_is_passed_over(own_runs: Path, one_slot) -> None:
    first, second = runs.start("made-digits"), runs.start("made-digits")
    runs.process_of(first).kill()
    wait(lambda: first.state == "stopped")
    assert runs.queue() == [second]


# starts a process, says its number, and does not collect it
CARELESS = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def test_a_run_that_another_process_started_and_does_not_collect_is_stopped(own_runs: Path) -> None:
    run = runs.Run(own_runs / "made-digits" / "20260101-000000")
    run.folder.mkdir(parents=True)
    parent = subprocess.Popen([sys.executable, "-c", CARELESS], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        runs.write_status(run, {"pid": child.pid, "created": child.create_time()})
        assert runs.process_of(run) == child
        runs.stop(run, patience=5)
        assert child.status() == psutil.STATUS_ZOMBIE and runs.process_of(run) is None
    finally:
        parent.kill()
        parent.communicate()


def test_the_password_is_not_handed_on(own_runs: Path, one_slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_PASSWORD", "secret")
    run = runs.start("made-digits", key="key of a browser")
    environment, end = b"", time.monotonic() + 20
    while not environment and time.monotonic() < end:  # none is to be read while it becomes another program
        environment = Path(f"/proc/{run.status['pid']}/environ").read_bytes()
    assert b"LECTERN_RUN_FOLDER" in environment and b"secret" not in environment
    assert "key of a browser" not in json.dumps(run.status)


def test_a_recycled_process_number_is_not_taken_for_the_run(own_runs: Path) -> None:
    run = runs.Run(own_runs / "made-digits" / "20200101-000000")
    run.folder.mkdir(parents=True)
    runs.write_status(run, {"pid": os.getpid(), "created": 1.0, "experiment": "made-digits", "overrides": []})
    assert run.state == "failed"
    runs.stop(run)  # must not touch this very process
