"""The trainer: exact resume, several processes, dead runs, seeds."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lab.__main__ import main
from lab.weights import load, read_checkpoint
from tests.lab.conftest import SMALL, complaint

# Everything random at once: a fresh order per step, fresh binary images per batch, and a schedule.
RECIPE = """
model:
  class_path: modules.autoregressive.made.MADE
  init_args:
    hidden: [16]
    num_orders: 0
    lr_scheduler: {class_path: torch.optim.lr_scheduler.CosineAnnealingLR, init_args: {T_max: 4}}
data:
  class_path: datamodules.digits.Digits
  init_args: {binarize: dynamic, batch_size: 32}
trainer: {max_epochs: 4}
"""


def fit(recipe: Path, runs: Path, *args: str, kill_after: int | None = None) -> int:
    """`lab fit` in a process of its own; `kill_after` an epoch: kill -9 as soon as it is printed."""
    env = {**os.environ, "LECTERN_RUNS": str(runs)}
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "fit", str(recipe), *args],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout
    for line in process.stdout:
        if kill_after is not None and line.startswith(f"epoch {kill_after} "):
            process.send_signal(signal.SIGKILL)
    return process.wait()


def final(runs: Path) -> dict[str, torch.Tensor]:
    return read_checkpoint(next(runs.rglob("last.ckpt")))["state_dict"]


def rows(runs: Path) -> list[dict[str, str]]:
    with open(next(runs.rglob("metrics.csv")), newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


@pytest.mark.heavy
def test_a_killed_run_resumes_to_the_same_bits(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(RECIPE)
    assert fit(recipe, tmp_path / "whole") == 0
    assert fit(recipe, tmp_path / "killed", kill_after=1) == -signal.SIGKILL
    assert not list((tmp_path / "killed").rglob("card.json"))
    assert fit(recipe, tmp_path / "killed", "--ckpt_path", "last") == 0
    whole, resumed = final(tmp_path / "whole"), final(tmp_path / "killed")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert rows(tmp_path / "whole") == rows(tmp_path / "killed")
    assert len(rows(tmp_path / "whole")) == 4


@pytest.mark.heavy
def test_two_processes_reach_what_one_reaches(tmp_path: Path) -> None:
    """Also where no batch divides, and the last of the evaluation has one example for two processes."""
    recipe = tmp_path / "recipe.yaml"
    fixed = RECIPE.replace("dynamic", "threshold").replace("num_orders: 0", "num_orders: 1")
    recipe.write_text(fixed.replace("batch_size: 32", "batch_size: 83"))
    from datamodules.digits import Digits

    data = Digits(batch_size=83)
    data.setup()
    assert {len(data.val_set) % 83, len(data.test_set) % 83} == {1}
    common = ["--trainer.precision=64-true", "--trainer.accelerator=cpu", "--trainer.max_epochs=2"]
    assert fit(recipe, tmp_path / "one", *common) == 0
    assert fit(recipe, tmp_path / "two", *common, "--preset=ddp", "--trainer.devices=2") == 0
    one, two = final(tmp_path / "one"), final(tmp_path / "two")
    assert all(w.dtype == torch.float64 for w in one.values() if w.is_floating_point())
    assert all((one[name] - two[name]).abs().max() < 1e-8 for name in one)
    for a, b in zip(rows(tmp_path / "one"), rows(tmp_path / "two"), strict=True):
        assert {k: float(v) for k, v in a.items()} == pytest.approx(
            {k: float(v) for k, v in b.items()}, abs=1e-8
        )
    cards = [json.loads(next((tmp_path / n).rglob("card.json")).read_text()) for n in ("one", "two")]
    assert cards[0]["metrics"] == pytest.approx(
        cards[1]["metrics"], abs=1e-8
    )  # over all ranks, each example once
    assert len(list((tmp_path / "two").rglob("card.json"))) == 1  # one folder, written by one process


def test_a_dead_run_stops_with_a_sentence(capsys) -> None:
    assert main(["fit", "made-digits", *SMALL, "--model.init_args.optimizer.init_args.lr=1e38"]) == 2
    assert "lower the learning rate" in complaint(capsys)


def test_several_seeds_give_mean_and_std(own_runs: Path) -> None:
    assert main(["fit", "made-digits", *SMALL, "--seeds=3"]) == 0
    folder = next(own_runs.glob("made-digits/*/card.json")).parent
    card = json.loads((folder / "card.json").read_text())
    each = [card["shipped"]["metrics"]] + [
        json.loads(p.read_text())["metrics"] for p in folder.glob("seed-*/card.json")
    ]
    shipped = card["shipped"]["seed"]
    assert card["seeds"] == [0, 1, 2] and card["shipped"]["metrics"] in each[1:] + (
        [each[0]] if shipped == 0 else []
    )
    tests = {m["test/nll"] for m in each}
    if shipped == 0:
        assert torch.tensor(sorted(tests)).double().mean().item() == pytest.approx(
            card["metrics"]["test/nll"], abs=1e-5
        )
        assert torch.tensor(sorted(tests)).double().std().item() == pytest.approx(
            card["std"]["test/nll"], abs=1e-5
        )
    # the weights beside the card are those of the shipped seed
    source = folder if shipped == 0 else folder / f"seed-{shipped}"
    a, b = load(folder), load(source)
    assert all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))


def test_the_test_split_is_read_by_test_alone(monkeypatch) -> None:
    from datamodules.digits import Digits

    def forbidden(self: Digits) -> None:
        pytest.fail("training asked for the test split")

    monkeypatch.setattr(Digits, "test_dataloader", forbidden)
    assert main(["fit", "made-digits", "--trainer.fast_dev_run=true"]) == 0


def test_float16_cards_speak_of_the_rounded_weights(own_runs: Path) -> None:
    assert main(["fit", "made-digits", *SMALL, "--save_dtype=float16"]) == 0
    folder = next(own_runs.glob("made-digits/*/card.json")).parent
    model = load(folder)
    from datamodules.digits import Digits

    data = Digits(binarize="threshold", batch_size=250)
    data.setup("test")
    x = data.test_set[torch.arange(len(data.test_set))][0]
    with torch.no_grad():
        nll = -model.log_prob(x).double().mean().item()
    assert nll == pytest.approx(
        json.loads((folder / "card.json").read_text())["metrics"]["test/nll"], abs=1e-5
    )
