"""`lab test` says what a card says, `--card` writes it anew, in float32, whatever training left."""

import importlib
import json
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
from rotation import in_turn

from datamodules.base import DataModule
from lab import weights
from lab.__main__ import main
from lab.experiments import ZOO, catalog, find
from lab.training import cli, measuring
from modules.base import Mean
from tests.lab.kills import DRAWN
from tests.lab.test_experiments import data_of

CHEAP = ["reflow-eight", "vae-digits", "gan-ring", "maf-moons"]  # drawn, and not
QUICK = 0.5  # seconds that a test took when its card was written: such models are tested whole
CARDS = {name: weights.read_card(ZOO / name) for name, e in catalog().items() if e.weights == ZOO / name}


def measured(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, Any]:
    """The card that `lab test … --card` writes, of a copy of what ships."""
    shutil.copytree(ZOO / name, folder / name)
    monkeypatch.setattr("lab.experiments.ZOO", folder)
    assert main(["test", name, "--card", "--trainer.accelerator=cpu", *options]) == 0
    return weights.read_card(folder / name)


def own(card: dict[str, Any]) -> dict[str, Any]:
    """What was measured of the weights that ship: of several seeds theirs, not the mean."""
    return card.get("shipped", card)


@pytest.mark.heavy
@pytest.mark.parametrize("name", CHEAP)
def test_a_card_is_measured_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = weights.read_card(ZOO / name)
    after = measured(name, tmp_path, monkeypatch)
    kept = [k for k in before if k not in ("metrics", "error", "measured", "shipped", "slice")]
    assert {k: after[k] for k in kept} == {k: before[k] for k in kept}
    files = [folder / name / "model.safetensors" for folder in (ZOO, tmp_path)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert set(own(after)["error"]) <= set(own(after)["metrics"])
    assert all(e >= 0 for e in own(after)["error"].values()) and "date" in after["measured"]
    judges = set(own(after)["metrics"]) - set(own(after)["error"])  # what nothing was drawn for has none
    assert {k.partition("/")[2] for k in judges} <= {"active"}
    if "measured" in before:  # numbers of another processor differ in their last digits
        for key, value in own(before)["metrics"].items():
            assert own(after)["metrics"][key] == pytest.approx(value, rel=1e-3, abs=1e-3), key


def settings(name: str) -> str:
    return json.dumps(CARDS[name]["config"]["data"], sort_keys=True)


@lru_cache(maxsize=2)  # of the rows below, which come by their data
def data_by(settings: str) -> DataModule:
    config = json.loads(settings)
    module, _, name = config["class_path"].rpartition(".")
    return getattr(importlib.import_module(module), name)(**config["init_args"])


def waiting(names: list[str]) -> list[Any]:
    """Parameters by name: in turn, or as soon as weights, model or data have changed."""

    def files(name: str) -> list[str]:
        parts = (CARDS[name]["config"][part]["class_path"] for part in ("model", "data"))
        return [f"lab/zoo/{name}", *(part.rpartition(".")[0].replace(".", "/") + ".py" for part in parts)]

    return [pytest.param(name, marks=[] if in_turn(*files(name)) else pytest.mark.soak) for name in names]


@pytest.mark.heavy
@pytest.mark.parametrize("name", waiting(sorted(CARDS, key=settings)))
def test_code_and_weights_say_what_the_card_says(name: str, real_data: Any) -> None:
    """Of the whole test split where that is quick, or the card keeps no slice of it; else of the slice."""
    if (needed := data_of(name)) is not None:
        real_data(needed)
    card = CARDS[name]
    model, data = weights.load(ZOO / name), data_by(settings(name))
    seed = find(name).config.get("seed_everything", 0)
    if "slice" not in card or card.get("measured", {}).get("seconds", QUICK) < QUICK:
        result = measuring.evaluate(model, data, seed)
        texts = {k: v for k, v in own(card)["metrics"].items() if k.startswith("test/")}
    else:
        texts = dict(card["slice"])
        result = measuring.evaluate_slice(model, data, texts.pop("size"), seed)
    assert result == pytest.approx(texts, rel=1e-4, abs=1e-6)


def test_judges_of_a_game_differ_by_the_draw_and_repeat() -> None:
    model, data, result = weights.load("gan-ring"), data_by(settings("gan-ring")), []
    for draw in (0, 1, 0):
        model.draw = draw
        result.append(measuring.evaluate_slice(model, data, 32))
    assert result[0] == result[2]
    assert all(result[0][key] != result[1][key] for key in ("test/w1", "test/kl", "test/g"))


def test_the_standard_error_of_a_mean() -> None:
    meter, values = Mean(), torch.randn(100, generator=torch.Generator().manual_seed(0)) + 3
    for part in values.split(7):
        meter.update(part)
    assert float(meter.compute()) == pytest.approx(float(values.mean()), abs=1e-6)
    assert meter.error == pytest.approx(float(values.double().std()) / 10, rel=1e-6)
    meter.reset()
    meter.update(values[:1])
    meter.compute()
    assert meter.error != meter.error  # of one value nothing is known


def test_the_closing_test_draws_alike_however_training_left_the_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in bfloat16 training measures in float32."""
    results = []
    (recipe := tmp_path / "recipe.yaml").write_text(DRAWN)
    result: list[torch.dtype] = []
    real = cli.LabCLI.finish

    def finish(self: cli.LabCLI) -> None:
        torch.manual_seed(len(results))  # as a kill would leave it
        self.model.encoder.register_forward_hook(lambda _, __, out: result.append(out.dtype))  # type: ignore
        real(self)

    monkeypatch.setattr(cli.LabCLI, "finish", finish)
    for _ in range(2):
        monkeypatch.setenv("LECTERN_RUNS", str(tmp_path / f"runs{len(results)}"))
        options = ["--trainer.accelerator=cpu", "--trainer.precision=bf16-mixed"]
        assert main(["fit", str(recipe), *options]) == 0
        card = json.loads(next((tmp_path / f"runs{len(results)}").rglob("card.json")).read_text())
        results.append((card["metrics"], card["error"]))
    assert results[0] == results[1] and "test/elbo" in results[0][1]
    assert set(result) == {torch.float32}


AVERAGED = """
model: {class_path: modules.autoregressive.fvsbn.FVSBN}
data: {class_path: datamodules.digits.Digits, init_args: {binarize: threshold, batch_size: 64}}
mode: max  # the first epoch is the best
trainer:
  max_epochs: 3
  limit_train_batches: 3
  callbacks: [{class_path: lightning.pytorch.callbacks.EMAWeightAveraging, init_args: {decay: 0.5}}]
"""


def test_a_card_says_what_the_best_epochs_averaged_weights_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the last average, which Lightning puts in their place to validate."""
    (recipe := tmp_path / "recipe.yaml").write_text(AVERAGED)
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path / "runs"))
    assert main(["fit", str(recipe), "--trainer.accelerator=cpu"]) == 0
    card = json.loads(next((tmp_path / "runs").rglob("card.json")).read_text())
    assert card["metrics"]["val/nll"] == pytest.approx(card["best"]["value"], rel=1e-6)


def test_every_card_names_its_family() -> None:
    for name, experiment in catalog().items():
        if experiment.weights == ZOO / name:
            assert weights.read_card(ZOO / name)["family"] == find(name).family, name
