"""What `pip install` of a built wheel brings along: the dashboard runs from it too."""

import os
import shutil
import subprocess
import sys
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
from lab.ui import serve

here = Path(sys.argv[1])
assert Path(lab.__file__).is_relative_to(here), lab.__file__
started = []
serve.run = lambda args, page: started.append(Path.cwd()) or 0
from lab.__main__ import main
assert main(["app"]) == 0
folder, = started
assert (folder / ".streamlit" / "config.toml").is_file() and (folder / "js" / "figure.js").is_file()
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


@pytest.mark.heavy
def test_the_dashboard_runs_from_a_wheel(tmp_path: Path) -> None:
    source, site, empty = (tmp_path / name for name in ("source", "site", "empty"))
    skip = shutil.ignore_patterns("zoo", "__pycache__")
    for folder in ("lab", "modules", "datamodules", "pages"):
        shutil.copytree(ROOT / folder, source / folder, ignore=skip)
    shutil.copytree(ROOT / "lab/zoo/made-digits", source / "lab/zoo/made-digits")
    for file in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source / file)
    empty.mkdir()
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path)], cwd=source, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    assert (site / "lab/zoo/made-digits/model.safetensors").is_file()

    rooms = len(list(ROOT.glob("pages/*/*/page.py")))
    environment = {k: v for k, v in os.environ.items() if k != "LECTERN_RUNS"} | {"PYTHONPATH": str(site)}
    opened = subprocess.run(
        [sys.executable, "-c", OPENED, str(site), str(empty / "runs"), str(rooms)],
        cwd=empty, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.endswith("opened\n")
