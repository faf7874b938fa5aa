"""Killed at any moment, a run ends as if nobody had touched it: see kills.py."""

from pathlib import Path

import pytest

from tests.lab import forks


def kills(count: int, place: Path) -> str:
    """The table of `count` kills, made by a process of its own: only one without threads may fork."""
    log = place / "kills.log"
    process = forks.start("tests.lab.kills:run", count, log=log, TMPDIR=str(place))
    process.join()
    assert process.exitcode == 0, log.read_text()
    return log.read_text()


@pytest.mark.heavy
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    assert "   20  kills" in kills(20, tmp_path)


@pytest.mark.soak
def test_two_hundred_kills_change_nothing(tmp_path: Path) -> None:
    table = kills(200, tmp_path)
    print(table)
    assert "  200  kills" in table
