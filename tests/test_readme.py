"""What is written for readers is true: commands of README, CONTRIBUTING and ARCHITECTURE run, snippets work,
files that are named exist, and the example model can be added as CONTRIBUTING says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from lab.__main__ import main
from lab.bench import BENCHES, timing
from lab.experiments import catalog

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
}
README = DOCUMENTS["README.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = {name: FENCE.findall(text) for name, text in DOCUMENTS.items()}  # (language, text) each
SPANS = {name: re.findall(r"`([^`\n]+)`", FENCE.sub("", text)) for name, text in DOCUMENTS.items()}
BOUND = 1200  # words of the README, but for its table of results: a row for each data set
RESULTS = ("README.md", "lab/zoo/README.md")


def commands(document: str | None = None) -> list[str]:
    """Every `lab …` and `make …` of a document, or of all: lines of shell blocks, and spans in the text."""
    results = []
    for name in [document] if document else DOCUMENTS:
        results += [
            line for language, text in BLOCKS[name] if language == "bash" for line in text.splitlines()
        ]
        results += [span for span in SPANS[name] if re.match(r"(?:lab|make)(?: |$)", span)]
    plain = [line.split("  #")[0].strip() for line in results]
    return list(dict.fromkeys(line for line in plain if line))


def files() -> dict[str, str]:
    """Snippets of CONTRIBUTING that begin with the path of the file they are."""
    named = {}
    for _, text in BLOCKS["CONTRIBUTING.md"]:
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
    text = commands("README.md")
    assert {command.split()[0] for command in text} == {"lab", "make"}
    assert {"make app", "make test"} <= set(text)
    shown = {command.split()[1] for command in text if command.startswith("lab ")}
    from lab.commands import COMMANDS

    assert shown <= set(COMMANDS)
    assert {"list", "fit", "test", "sample", "data", "results", "bench", "app"} <= shown


def test_the_readme_is_short() -> None:
    start, end = (README.index(mark) for mark in ("<!-- results -->", "<!-- /results -->"))
    assert len((README[:start] + README[end:]).split()) <= BOUND


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_to_a_file_leads_somewhere(name: str) -> None:
    targets = re.findall(r"\]\((?!https?://)([^)#]+)\)", DOCUMENTS[name])
    missing = [target for target in targets if not (ROOT / target).is_file()]
    assert targets and not missing


def test_every_path_that_is_named_exists() -> None:
    floors = ("app.py", "lab/", "modules/", "datamodules/", "pages/", "tests/")
    spans = {span for result in SPANS.values() for span in result}
    named = {span for span in spans if span.startswith(floors) and re.fullmatch(r"[\w./-]+", span)}
    assert len(named) > 20 and not [path for path in named if not (ROOT / path).exists()]


def test_pictures_are_small() -> None:
    pictures = re.findall(r"!\[[^\]]{20,}\]\(([^)]+)\)", README)
    assert len(pictures) == 2
    for picture in pictures:
        assert (ROOT / picture).stat().st_size <= 150_000
        with Image.open(ROOT / picture) as image:
            assert image.size == (1280, 720)


def test_the_words_of_the_house_have_a_sentence_each() -> None:
    text = DOCUMENTS["ARCHITECTURE.md"]
    words = re.findall(r"^- \*\*([^*]+)\*\*: [^.]+.*\.$", text[text.index("## Words") :], re.MULTILINE)
    assert {
        "Zoo", "Card", "Trace", "Scene", "Film", "Stage", "Poster", "Machine", "Room", "Lens", "Contracts",
        "Check", "Experiment", "ladj", "Generate, normalize", "Lecture", "Handout",
    } <= set(words)  # fmt: skip
    assert len(words) >= 20


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("make ")])
def test_make_commands_are_in_the_makefile(command: str) -> None:
    _, target, *settings = command.split()
    if shutil.which("make") is None:
        text = (ROOT / "Makefile").read_text()
        assert re.search(rf"^{target}:", text, re.MULTILINE)
        return
    result = subprocess.run(
        ["make", "--dry-run", target, *settings], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    wanted = {"app": "lab app", "test": "pytest", "soak": "LEVEL=soak", "docs": "pdoc"}[target]
    assert wanted in result.stdout
    assert all(value in result.stdout for value in (setting.partition("=")[2] for setting in settings))


# What is added so that a command of the README ends soon; the command itself stays as written.
SHORT = {
    "fit": ["--trainer.limit_train_batches", "2", "--trainer.limit_val_batches", "1"],
    "bench": ["--quick"],
    "app": ["--help"],
}


def lab_commands() -> list[str]:
    """The `lab` commands in their order; those on the example that is added have their own test."""
    run_elsewhere = ("<", "stencil")
    results = [c for c in commands() if c.startswith("lab ") and c != "lab fit"]
    return [c for c in results if not any(word in c for word in run_elsewhere)]


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
    result = sorted((runs / "made-digits").iterdir())
    assert len(result) == 1, "the second fit goes on with the first, it starts no other run"
    assert (result[0] / "model.safetensors").is_file() and (result[0] / "card.json").is_file()
    assert len((result[0] / "metrics.csv").read_text().splitlines()) == 1 + 6


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
    tree = next(text for language, text in BLOCKS["README.md"] if language == "" and "pages/" in text)
    for line in tree.splitlines():
        for name in line.split("  ")[0].split(", "):
            assert (ROOT / name.split("<")[0]).exists(), name


def test_library_snippet_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    snippets = [text for language, text in BLOCKS["README.md"] if language == "python"]
    assert len(snippets) == 1
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(ROOT / "lab" / "face")  # as it is installed
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
assert pytest.main(["-c", "pyproject.toml", "tests/test_members.py", "-k", "Stencil"]) == 0
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
def test_the_example_model_can_be_added_as_contributing_says(tmp_path: Path) -> None:
    """All six files and the row in a copy of the project: trained, sampled, tested, and its page opened."""
    project = tmp_path / "project"
    skip = shutil.ignore_patterns("zoo", "__pycache__")
    for folder in ("lab", "modules", "datamodules", "pages"):
        shutil.copytree(ROOT / folder, project / folder, ignore=skip)
    (project / "tests").mkdir()
    shared = (
        "contracts.py",
        "conftest.py",
        "processor.py",
        "members.py",
        "test_members.py",
    )
    for file in ("app.py", "pyproject.toml", *(f"tests/{name}" for name in shared)):
        shutil.copy(ROOT / file, project / file)
    written = files()
    row = next(text for _, text in BLOCKS["CONTRIBUTING.md"] if text.startswith("# a row of MEMBERS"))
    table = project / "tests/members.py"
    begin = "MEMBERS: dict[str, list[Member]] = {\n"
    assert begin in table.read_text(encoding="utf-8")
    table.write_text(table.read_text(encoding="utf-8").replace(begin, begin + row), encoding="utf-8")
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
