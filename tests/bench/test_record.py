"""Results of the benches that are kept, and the README that is written from them."""

import datetime
import json
import math
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab import bench
from lab.bench import BENCHES, record
from lab.bench.timing import Row
from lab.errors import UserError
from lab.experiments import catalog

KEPT = sorted((record.HERE / record.RESULTS).glob("*.json"))
README = (record.HERE / "README.md").read_text(encoding="utf-8")
ROW = Row("made", "a case", 0.002, 0.001, 2.0, "≤ 1.05", "one remark")


def test_the_readme_is_what_the_results_say() -> None:
    assert record.render(bench.about()) == README, "run `lab results` and commit lab/bench/README.md"
    assert len(KEPT) > 20
    for path in KEPT:
        assert f"## {path.stem}\n" in README


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_result_says_how_it_is_repeated_when_and_where(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    program, command, name, *options = shlex.split(kept["command"])
    assert [program, command, name] == ["lab", "bench", kept["bench"]] and name == path.stem in BENCHES
    assert "--quick" not in options
    texts = [part for part in (kept if kept["rows"] else None, kept["earlier"]) if part]
    assert texts
    for part in texts:
        assert datetime.date.fromisoformat(part["date"]) <= datetime.date.today()
        assert part["machine"] or part["source"]
    for row in map(record.row, kept["rows"]):
        assert row.bench == path.stem and row.case and any(math.isfinite(v) for v in (row.ours, row.ratio))
    for block in (kept["earlier"] or {"blocks": []})["blocks"]:
        if not isinstance(block, str):
            assert {len(cells) for cells in block["rows"]} == {len(block["head"])}


def test_what_is_named_still_exists() -> None:
    """An experiment that is renamed or goes takes its numbers along."""
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)*-(?:mnist|digits|grid|ring))`", README))
    assert {"ddpm-mnist", "vae-mnist", "dcgan-digits"} <= named <= set(catalog())
    commands = {text.split()[2] for text in re.findall(r"`(lab bench [a-z][^`]*)`", README)}
    assert commands <= set(BENCHES)


def test_a_run_is_kept_and_what_was_said_earlier_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "HERE", tmp_path)
    for function, defaults in ((record.save, (tmp_path,)), (record.rebuild, (tmp_path,))):
        monkeypatch.setattr(function, "__defaults__", defaults)
    earlier = {"date": "2026-01-02", "machine": None, "source": "a letter", "blocks": ["Said before."]}
    (tmp_path / record.RESULTS).mkdir()
    (tmp_path / record.RESULTS / "made.json").write_text(json.dumps({"earlier": earlier}))
    module = SimpleNamespace(measure=lambda quick=False, readers=20: [ROW])
    monkeypatch.setitem(sys.modules, BENCHES["made"][0], module)
    assert bench.run(["made", "--write", "--readers", "30"]) == 0
    capsys.readouterr()
    kept = json.loads((tmp_path / record.RESULTS / "made.json").read_text(encoding="utf-8"))
    assert kept["command"] == "lab bench made --readers 30" and kept["earlier"] == earlier
    assert kept["machine"] == bench.machine() and record.row(kept["rows"][0]) == ROW
    written = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| a case | 2 ms | 1 ms | 2× | ≤ 1.05 | no | one remark |" in written
    assert "*Earlier.* Measured 2026-01-02: machine not kept; a letter.\n\nSaid before.\n" in written
    assert "Without kept results: `generation`" in written


def test_parts_of_results_are_not_kept() -> None:
    for option in (["--quick"], ["--only", "flow"]):
        with pytest.raises(UserError, match="keeps whole results"):
            bench.run(["dashboard", "--write", *option])


def test_what_was_not_measured_is_null_and_comes_back() -> None:
    kept = record.plain(Row("made", "a case", 1.0))
    assert kept["peer"] is None and json.loads(json.dumps(kept, allow_nan=False)) == kept
    assert math.isnan(record.row(kept).peer) and record.row(record.plain(ROW)) == ROW
    assert record.table([record.row(kept)]).splitlines()[0] == "| case | ours |"
