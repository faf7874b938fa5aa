"""Two processes are what one is, for every class; or it refuses in a sentence."""

from pathlib import Path

import pytest
import torch
from members import IDS, ROWS, class_of
from ranks import CHANCE

from lab.experiments import catalog
from modules.base import CountModel
from tests.lab import forks


def differences(alone: dict, first: dict, second: dict, name: str, chance: bool) -> list[str]:
    """Where a row's life with another process is not what it is without."""
    if "refused" in first or "refused" in second:
        text = first.get("refused", "")
        fair = issubclass(class_of(name), CountModel) and text == second.get("refused") and text[-1:] == "."
        return [] if fair else [f"refuses with {text[:200]!r}"]
    wrong = [f"{what} by rank" for what in ("measured", "validated") if first[what] != second[what]]
    state, other = first["state"], second["state"]
    wrong += [f"{k} by rank" for k in state if not torch.equal(state[k].nan_to_num(), other[k].nan_to_num())]
    if chance:
        return wrong
    if "MinibatchStd" not in first["own"]:
        expected = pytest.approx(alone["measured"], rel=1e-8, abs=1e-8, nan_ok=True)
        wrong += [] if first["measured"] == expected else [f"{first['measured']} for {alone['measured']}"]
    if not first["own"]:
        near = {k: torch.allclose(v.double(), alone["state"][k].double(), 0, 1e-8, equal_nan=True)
                for k, v in state.items()}  # fmt: skip
        wrong += [f"{k} is not what one process makes of it" for k, same in near.items() if not same]
    return wrong


@pytest.mark.heavy
def test_two_processes_are_what_one_is(tmp_path: Path) -> None:
    """Metrics, and weights after an epoch, of every row, with parts of a batch that are unequal; weights and
    all that ships beside them are the same in both processes to the bit."""
    port = forks.free_port()
    processes = [
        forks.start("ranks:every", str(tmp_path), port, rank, log=tmp_path / f"{rank}.log")
        for rank in range(2)
    ]
    for process in processes:
        process.join(600)
        if process.exitcode is None:
            process.kill()
    logs = [(tmp_path / f"{rank}.log").read_text()[-500:] for rank in range(2)]
    assert [process.exitcode for process in processes] == [0, 0], logs
    (one, first), (other, second) = (torch.load(tmp_path / f"{r}.pt", weights_only=False) for r in range(2))
    alone = one | other
    wrong = {
        title: text
        for title, row in zip(IDS, ROWS, strict=True)
        if (text := differences(alone[row], first[row], second[row], row[0], row in CHANCE))
    }
    assert not wrong, "\n".join(f"{title}: {'; '.join(text[:3])}" for title, text in wrong.items())


def recipes() -> dict[str, str]:
    """One shipped recipe a class that needs no files, by the class's name."""
    of: dict[str, str] = {}
    for name, experiment in catalog().items():
        if experiment.embedded:
            of.setdefault(experiment.module, name)
    return of


@pytest.mark.soak
@pytest.mark.parametrize("recipe", recipes().values())
def test_a_recipe_of_every_class_runs_on_two_processes(recipe: str, tmp_path: Path) -> None:
    """Its first batches, a validation and the test, with one card; counting is refused in a sentence."""
    limits = [f"--trainer.limit_{split}_batches=2" for split in ("train", "val", "test")]
    done = forks.ranks(
        2, "fit", recipe, "--seeds=1", "--trainer.max_epochs=1", "--trainer.devices=2",
        "--trainer.strategy=ddp", "--trainer.accelerator=cpu", *limits, runs=tmp_path / "runs",
    )  # fmt: skip
    text = (tmp_path / "runs.0.log").read_text()
    print(recipe, done, text.splitlines()[-1:])
    if "Counting is done by one process" in text:
        assert done == [2, 2]
        return
    assert done == [0, 0], text[-2000:] + (tmp_path / "runs.1.log").read_text()[-2000:]
    assert len(list((tmp_path / "runs").rglob("card.json"))) == 1
