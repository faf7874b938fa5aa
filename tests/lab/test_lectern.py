"""`lectern`, the face of the library: every name is what its module has, and none needs torch before it is
asked for; packages of other projects that stand in the way are named in a sentence."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from lab.shadowed import PACKAGES, other_app, shadowed

ROOT = Path(__file__).resolve().parents[2]
FACE = ROOT / "lab" / "face"


@pytest.fixture
def lectern(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """As `import lectern` finds it where Lectern is installed."""
    monkeypatch.syspath_prepend(FACE)
    monkeypatch.delitem(sys.modules, "lectern", raising=False)
    return importlib.import_module("lectern")


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=path[0], env=environment, capture_output=True, text=True
    )


def test_every_name_is_that_of_its_module(lectern: ModuleType) -> None:
    assert Path(str(lectern.__file__)).is_relative_to(FACE)
    names = lectern.__all__
    assert len(names) > 40 and {"MAF", "VAE", "GPT", "load"} <= set(names) <= set(dir(lectern))
    for name in names:
        module = importlib.import_module(lectern._MODULES[name])
        assert getattr(lectern, name) is getattr(module, name), name
    with pytest.raises(AttributeError, match="lectern has no 'VEA'"):
        _ = lectern.VEA


def test_it_needs_no_torch_until_a_model_is_asked_for() -> None:
    code = (
        "import sys, lectern; dir(lectern); hasattr(lectern, '__path__')\n"
        "assert 'torch' not in sys.modules and 'lab' not in sys.modules\n"
        "from lectern import MADE, load; print(type(load('made-digits')) is MADE)"
    )
    done = run(code, ROOT, FACE)
    assert done.stdout == "True\n", done.stderr


def test_ours_are_ours() -> None:
    assert shadowed() == ""


@pytest.mark.parametrize("name", PACKAGES[1:])  # lab itself is in the test below
@pytest.mark.parametrize("regular", [True, False])
def test_a_package_that_stands_in_the_way_is_named(name: str, regular: bool, tmp_path: Path) -> None:
    other = tmp_path / name
    other.mkdir()
    if not regular:  # a folder without __init__.py gives way to a package, and is merged with another folder
        assert run("from lab.shadowed import shadowed; print(shadowed())", tmp_path, ROOT).stdout == "\n"
        return
    (other / "__init__.py").touch()
    command = run("from lab.__main__ import main; raise SystemExit(main(['list']))", tmp_path, ROOT)
    assert command.returncode == 2 and not command.stdout
    assert command.stderr.startswith(f"lab: `import {name}` finds {other}")
    assert command.stderr.count("\n") == 1
    library = run("from lectern import MADE", tmp_path, ROOT, FACE)
    assert library.returncode == 1
    assert f"ImportError: `import {name}` finds {other}" in library.stderr


def test_another_lab_is_named_where_the_library_is_imported(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "__init__.py").touch()
    done = run("from lectern import MADE", tmp_path, ROOT, FACE)
    assert done.returncode == 1 and "ImportError: `import lab` finds" in done.stderr


def test_an_app_of_another_project_is_not_opened(tmp_path: Path) -> None:
    assert other_app(ROOT / "app.py") == ""
    (tmp_path / "app.py").write_text("import flask\n")
    assert other_app(tmp_path / "app.py").startswith(f"{tmp_path / 'app.py'} is not Lectern's")


def test_the_host_runs_make_test_on_each_python_that_lectern_is_made_for() -> None:
    flow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    job = flow["jobs"]["test"]
    assert any(step.get("run", "").startswith("make test ") for step in job["steps"])
    with (ROOT / "pyproject.toml").open("rb") as file:
        least = tomllib.load(file)["project"]["requires-python"].removeprefix(">=")
    assert job["strategy"]["matrix"]["python"] == [least, "3.12", "3.13"]
