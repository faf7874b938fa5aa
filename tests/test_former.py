"""Files of an earlier version are read as ever: cards, weights, recipes, runs and checkpoints of every class.

`former/README.md` says where they come from. What their models answered then they answer now, up to the order
of sums, which differs between processors of the same capability too.
"""

import functools
import inspect
import json
import shutil
import tarfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from former.make import FEWEST, STEPS, answers, classes, draw, exactly, row, values

from lab import renames, tensorfile, weights
from lab.__main__ import main
from lab.experiments import FAMILIES, read_yaml
from lab.training.pairing import LINKED

FORMER = Path(__file__).parent / "former"
RECORDS: dict[str, Any] = json.loads((FORMER / "records.json").read_text())
for of_the_file in ("torch", "capability", "version"):
    del RECORDS[of_the_file]


def family(name: str) -> str:
    return str(RECORDS[name]["class"].split(".")[1])


# Of each family the first is resumed at every level, all others in the soak.
FIRST = {next((name for name in RECORDS if family(name) == f), "") for f in FAMILIES}
every = pytest.mark.parametrize("name", RECORDS)
resumable = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in FIRST else pytest.mark.soak) for n in RECORDS]
)


@pytest.fixture(scope="session")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each name: recipe, runs and a batch."""
    folder = tmp_path_factory.mktemp("former")
    with tarfile.open(FORMER / "runs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@functools.cache
def loaded(run: Path) -> Any:
    return weights.load(run)


def run_of(folder: Path) -> Path:
    (run,) = (folder / "runs" / folder.name).iterdir()
    return run


def batch_of(folder: Path) -> list[torch.Tensor]:
    parts = tensorfile.load((folder / "batch.safetensors").read_bytes())
    return [parts[str(i)] for i in range(len(parts))]


def agree(now: dict[str, list[str]], then: dict[str, list[str]]) -> None:
    """Compare the first values of answers: their bits are those of one processor."""
    assert now.keys() >= then.keys()
    for name in then:
        first, expected = (list(map(number, answer[name][1:])) for answer in (now, then))
        assert first == pytest.approx(expected, rel=1e-5, abs=1e-5), name


def number(text: str) -> float:
    return float.fromhex(text) if "0x" in text or "n" in text else float(text)


def fits(present: Mapping[str, inspect.Parameter], args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether a call is one of the present signature."""
    by_position = [k for k, p in present.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    free = any(p.kind is p.VAR_KEYWORD for p in present.values())
    return len(args) <= len(by_position) and (free or keywords.keys() <= present.keys())


@every
def test_weights_load_and_answer_as_then(name: str, former: Path) -> None:
    model = loaded(run_of(former / name))
    path = f"{type(model).__module__}.{type(model).__qualname__}"
    assert path == renames.CLASSES.get(RECORDS[name]["class"], RECORDS[name]["class"])
    agree(answers(model, batch_of(former / name)), RECORDS[name]["before"])


@every
def test_checkpoints_and_recipes_are_the_models(name: str, former: Path) -> None:
    """Tensors have today's names, in today's order: it is that of an optimizer's state."""
    folder, (path, *_) = former / name, sorted(run_of(former / name).glob("**/last.ckpt"))
    model, checkpoint = loaded(run_of(folder)), weights.read_checkpoint(path)
    for state in (checkpoint["state_dict"], checkpoint.get("current_model_state", {})):
        if state:
            assert list(model.present_names(state)) == list(model.state_dict())
    for file in (folder / f"{name}.yaml", path.parents[1] / "config.yaml"):
        config = read_yaml(file)["model"]
        assert config["class_path"] == f"{type(model).__module__}.{type(model).__qualname__}"
        for argument, value in config["init_args"].items():
            if argument in model.hparams and argument not in LINKED and value is not None:
                assert weights.plain(model.hparams[argument]) == value, argument


@resumable
def test_a_run_is_known_as_finished_and_goes_on_as_then(
    name: str,
    former: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By its recipe, as a user has both: `lab fit recipe.yaml --ckpt_path last`."""
    folder = tmp_path / name
    shutil.copytree(former / name, folder)
    monkeypatch.setenv("LECTERN_RUNS", str(folder / "runs"))
    command = ["fit", str(folder / f"{name}.yaml"), "--ckpt_path", "last"]
    assert main(command) == 0
    assert "nothing is left to do" in capsys.readouterr().out
    assert main([*command, "--trainer.max_epochs", "2"]) == 0
    assert "Goes on with trainer.max_epochs 2 instead of 1.\n" in capsys.readouterr().out
    run = run_of(folder)
    then = RECORDS[name]["row"]
    now = {k: row(run)[k] for k in then}
    expected = pytest.approx([float(v) for v in then.values()], rel=1e-4, abs=1e-4)
    assert [float(v) for v in now.values()] == expected
    agree(answers(weights.load(run), batch_of(folder)), RECORDS[name]["after"])


# Of each class the first, and those that know classes.
FORMER_CLASSES = {
    **{record["class"]: name for name, record in reversed(RECORDS.items())},
    **{name: name for name, record in RECORDS.items() if "sample of class 1" in record["before"]},
}
CALLS = [(n, method) for n in dict.fromkeys(FORMER_CLASSES.values()) for method in RECORDS[n]["calls"]]


@pytest.mark.parametrize(("name", "method"), CALLS)
def test_a_former_call_draws_the_same_with_a_warning(name: str, method: str, former: Path) -> None:
    """By position, with `seed=` and with `label=`."""
    model = loaded(run_of(former / name))
    ask, names = getattr(model, method), dict(RECORDS[name]["calls"][method])
    names |= {"n": FEWEST} if method == "sample" else {}
    names |= {"steps": STEPS} if "steps" in names else {}
    present = inspect.signature(ask).parameters
    expected = exactly(draw(model, method))

    def compare(*args: Any, **keywords: Any) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            agree({"drawn": exactly(values(ask(*args, **keywords)))}, {"drawn": expected})
        outdated = not fits(present, args, keywords)
        assert [w.category for w in caught] == [DeprecationWarning] * outdated

    if "seed" in names:
        compare(**{k: v for k, v in names.items() if k in ("n", "steps")}, seed=0)
    if "generator" in names:
        before = list(names)[: list(names).index("generator")]
        compare(*(names[k] for k in before), torch.Generator().manual_seed(0))
    if "label" in names and f"{method} of class 1" in RECORDS[name]["before"]:
        expected = exactly(classes(model, method))
        compare(**{k: v for k, v in names.items() if k in ("n", "steps")}, seed=0, label=1)
