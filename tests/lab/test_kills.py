"""Killed at any moment, a run ends as if nobody had touched it: see kills.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def kills(count: int, place: Path) -> str:
    """The table of `count` kills, made by a process of its own: only one without threads may fork."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.lab.kills", str(count)],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(place)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.heavy
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    assert "   20  kills" in kills(20, tmp_path)


@pytest.mark.soak
def test_two_hundred_kills_change_nothing(tmp_path: Path) -> None:
    table = kills(200, tmp_path)
    print(table)
    assert "  200  kills" in table
