"""Runs in the background: they outlive their starter, stop, resume, and say why they failed."""

import time
from pathlib import Path

import pytest

from lab import runs
from lab.errors import UserError


def wait(condition, seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the run did not get there"
        time.sleep(0.1)


def test_start_stop_resume_finish(own_runs: Path) -> None:
    options = ["--model.init_args.hidden=[8]", "--trainer.max_epochs=2000", "--data.init_args.batch_size=64"]
    run = runs.start("made-digits", options)
    wait(lambda: len(run.metrics) > 2 and (run.folder / "checkpoints" / "last.ckpt").is_file())
    assert run.state == "running" and run.name in [r.name for r in runs.list_runs()]
    again = runs.Run(run.folder)  # what a reloaded page sees
    assert again.state == "running"
    with pytest.raises(UserError, match="still running"):
        runs.resume(again)
    runs.stop(again)
    assert runs.Run(run.folder).state == "stopped"
    epochs = len(run.metrics)
    runs.write_status(
        run, {**runs.Run(run.folder).status, "overrides": [*options, f"--trainer.max_epochs={epochs + 2}"]}
    )
    resumed = runs.resume(runs.Run(run.folder))
    wait(lambda: resumed.state != "running")
    assert resumed.state == "finished", resumed.log
    assert resumed.folder == run.folder
    assert [row["epoch"] for row in resumed.metrics] == list(range(len(resumed.metrics)))
    assert len(resumed.metrics) == epochs + 2


def test_a_failed_run_says_why() -> None:
    run = runs.start("made-digits", ["--model.init_args.order=sideways"])
    wait(lambda: run.state != "running")
    assert run.state == "failed" and "sideways" in run.error
    with pytest.raises(UserError, match="before its first epoch"):
        runs.resume(run)


def test_unknown_experiments_are_not_started(own_runs: Path) -> None:
    with pytest.raises(UserError, match="made-digits"):
        runs.start("made-digts")
    assert not list(own_runs.iterdir())


def test_a_recycled_process_number_is_not_taken_for_the_run(own_runs: Path) -> None:
    import os

    run = runs.Run(own_runs / "made-digits" / "20200101-000000")
    run.folder.mkdir(parents=True)
    runs.write_status(run, {"pid": os.getpid(), "created": 1.0, "experiment": "made-digits", "overrides": []})
    assert run.state == "failed"
    runs.stop(run)  # must not touch this very process
