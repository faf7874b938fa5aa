"""`make docs`: pages of modules, classes and functions, into a folder that git ignores."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def command() -> list[str]:
    """What `make docs` runs, but for the folder of the program."""
    (line,) = re.findall(r"^\t\$\(BIN\)/(pdoc .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return shlex.split(line)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "named",
    [
        pytest.param(["lab.room", "datamodules.fetch"], id="some"),
        pytest.param(["lab", "modules", "datamodules"], id="all", marks=pytest.mark.soak),  # 45 s
    ],
)
def test_the_pages_are_made(named: list[str], tmp_path: Path) -> None:
    _, *arguments = command()
    assert arguments[-3:] == ["lab", "modules", "datamodules"]
    options = [str(tmp_path) if word == "docs" else word for word in arguments[:-3]]
    assert str(tmp_path) in options
    done = subprocess.run(
        [sys.executable, "-m", "pdoc", *options, *named], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).with_suffix("").as_posix() for path in tmp_path.rglob("*.html")}
    assert {"index", "datamodules/fetch", "lab/room"} <= pages
    assert "A place (x, y) that a click on a figure keeps" in (tmp_path / "lab/room.html").read_text()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout")
def test_git_ignores_the_folder() -> None:
    folder = command()[command().index("--output-directory") + 1]
    assert shutil.which("git") and folder == "docs"
    assert subprocess.run(["git", "check-ignore", "-q", f"{folder}/index.html"], cwd=ROOT).returncode == 0
