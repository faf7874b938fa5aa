"""The README is true: its commands run, its snippets work, its model can be added as it says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.__main__ import main
from lab.bench import BENCHES, timing
from lab.experiments import catalog

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(language, text) for language, text in FENCE.findall(README)]
OUTSIDE = FENCE.sub("", README)
RESULTS = ("README.md", "lab/zoo/README.md")


def commands() -> list[str]:
    """Every `lab …` and `make …` of the README: lines of its shell blocks, and spans in its text."""
    lines = [line for language, text in BLOCKS if language == "bash" for line in text.splitlines()]
    found = [*lines, *re.findall(r"`((?:lab|make)(?: [^`]*)?)`", OUTSIDE)]
    plain = [line.split("  #")[0].strip() for line in found]
    return list(dict.fromkeys(line for line in plain if line))


def files() -> dict[str, str]:
    """Snippets that begin with the path of the file they are."""
    named = {}
    for _, text in BLOCKS:
        if match := re.match(r"# ([\w/\-]+\.(?:py|yaml))\n", text):
            named[match[1]] = text
    return named


def run(
    arguments: list[str], folder: Path, runs: Path, root: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LECTERN_RUNS": str(runs), "PYTHONPATH": str(root), "COLUMNS": "150"}
    environment.pop("LECTERN_RUN_FOLDER", None)
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project's README and its zoo's, where commands may write."""
    folder = tmp_path_factory.mktemp("reader")
    for path in RESULTS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    return folder


def test_the_readme_shows_what_it_promises() -> None:
    kinds = {command.split()[0] for command in commands()}
    assert kinds == {"lab", "make"}
    assert {"make app", "make test"} <= set(commands())
    shown = {command.split()[1] for command in commands() if command.startswith("lab ")}
    from lab.commands import COMMANDS

    assert shown <= set(COMMANDS)
    assert {"list", "fit", "test", "sample", "data", "results", "bench", "app"} <= shown


def test_every_link_to_a_file_leads_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?://)([^)#]+)\)", README)
    assert ".github/dashboard.png" in targets
    missing = [target for target in targets if not (ROOT / target).is_file()]
    assert not missing


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("make ")])
def test_make_commands_are_in_the_makefile(command: str) -> None:
    _, target = command.split()
    if shutil.which("make") is None:
        text = (ROOT / "Makefile").read_text()
        assert re.search(rf"^{target}:", text, re.MULTILINE)
        return
    result = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    wanted = {"app": "lab app", "test": "pytest"}[target]
    assert wanted in result.stdout


# What is added so that a command of the README ends soon; the command itself stays as written.
SHORT = {
    "fit": ["--trainer.limit_train_batches", "2", "--trainer.limit_val_batches", "1"],
    "bench": ["--quick"],
    "app": ["--help"],
}


def lab_commands() -> list[str]:
    """The `lab` commands in the README's order; those on the README's own example have their own test."""
    run_elsewhere = ("<", "stencil")
    found = [c for c in commands() if c.startswith("lab ") and c != "lab fit"]
    return [c for c in found if not any(word in c for word in run_elsewhere)]


def test_lab_commands_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    runs = place / "runs"
    monkeypatch.chdir(place)
    monkeypatch.setenv("LECTERN_RUNS", str(runs))
    monkeypatch.setenv("LECTERN_RUN_FOLDER", "")  # commands set it themselves: this takes it away again
    for command in lab_commands():
        monkeypatch.delenv("LECTERN_RUN_FOLDER", raising=False)
        name, *arguments = shlex.split(command)[1:]
        if name == "fit" and "--ckpt_path" in arguments:
            arguments += ["--trainer.max_epochs", "6"]
        if name == "fit" and "--trainer.max_epochs" not in arguments:
            arguments += ["--trainer.max_epochs", "1"]
        if name == "bench":  # the others have tests of their own
            assert {a for a in arguments if not a.startswith("-")} <= set(BENCHES)
            arguments = ["made", *(a for a in arguments if a.startswith("-"))]
            monkeypatch.setattr(timing, "clock", timing.clock)  # --busy changes it: put back at the end
        try:
            code = main([name, *arguments, *SHORT.get(name, [])])
        except SystemExit as ended:  # of --help
            code = ended.code
        printed = capfd.readouterr()
        assert code == 0, f"{command}\n{printed.err}"
        assert printed.out.strip() or name == "results", command
    assert (place / "digits.png").read_bytes().startswith(b"\x89PNG")
    made = sorted((runs / "made-digits").iterdir())
    assert len(made) == 1, "the second fit goes on with the first, it starts no other run"
    assert (made[0] / "model.safetensors").is_file() and (made[0] / "card.json").is_file()
    assert len((made[0] / "metrics.csv").read_text().splitlines()) == 1 + 6


