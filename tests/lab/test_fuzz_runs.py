"""Files of a run, and files that readers bring, changed at random: one sentence, and the other runs stand."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opening import run_page
from test_fuzz_files import HOSTILE, flipped, places, put

from datamodules import sheet
from lab import checkpoints, commands, experiments, runs, weights
from lab.__main__ import main
from lab.errors import UserError
from lab.ui.background import training_runs
from lab.ui.models import loading
from tests.lab.conftest import SMALL

pytestmark = pytest.mark.fuzz
FILES = {50: 50, 100: 50, 10_000: 2000}[settings().max_examples]  # of each kind
PAGES = 25  # every so many of a run's files are looked at on Train and Models too
STATES = {"stopped", "finished", "failed", "damaged"}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> runs.Run:
    """A finished run beside which another one is damaged."""
    root = tmp_path_factory.mktemp("stands")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LECTERN_RUNS", str(root))
        assert main(["fit", "made-digits", *SMALL, "--trainer.max_epochs=2"]) == 0
    (path,) = root.glob("made-digits/*/card.json")
    status = {"pid": 2**22 + 5, "created": 1.0, "experiment": "made-digits", "overrides": [], "owner": ""}
    (path.parent / "status.json").write_text(json.dumps(status))
    return runs.Run(path.parent)


@st.composite
def damage(draw: st.DrawFn, data: bytes) -> bytes:
    """The file with bytes or, where it is JSON, a value of it changed."""
    try:
        tree = json.loads(data)
    except ValueError:
        return draw(st.one_of(flipped(data), st.binary(max_size=40), st.just(b"")))
    if draw(st.booleans()):
        return draw(flipped(data))
    return json.dumps(put(tree, draw(st.sampled_from(places(tree))), draw(HOSTILE))).encode()


NAMES = "status.json", "metrics.csv", "config.yaml", "card.json", "model.safetensors", "checkpoints/last.ckpt"


@given(draw=st.data())
@settings(max_examples=FILES)
def test_a_file_of_a_run(good: runs.Run, draw: st.DataObject, monkeypatch: pytest.MonkeyPatch) -> None:
    root = good.folder.parents[1]
    monkeypatch.setenv("LECTERN_RUNS", str(root))
    folder = good.folder.with_name("29990101-000000")  # the newest: asked for first
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good.folder, folder)
    try:
        name = draw.draw(st.sampled_from(NAMES))
        path = folder / name
        path.write_bytes(draw.draw(damage(path.read_bytes())))
        if draw.draw(st.integers(0, 9)) == 0:
            (folder / "card.json").unlink()  # it has not ended
        bad = runs.Run(folder)
        assert runs.list_runs() == [bad, runs.Run(good.folder)]
        assert runs.Run(good.folder).state == "finished" and bad.state in STATES
        assert all(isinstance(v, float) and "epoch" in row for row in bad.metrics for v in row.values())
        assert isinstance(bad.log, str) and isinstance(bad.error, str) and runs.queue() == []
        assert not runs.is_started_by(bad, ["key"])
        assert all(isinstance(v, float) for c in loading.read_history(folder).values() for v in c)
        entry = experiments.find("made-digits")
        assert good.folder in entry.weight_folders() and entry.summary()
        last = folder / "checkpoints" / "last.ckpt"
        for ask in (weights.load, training_runs.rebuild, weights.read_checkpoint):
            try:
                ask(folder if ask is weights.load else last)
            except UserError as error:
                assert str(error).strip() and "Traceback" not in str(error)
        assert checkpoints.last_kept(folder) == last
        if draw.draw(st.integers(0, PAGES)) == 0:
            shown(bad)
    finally:
        shutil.rmtree(folder)


def shown(bad: runs.Run) -> None:
    """What pages and the list say of it."""
    commands.list_(["--json"])
    for page, link in (("train", {"run": bad.name}), ("train", {}), ("models", {"model": bad.name})):
        result = run_page(page, **link)
        assert not result.exception and not result.error, [*result.exception, *result.error]


@given(draw=st.data())
@settings(max_examples=FILES)
def test_a_checkpoint_to_go_on_from(good: runs.Run, draw: st.DataObject, tmp_path: Path, capsys: Any) -> None:
    """It is refused by its digest, or whole."""
    path = tmp_path / "own.ckpt"
    data = (good.folder / "checkpoints" / "last.ckpt").read_bytes()
    path.write_bytes(changed := draw.draw(flipped(data)))
    try:
        weights.read_checkpoint(path)
    except UserError as error:
        assert str(error).strip() and "Traceback" not in str(error)
    else:
        assert changed == data


TABLES = [
    '"","width","kind"\n"1",5.1,"a"\n"2",4.9,"b"\n', "sep=;\nGröße;x\n1,5;2\n2,25;-3\n;4\n",
    "month\tsales\n2020-01\t266.0\n2020-02\t145.9\n2020-03\t\n", "1 2\n3 4\n5 6\n", "x\n1\n2\n",
]  # fmt: skip
CODES = ["utf-8", "utf-8-sig", "cp1252", "utf-16"]


@given(draw=st.data())
@settings(max_examples=FILES)
def test_a_table_that_is_uploaded(draw: st.DataObject) -> None:
    table = draw.draw(st.sampled_from(TABLES)).encode(draw.draw(st.sampled_from(CODES)))
    try:
        text, notes = sheet.decode(draw.draw(st.one_of(flipped(table), st.binary(max_size=60))), "x.csv")
        read = sheet.sheet(text)
        names, rows, more = read.numbers()
    except ValueError as error:
        assert str(error).strip() and "\n" not in str(error) and len(str(error)) < 400
    else:
        assert all(len(row) == len(names) for row in rows)
        assert all(isinstance(v, float) for row in rows for v in row)
        assert all(isinstance(note, str) for note in [*notes, *read.notes, *more])
