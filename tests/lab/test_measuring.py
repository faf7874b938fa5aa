"""`lab test` says what a card says, `--card` writes it anew, in float32, whatever training left."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from lab import training, weights
from lab.__main__ import main
from lab.experiments import ZOO, catalog, find
from modules.base import Mean
from tests.lab.kills import DRAWN

CHEAP = ["reflow-eight", "vae-digits", "gan-ring", "maf-moons"]  # drawn, and not


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
    kept = [k for k in before if k not in ("metrics", "error", "measured", "shipped")]
    assert {k: after[k] for k in kept} == {k: before[k] for k in kept}
    files = [folder / name / "model.safetensors" for folder in (ZOO, tmp_path)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert set(own(after)["error"]) <= set(own(after)["metrics"])
    assert all(e >= 0 for e in own(after)["error"].values()) and "date" in after["measured"]
    if "measured" in before:  # numbers of another processor differ in their last digits
        for key, value in own(before)["metrics"].items():
            assert own(after)["metrics"][key] == pytest.approx(value, rel=1e-3, abs=1e-3), key


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
    found = []
    (recipe := tmp_path / "recipe.yaml").write_text(DRAWN)
    seen: list[torch.dtype] = []
    real = training.LabCLI.finish

    def finish(self: training.LabCLI) -> None:
        torch.manual_seed(len(found))  # as a kill would leave it
        self.model.encoder.register_forward_hook(lambda _, __, out: seen.append(out.dtype))  # type: ignore
        real(self)

    monkeypatch.setattr(training.LabCLI, "finish", finish)
    for _ in range(2):
        monkeypatch.setenv("LECTERN_RUNS", str(tmp_path / f"runs{len(found)}"))
        options = ["--trainer.accelerator=cpu", "--trainer.precision=bf16-mixed"]
        assert main(["fit", str(recipe), *options]) == 0
        card = json.loads(next((tmp_path / f"runs{len(found)}").rglob("card.json")).read_text())
        found.append((card["metrics"], card["error"]))
    assert found[0] == found[1] and "test/elbo" in found[0][1]
    assert set(seen) == {torch.float32}


def test_every_card_names_its_family() -> None:
    for name, experiment in catalog().items():
        if experiment.weights == ZOO / name:
            assert weights.read_card(ZOO / name)["family"] == find(name).family, name
