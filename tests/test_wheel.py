"""What `pip install` of a built wheel brings along: the dashboard runs from it too."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
OPENED = """
import os, sys
from pathlib import Path
from streamlit import config
from streamlit.testing.v1 import AppTest
import lab
from lab import ui
from lab.ui.server import serve

here = Path(sys.argv[1])
assert Path(lab.__file__).is_relative_to(here), lab.__file__
started = []
serve.run = lambda args, page: started.append(Path.cwd()) or 0
from lab.__main__ import main
assert main(["app"]) == 0
folder, = started
assert (folder / ".streamlit" / "config.toml").is_file()
assert (folder.parent / "browser" / "js" / "figure.js").is_file()
assert (folder / "asgi.py").is_file() and (here / "app.py").is_file()
assert os.environ["LECTERN_RUNS"] == sys.argv[2]
config.get_config_options(force_reparse=True)
assert config.get_option("server.address") == "localhost"
assert len(ui.pages()) == int(sys.argv[3])
for page in ui.pages():
    if page.topic == "masks":
        shown = AppTest.from_file(str(page.path), default_timeout=60).run()
        assert not shown.exception and shown.metric[0].value == "1.000000"
print("opened")
"""
LIBRARY = """
import sys
from pathlib import Path
import lectern
assert "torch" not in sys.modules and "GPT" in dir(lectern)
from lectern import MADE, load
assert Path(lectern.__file__).is_relative_to(sys.argv[1]), lectern.__file__
assert type(load("made-digits")) is MADE
print("loaded")
"""
EDITABLE = "import sys; from setuptools.build_meta import build_editable; build_editable(sys.argv[1])"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the weights of one model."""
    source = tmp_path_factory.mktemp("project") / "source"
    skip = shutil.ignore_patterns("zoo", "__pycache__")
    for folder in ("lab", "modules", "datamodules", "pages"):
        shutil.copytree(ROOT / folder, source / folder, ignore=skip)
    shutil.copytree(ROOT / "lab/zoo/made-digits", source / "lab/zoo/made-digits")
    for file in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source / file)
    return source


def install(source: Path, build: str, folder: Path) -> Path:
    """What an installer unpacks of the wheel that `build` makes."""
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)], cwd=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    zipfile.ZipFile(wheel).extractall(site)
    return site


@pytest.mark.heavy
def test_the_dashboard_runs_from_a_wheel(source: Path, tmp_path: Path) -> None:
    site, empty = install(source, BUILD, tmp_path), tmp_path / "empty"
    empty.mkdir()
    for package in ("lab", "modules", "datamodules", "lectern"):
        assert (site / package / "py.typed").is_file(), package
    assert (site / "lectern/__init__.pyi").is_file() and not (site / "lab/face").exists()
    assert (site / "lab/zoo/made-digits/model.safetensors").is_file()

    rooms = len(list(ROOT.glob("pages/*/*/page.py")))
    environment = {k: v for k, v in os.environ.items() if k != "LECTERN_RUNS"} | {"PYTHONPATH": str(site)}
    opened = subprocess.run(
        [sys.executable, "-c", OPENED, str(site), str(empty / "runs"), str(rooms)],
        cwd=empty, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.endswith("opened\n")

    loaded = subprocess.run(
        [sys.executable, "-c", LIBRARY, str(site)], cwd=empty, env=environment, capture_output=True, text=True
    )
    assert loaded.stdout == "loaded\n", loaded.stderr


@pytest.mark.heavy
def test_the_library_is_found_where_it_is_installed_to_be_edited(source: Path, tmp_path: Path) -> None:
    site, empty = install(source, EDITABLE, tmp_path), tmp_path / "empty"
    empty.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    # -S leaves out the .pth files of the environment that runs the tests: Lectern is installed there too
    packages = sysconfig.get_path("purelib")
    code = f"import site, sys; site.addsitedir({str(site)!r}); sys.path.append({packages!r})\n{LIBRARY}"
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", code, str(source)],
        cwd=empty, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert loaded.stdout == "loaded\n", loaded.stderr