def test_the_tables_of_results_are_what_the_cards_say(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("LECTERN_RUNS", str(place / "no-runs"))
    assert main(["results"]) == 0
    for path in RESULTS:
        written = (ROOT / path).read_text(encoding="utf-8")
        assert (place / path).read_text(encoding="utf-8") == written, f"run `lab results` and commit {path}"
    best, every = (README.count("\n| `"), written.count("\n| `"))
    assert 10 <= best < 40 and every == len(catalog())


def test_the_tree_is_the_tree() -> None:
    tree = next(text for language, text in BLOCKS if language == "" and "pages/" in text)
    for line in tree.splitlines():
        for name in line.split("  ")[0].split(", "):
            assert (ROOT / name.split("<")[0]).exists(), name


def test_library_snippet_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    snippets = [t for language, t in BLOCKS if language == "python" and not t.startswith("# ")]
    assert len(snippets) == 1
    monkeypatch.chdir(place)
    exec(compile(snippets[0], "README.md", "exec"), {})
    printed = capfd.readouterr().out
    assert printed.count("tensor(") == 2 and "nan" not in printed


ALL_OF_IT = """
import shlex, sys
import pytest
from streamlit.testing.v1 import AppTest
from lab.__main__ import main
from lab.ui.browser import wire

path, *lines = sys.argv[1:]
for line in lines:
    assert main(shlex.split(line)) == 0, line
assert pytest.main(["-c", "pyproject.toml", "tests/autoregressive"]) == 0
page = AppTest.from_file(path, default_timeout=60).run()
assert not page.exception, page.exception
assert not page.warning and not page.error
bar = next(wire.unpack(e.proto.bytes)[0] for e in page.get("bidi_component")
           if e.proto.component_name == "lectern_film")
assert bar["count"] == 64 and bar["at"] == 4 and len(set(bar["equations"])) > 32, bar
page.query_params["step"] = "20"
page.run()
assert not page.exception and not page.warning
"""


@pytest.mark.heavy
def test_the_example_model_can_be_added_as_the_readme_says(tmp_path: Path) -> None:
    """All six files in a copy of the project: trained, sampled, tested, and its page opened."""
    project = tmp_path / "project"
    skip = shutil.ignore_patterns("zoo", "__pycache__")
    for folder in ("lab", "modules", "datamodules", "pages"):
        shutil.copytree(ROOT / folder, project / folder, ignore=skip)
    (project / "tests").mkdir()
    for file in ("app.py", "pyproject.toml", "tests/contracts.py", "tests/conftest.py"):
        shutil.copy(ROOT / file, project / file)
    written = files()
    assert [path.split("/")[0] for path in written] == ["modules", "lab", "tests", "pages", "pages", "pages"]
    for path, text in written.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")

    runs = project / "runs"
    lines = ["list", "fit stencil-digits --trainer.max_epochs 8", "sample stencil-digits --out x.png"]
    page = project / "pages/autoregressive/stencil/page.py"
    done = run([sys.executable, "-c", ALL_OF_IT, str(page), *lines], project, runs, project)  # one start
    assert done.returncode == 0, done.stdout + done.stderr
    printed = done.stdout
    assert "stencil-digits" in printed
    reached = re.search(r"test/nll ([\d.]+)", printed)
    # independent pixels reach 24.99 nats on these digits, each pixel with weights of its own about 18.2
    assert reached and 18.2 < float(reached[1]) < 23, printed
    assert (project / "x.png").is_file()

    code = [path for path in written if path.endswith(".py")]
    lint = run([sys.executable, "-m", "ruff", "check", *code], project, runs, project)
    assert lint.returncode == 0, lint.stdout
