"""The trainer: exact resume, several processes, dead runs, seeds."""

import csv
import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from lab.__main__ import main
from lab.errors import UserError
from lab.training.callbacks import StopOnNaN
from lab.weights import load, read_checkpoint
from tests.lab import forks
from tests.lab.conftest import SMALL, complaint
from tests.lab.kills import RECIPE, differences, outcome

COMMON = ["--trainer.accelerator=cpu", "--trainer.max_epochs=2"]
DOUBLE = "--trainer.precision=64-true"
DDP = ["--trainer.strategy=ddp", "--trainer.devices=2"]
# no batch of 83 divides, and the last of the evaluation's 250 has one example for two processes
FIXED = {"dynamic": "threshold", "num_orders: 0": "num_orders: 1", "batch_size: 64": "batch_size: 83"}
MADE = functools.reduce(lambda text, pair: text.replace(*pair), FIXED.items(), RECIPE)
WORDS = """
model: {class_path: modules.language.word2vec.SkipGram, init_args: {dim: 3}}
data:
  class_path: datamodules.cooccurrence.Cooccurrence
  init_args: {num_sentences: 40, batch_size: 83, min_count: 1}
"""


def final(runs: Path) -> dict[str, torch.Tensor]:
    return read_checkpoint(next(runs.rglob("last.ckpt")))["state_dict"]


def rows(runs: Path) -> list[dict[str, str]]:
    with open(next(runs.rglob("metrics.csv")), newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


@pytest.mark.heavy
def test_a_killed_command_resumes_to_the_same_bits(tmp_path: Path) -> None:
    """The real program, killed from outside; `kills.py` kills at every other moment."""
    (recipe := tmp_path / "recipe.yaml").write_text(RECIPE)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    run = forks.lab("fit", str(recipe), runs=whole)
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "fit", str(recipe)],
        env={**os.environ, "LECTERN_RUNS": str(killed)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    assert process.stdout
    for line in process.stdout:
        if line.startswith("epoch 1 "):
            process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not list(killed.rglob("card.json"))
    resumed = forks.lab("fit", str(recipe), "--ckpt_path", "last", runs=killed)
    run.join(), resumed.join()
    assert run.exitcode == resumed.exitcode == 0
    assert not differences(outcome(whole), outcome(killed))
    assert len(rows(killed)) == 3


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["images", "words", "noise words", "graph"])
def test_two_processes_reach_what_one_reaches(kind: str, tmp_path: Path) -> None:
    noise = WORDS.replace("dim: 3", "dim: 3, loss: negative")
    text = {"images": MADE, "words": WORDS, "noise words": noise}.get(kind, "")
    (recipe := tmp_path / "recipe.yaml").write_text(text)
    line = ["fit", str(recipe), DOUBLE, *COMMON] if text else ["fit", "gcn-karate", "--seeds=1", *COMMON]
    one = forks.lab(*line, runs=tmp_path / "one")
    assert forks.ranks(2, *line, *DDP, runs=tmp_path / "two") == [0, 0]
    one.join()
    alone, both = final(tmp_path / "one"), final(tmp_path / "two")
    assert all(w.dtype == torch.float64 for w in alone.values() if text and w.is_floating_point())
    if kind == "noise words":  # drawn by each process; but drawn from what both have seen
        name = "target_frequency"
        assert (alone[name] - both[name]).abs().max() < 1e-8
        return
    assert all((alone[name] - both[name]).abs().max() < 1e-8 for name in alone)
    for a, b in zip(rows(tmp_path / "one"), rows(tmp_path / "two"), strict=True):
        assert {k: float(v) for k, v in a.items()} == pytest.approx(
            {k: float(v) for k, v in b.items()}, abs=1e-6
        )
    cards = [json.loads(next((tmp_path / n).rglob("card.json")).read_text()) for n in ("one", "two")]
    assert cards[0]["metrics"] == pytest.approx(
        cards[1]["metrics"], abs=1e-6
    )  # over all ranks, each example once
    assert len(list((tmp_path / "two").rglob("card.json"))) == 1  # one folder, written by one process


@pytest.mark.heavy
def test_two_processes_that_the_command_starts_share_one_folder(tmp_path: Path) -> None:
    """Lightning starts the second process as a program: it finds the folder and writes nothing there."""
    (recipe := tmp_path / "recipe.yaml").write_text(MADE)
    line = [sys.executable, "-m", "lab", "fit", str(recipe), *COMMON, "--preset=ddp", "--trainer.devices=2"]
    environment = {**os.environ, "LECTERN_RUNS": str(tmp_path / "two")}
    assert subprocess.run(line, env=environment, capture_output=True).returncode == 0
    assert len(list((tmp_path / "two").rglob("card.json"))) == 1
    assert len(list((tmp_path / "two").rglob("metrics.csv"))) == 1


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["made-digits", "gcn-karate"])
def test_what_two_processes_predict_is_written_whole_and_in_order(name: str, tmp_path: Path) -> None:
    line = ["predict", name, "--data.init_args.batch_size=83"] if name == "made-digits" else ["predict", name]
    one = forks.lab(*line, runs=tmp_path / "one")
    assert forks.ranks(2, *line, *DDP, "--trainer.accelerator=cpu", runs=tmp_path / "two") == [0, 0]
    one.join()
    files = [tmp_path / runs / name / "predictions.csv" for runs in ("one", "two")]
    alone, both = ([tuple(map(float, r.split(","))) for r in f.read_text().splitlines()[1:]] for f in files)
    assert len(alone) == len(both) > 10
    assert [i for i, _ in both] == list(range(len(both)))
    assert [p for _, p in both] == pytest.approx([p for _, p in alone], rel=1e-5)


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
    others = [json.loads(p.read_text())["best"]["value"] for p in folder.glob("seed-*/card.json")]
    assert card["best"]["value"] == min(card["best"]["value"], *others)  # of a loss
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


def test_a_dead_run_is_told_what_its_model_takes() -> None:
    """Holes in the data are named; clipping is advised only where Lightning steps the optimizer."""
    clean, broken = torch.zeros(2, 3), torch.tensor([[0.0, torch.nan, 1.0]])
    whole = [(clean, torch.zeros(2, dtype=torch.int64))]

    def advised(
        by_hand: bool = False, optimizers: int = 1, loader: list = whole, batch: object = clean
    ) -> str:
        trainer: Any = SimpleNamespace(
            train_dataloader=loader, optimizers=[None] * optimizers, current_epoch=0, global_step=7
        )
        trainer.is_last_batch = True
        model: Any = SimpleNamespace(automatic_optimization=not by_hand)
        with pytest.raises(UserError) as text:
            StopOnNaN().on_train_batch_end(trainer, model, {"loss": torch.tensor(torch.nan)}, batch, 0)
        return str(text.value)

    assert "clip the gradient" in advised()
    assert "lower the learning rate." in advised(by_hand=True) and "clip" not in advised(by_hand=True)
    assert "rate or" not in advised(by_hand=True, optimizers=0) and "look at the data" in advised(
        optimizers=0
    )
    for held in ({"batch": [clean, {"x": broken}]}, {"loader": [*whole, (broken, broken)]}):
        assert "the data hold NaN or infinity" in advised(**held)  # type: ignore[arg-type]
