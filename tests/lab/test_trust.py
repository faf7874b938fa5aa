"""Settings, runs and cards from strangers run nothing: what they name is judged before it is imported."""

import json
from pathlib import Path
from typing import Any

import lightning as L
import pytest
import yaml

from lab import experiments, runs, sizes, untrusted, weights
from lab.__main__ import main
from lab.errors import UserError
from lab.ui.background import training_runs
from modules.base import Module
from tests.lab.conftest import SMALL, complaint

SLOTS = [
    "model", "data", "trainer.callbacks", "trainer.logger", "trainer.strategy", "trainer.accelerator",
    "trainer.profiler", "trainer.plugins", "model.init_args.optimizer", "model.init_args.lr_scheduler",
    "model.init_args.metrics",
]  # fmt: skip
# What would be called, with which arguments; `mine` leaves a mark when it is only imported.
STRANGERS: dict[str, dict[str, Any]] = {
    "os.system": {"command": "touch owned"},
    "subprocess.Popen": {"args": ["touch", "owned"]},
    "builtins.eval": {"source": "open('owned', 'w')"},
    "mine.Optimizer": {},
    "lightning.pytorch.callbacks.os.system": {"command": "touch owned"},
    "torch.hub.load": {"repo_or_dir": ".", "model": "x", "source": "local"},
    "torch.distributed.elastic.multiprocessing.subprocess_handler.SubprocessHandler": {
        "entrypoint": "touch", "args": ["owned"], "env": {}, "stdout": None, "stderr": None,
        "local_rank_id": 0, "numa_options": None,
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder on the path of modules, whose module `mine` and whose hubconf leave a mark when imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("mine.py", "hubconf.py"):
        Path(name).write_text("open('owned', 'w')\nimport torch\nOptimizer = torch.optim.Adam\n")
    yield tmp_path
    assert not Path("owned").exists()


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(L.Trainer, "fit", lambda *args, **kwargs: pytest.fail("training began"))


def recipe(slot: str, value: Any) -> dict[str, Any]:
    """The settings of made-digits with another value in one place."""
    settings = {
        name: dict(experiments.find("made-digits").config[name]) for name in ("model", "data", "trainer")
    }
    settings["model"]["init_args"] = {"hidden": [8]}
    here: Any = settings
    *way, last = slot.split(".")
    for name in way:
        here = here[name]
    here[last] = {"nll": value} if last == "metrics" else [value] if last == "callbacks" else value
    return settings


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("slot", SLOTS)
def test_a_yaml_that_names_a_stranger_runs_nothing(slot: str, name: str, own_runs: Path, capsys) -> None:
    value = {"class_path": name, "init_args": STRANGERS[name]}
    Path("own.yaml").write_text(yaml.safe_dump(recipe(slot, value)))
    assert main(["fit", "own.yaml"]) == 2
    assert repr(name) in (text := complaint(capsys)) and "nothing was run" in text
    assert not list(own_runs.rglob("*.*"))


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("slot", SLOTS)
def test_an_option_that_names_a_stranger_runs_nothing(slot: str, capsys) -> None:
    """By its name alone, as a class path and whole, which the parser resolves in three ways."""
    for name in ("os.system", "mine.Optimizer"):
        spec = json.dumps({"class_path": name, "init_args": STRANGERS[name]})
        for option in (f"--{slot}={name}", f"--{slot}={spec}", f"--{slot}.class_path={name}"):
            assert main(["fit", "made-digits", option]) == 2
            complaint(capsys)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    "option",
    [
        "--trainer.callbacks={class_path: LambdaCallback, init_args: {on_fit_start: {class_path: "
        "torch.hub.load, init_args: {repo_or_dir: ., model: x, source: local}}}}",
        "--trainer.callbacks={class_path: LambdaCallback, init_args: {on_fit_start: os.system}}",
        "--trainer.callbacks={class_path: LambdaCallback, init_args: {on_fit_start: lab.runs.launch}}",
        "--model.init_args.lr_scheduler={class_path: LambdaLR, init_args: {lr_lambda: os.system}}",
        "--model.init_args.lr_scheduler={class_path: LambdaLR, init_args: {lr_lambda: torch.load}}",
    ],
)  # fmt: skip
def test_a_function_of_a_stranger_is_refused(option: str, capsys) -> None:
    assert main(["fit", "made-digits", option]) == 2
    assert "nothing was run" in complaint(capsys)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("name", STRANGERS)
def test_a_strangers_run_is_said_and_judged(name: str, place: Path, capsys) -> None:
    """A resume takes the settings beside the checkpoint."""
    (folder := place / "stranger" / "checkpoints").mkdir(parents=True)
    (folder / "last.ckpt").write_bytes(b"")
    value = {"class_path": name, "init_args": STRANGERS[name]}
    (folder.parent / "config.yaml").write_text(yaml.safe_dump(recipe("model.init_args.optimizer", value)))
    assert main(["fit", "made-digits", "--ckpt_path", "stranger/checkpoints/last.ckpt"]) == 2
    out, err = capsys.readouterr()
    assert "not of your runs" in out and f"model.optimizer {name}" in out
    assert "nothing was run" in err


def test_cards_and_data_of_a_stranger_run_nothing(trained: Path) -> None:
    """What `lab test`, `lab sample`, the dashboard and `lab size` read."""
    card = json.loads((trained / "card.json").read_text())
    config = yaml.safe_load((trained / "config.yaml").read_text())
    for name, args in STRANGERS.items():
        card["config"]["model"] = {"class_path": name, "init_args": args}
        (trained / "card.json").write_text(json.dumps(card))
        with pytest.raises(UserError, match="nothing was run"):
            weights.load(trained)
        config["model"]["class_path"] = name
        (trained / "config.yaml").write_text(yaml.safe_dump(config))
        with pytest.raises(UserError, match="nothing was run"):
            training_runs.rebuild(trained / "checkpoints" / "last.ckpt")
        for slot in ("model", "data"):
            Path(file := f"{slot}.{name}.yaml").write_text(yaml.safe_dump(recipe(slot, {"class_path": name})))
            with pytest.raises(UserError, match="nothing was run"):
                sizes.table(file, {}, 1, 1)
        with pytest.raises(UserError, match="nothing was run"):
            training_runs.datamodule(file)


def test_a_strangers_status_gives_no_options(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, given = "--trainer.max_epochs=2", []
    status = {"overrides": [kept, "--trust=mine.py", "--config=x.yaml"], "experiment": "made-digits"}
    (trained / "status.json").write_text(json.dumps(status))
    monkeypatch.setattr(runs, "launch", lambda run, experiment, options, owner: given.extend(options))
    runs.resume(runs.Run(trained))
    assert given == [kept, "--ckpt_path=last"]


def test_a_file_that_the_command_trusts_may_be_named(place: Path, own_runs: Path, capsys) -> None:
    (place / "net.py").write_text(
        "import torch\nfrom modules.autoregressive.made import MADE\n"
        "class Net(MADE): pass\nclass Slow(torch.optim.SGD): pass\n"
    )
    (place / "own.yaml").write_text(yaml.safe_dump(recipe("model.init_args.optimizer", {
        "class_path": "net.Slow", "init_args": {"lr": 0.1}})))  # fmt: skip
    line = ["fit", "own.yaml", "--model.class_path=net.Net", *SMALL]
    assert main(line) == 2
    assert "--trust" in complaint(capsys)
    assert main([*line, "--trust", "net.py"]) == 0
    folder = next(own_runs.glob("own/*/card.json")).parent
    assert json.loads((folder / "card.json").read_text())["config"]["model"]["class_path"] == "net.Net"
    assert main(line) == 2  # once
    assert not untrusted.TRUSTED


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("none.py", None, "no Python file"),
        ("net.txt", "", "no Python file"),
        ("json.py", "", "another module json"),
        ("net.py", "1 / 0", "cannot be imported"),
    ],
)
def test_a_file_that_cannot_be_trusted(
    file: str, text: str | None, message: str, place: Path, capsys
) -> None:
    if text is not None:
        (place / file).write_text(text)
    assert main(["fit", "made-digits", f"--trust={file}"]) == 2
    assert message in complaint(capsys)


def test_what_is_named_safely_is_made() -> None:
    assert issubclass(untrusted.find_class("modules.autoregressive.made.MADE", Module, "model", "x"), Module)
