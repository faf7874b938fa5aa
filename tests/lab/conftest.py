"""A small trained model to damage, and runs that go to a folder of their own."""

from pathlib import Path

import pytest

from lab.__main__ import main

SMALL = [
    "--model.init_args.hidden=[8]",
    "--trainer.max_epochs=1",
    "--trainer.limit_train_batches=2",
    "--data.init_args.batch_size=64",
]


@pytest.fixture(autouse=True)
def own_runs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own empty `runs` folder."""
    folder = tmp_path_factory.mktemp("runs")
    monkeypatch.setenv("LECTERN_RUNS", str(folder))
    monkeypatch.delenv("LECTERN_RUN_FOLDER", raising=False)
    return folder


@pytest.fixture
def trained(own_runs: Path) -> Path:
    """The folder of a finished run of made-digits, made small."""
    assert main(["fit", "made-digits", *SMALL]) == 0
    return next(own_runs.glob("made-digits/*/model.safetensors")).parent


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on standard error."""
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("lab: ")]
    assert len(lines) == 1, lines
    return lines[0]
