"""Killed at any moment, a run ends as if nobody had touched it: see kills.py."""

from pathlib import Path

import pytest

from tests.lab import forks
from tests.members import ROWS


def kills(*bounds: int, place: Path, of: str = "run") -> str:
    """The table of the kills with these numbers, made by a process of its own: only one without threads may
    fork."""
    log = place / "kills.log"
    process = forks.start(f"tests.lab.kills:{of}", *bounds, log=log, TMPDIR=str(place))
    process.join()
    assert process.exitcode == 0, log.read_text()
    return log.read_text()


@pytest.mark.heavy
def test_ten_kills_change_nothing(tmp_path: Path) -> None:
    assert "   10  kills" in kills(10, place=tmp_path)


@pytest.mark.heavy
def test_games_that_grow_are_killed(tmp_path: Path) -> None:
    first, other = (ROWS.index((f"modules.adversarial.{name}", 0))
                    for name in ("growing.ProgressiveGAN", "stylegan.StyleGAN"))  # fmt: skip
    assert "    2  kills" in kills(first, other + 1, other - first, place=tmp_path, of="members")


@pytest.mark.soak
def test_two_hundred_kills_change_nothing(tmp_path: Path) -> None:
    table = kills(200, place=tmp_path)
    print(table)
    assert "  200  kills" in table


@pytest.mark.soak
def test_every_row_of_the_table_is_killed_twice(tmp_path: Path) -> None:
    count = 2 * len(ROWS)
    table = kills(count, place=tmp_path, of="members")
    print(table)
    assert f"{count:5}  kills" in table
