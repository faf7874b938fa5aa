"""A bad file in one run is that run's own: Train, Models and `lab list` show all others."""

import json
import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opening import run_page

from lab import commands, experiments, runs, weights
from lab.checkpoints import last_kept
from lab.errors import UserError
from lab.ui.models.loading import read_history

CARD = {"config": {"model": {"class_path": "modules.x.X"}}, "metrics": {"test/nll": 1.0}}
STATUS: list[Any] = [
    [], 3, None, "x", {"pid": -1, "created": 1.0}, {"pid": 0, "created": 1.0}, {"pid": 2**70, "created": 1.0},
    {"pid": "1", "created": 1.0}, {"pid": 1.5, "created": 1.0}, {"pid": [1]}, {"overrides": 7}, {"owner": []},
    {"overrides": [1]}, {"experiment": {}}, {"stopped": "no"},
]  # fmt: skip
CARDS: list[Any] = [
    {}, [], 0, None, {"config": []}, {"config": {"model": 3}}, CARD | {"metrics": []},
    CARD | {"metrics": {"test/nll": "low"}}, CARD | {"parameters": "many"}, CARD | {"minutes": None},
]  # fmt: skip
METRICS = [
    b"epoch,train/nll\n0,low\n1,0.5\n",
    b"\xff\xfe\x00",
    b"epoch\n\x00\n",
    b"train/nll\n1\n",
    b"a,a\n1,2,3,4\n",
]


@pytest.fixture
def good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> runs.Run:
    """A run that is as it should be, beside which others are damaged."""
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    return put(tmp_path, "20260101-000000", {"overrides": [], "owner": ""}, CARD)


def put(
    root: Path, name: str, status: Any = None, card: Any = None, metrics: bytes = b"epoch\n0\n"
) -> runs.Run:
    folder = root / "made-digits" / name
    folder.mkdir(parents=True)
    (folder / "metrics.csv").write_bytes(metrics)
    for file, what in (("status.json", status), ("card.json", card)):
        if what is not None:
            (folder / file).write_text(what if isinstance(what, str) else json.dumps(what))
    (folder / "model.safetensors").write_bytes(b"weights")
    return runs.Run(folder)


@pytest.mark.parametrize("status", STATUS, ids=repr)
def test_a_status_that_is_none(status: Any, good: runs.Run, tmp_path: Path) -> None:
    bad = put(tmp_path, "20260102-000000", json.dumps(status), CARD)
    assert runs.list_runs() == [bad, good]
    assert (good.state, bad.state) == ("finished", "damaged")
    assert bad.error == "" and not runs.is_started_by(bad, ["key"])
    runs.stop(bad)
    (bad.folder / "queued").write_text("1")
    assert runs.queue() == []


@pytest.mark.parametrize("owner", ["Ü", "\ud800", ""])
def test_an_owner_that_is_no_seal_is_nobody(owner: str, tmp_path: Path) -> None:
    run = put(tmp_path, "20260102-000000", {"owner": owner})
    assert not runs.is_started_by(run, ["key", owner])


@pytest.mark.parametrize("card", CARDS, ids=repr)
def test_a_card_that_is_none(card: Any, good: runs.Run, tmp_path: Path, capsys: Any) -> None:
    bad = put(tmp_path, "20260102-000000", {"owner": ""}, json.dumps(card))
    assert (good.state, bad.state) == ("finished", "damaged")
    assert [*experiments.find("made-digits").weight_folders()][1:] == [good.folder]
    commands.list_(["--json"])
    assert any(row["name"] == "made-digits" for row in json.loads(capsys.readouterr().out))


def test_the_list_is_json_where_a_likelihood_is_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    run = put(tmp_path, "20260102-000000", card=CARD | {"metrics": {"test/nll": math.inf, "test/acc": 0.5}})
    run.folder.parent.rename(tmp_path / "pix2pix-digits")  # of which no weights ship
    commands.list_(["--json"])
    rows = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    (metrics,) = (row["metrics"] for row in rows if row["name"] == "pix2pix-digits")
    assert metrics == {"test/nll": None, "test/acc": 0.5}


@pytest.mark.parametrize("metrics", METRICS)
def test_metrics_that_are_none(metrics: bytes, good: runs.Run, tmp_path: Path) -> None:
    bad = put(tmp_path, "20260102-000000", metrics=metrics)
    assert good.metrics == [{"epoch": 0.0}]
    assert all("epoch" in row and all(isinstance(v, float) for v in row.values()) for row in bad.metrics)
    curves = read_history(bad.folder)
    assert not curves or all(isinstance(v, float) for v in curves["epoch"])


def test_train_shows_the_others_and_marks_it(good: runs.Run, tmp_path: Path) -> None:
    put(tmp_path, "20260102-000000", "[]", {}, METRICS[0])
    put(tmp_path, "20260103-000000", {"pid": -1, "created": 1.0}, None, METRICS[1])
    for run in ("", "made-digits/20260102-000000", "made-digits/20260103-000000", good.name):
        page = run_page("train", **({"run": run} if run else {}))
        assert not page.exception and not page.error
        words = " ".join(e.value for e in page.markdown)
        assert not run or ("damaged" in words) == (run != good.name)
    page = run_page("models")
    assert not page.exception and not page.error


# --- The last checkpoint ----------------------------------------------------------------------------


def test_without_its_last_checkpoint_the_one_before_goes_on(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    assert last_kept(tmp_path) is None  # no epoch has ended
    (folder / "best.ckpt").touch()
    assert last_kept(tmp_path) is None  # killed between the saves of its first epoch
    assert "last.ckpt was never written" in capsys.readouterr().out
    (folder / "best-older.ckpt").touch()
    with pytest.raises(UserError, match=r"last\.ckpt is missing, though best\.ckpt is there: .*--ckpt_path "):
        last_kept(tmp_path)
    (folder / "last-older.ckpt").touch()
    assert last_kept(tmp_path) == folder / "last-older.ckpt"
    assert "last.ckpt is missing: takes last-older.ckpt" in capsys.readouterr().out
    (folder / "last.ckpt").touch()
    assert last_kept(tmp_path) == folder / "last.ckpt" and not capsys.readouterr().out


MADE = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a hole of 16 GiB": lambda path: (path.touch(), os.truncate(path, 2**34)),
}


@pytest.fixture
def impatient() -> Iterator[None]:
    """Whoever waits for a pipe fails the test."""

    def wake(*_: Any) -> None:
        raise AssertionError("it waits for what never comes")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("impatient", "little_memory")
@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize(
    "name", ["status.json", "metrics.csv", "card.json", "model.safetensors", "log.txt", "queued"]
)
def test_a_file_that_is_none(name: str, kind: str, good: runs.Run, tmp_path: Path, capsys: Any) -> None:
    bad = put(tmp_path, "20260102-000000", {"owner": ""}, CARD)
    (bad.folder / name).unlink(missing_ok=True)
    MADE[kind](bad.folder / name)
    assert runs.list_runs() == [bad, good] and good.state == "finished"
    assert bad.state in ("finished", "damaged", "failed", "stopped")
    assert all("epoch" in row for row in bad.metrics) and runs.queue() == []
    assert isinstance(bad.log, str) and isinstance(bad.error, str)
    assert isinstance(read_history(bad.folder), dict)
    assert good.folder in [*experiments.find("made-digits").weight_folders()]
    commands.list_(["--json"])
    assert any(row["name"] == "made-digits" for row in json.loads(capsys.readouterr().out))
    with pytest.raises(UserError):
        weights.load(bad.folder)
