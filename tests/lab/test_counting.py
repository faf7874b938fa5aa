"""Models that count go through the same commands: fit, card, best and last checkpoint, test, resume."""

import csv
import json
from pathlib import Path

import pytest
import torch

from lab import weights
from lab.__main__ import main
from modules.language.ngram import NGram

RECIPE = """
model:
  class_path: modules.language.ngram.NGram
  init_args: {{order: 3}}
data:
  class_path: datamodules.text.Text
  init_args: {{corpus: {corpus}, context: null, batch_size: 1, windows_per_epoch: 1}}
trainer: {{max_epochs: {epochs}}}
"""


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.txt").write_text("the cat sat on the mat and the dog sat on the cat " * 40)
    path = tmp_path / "counted.yaml"
    path.write_text(RECIPE.format(corpus=tmp_path / "own.txt", epochs=1))
    return path


def run_folder(tmp_path: Path) -> Path:
    return next((tmp_path / "runs" / "counted").iterdir())


def test_a_count_model_is_fitted_saved_and_tested(recipe: Path, tmp_path: Path) -> None:
    assert main(["fit", str(recipe)]) in (0, None)
    folder = run_folder(tmp_path)
    card = weights.read_card(folder)
    model = weights.load(folder)
    assert isinstance(model, NGram) and model.counts.sum().item() == 1799  # 1,800 characters of training
    assert card["parameters"] == len(model.keys) > 0 and card["epochs"] == 1
    assert card["best"]["value"] == pytest.approx(card["metrics"]["val/nll"])
    assert (folder / "checkpoints" / "best.ckpt").is_file() and (
        folder / "checkpoints" / "last.ckpt"
    ).is_file()
    with open(folder / "metrics.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert "lr" not in row and 0 < float(row["train/nll"]) < 1
    text = (tmp_path / "own.txt").read_text()[1900:]
    letters = sorted(set((tmp_path / "own.txt").read_text()))
    ids = torch.tensor([[letters.index(c) for c in text]])
    nll = -model.token_log_probs(ids[:, :-1], ids[:, 1:]).mean().item()
    assert card["metrics"]["test/nll"] == pytest.approx(nll, abs=1e-9)


def test_a_checkpoint_of_counts_is_evaluated(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fit", str(recipe)])
    folder = run_folder(tmp_path)
    capsys.readouterr()
    main(["test", str(recipe), "--ckpt_path", str(folder / "checkpoints" / "last.ckpt")])
    shown = json.loads((folder / "card.json").read_text())["metrics"]["test/nll"]
    assert f"{shown:.4f}"[:5] in capsys.readouterr().out


def test_another_epoch_counts_anew(recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(RECIPE.format(corpus=tmp_path / "own.txt", epochs=2))
    main(["fit", str(recipe)])
    model = weights.load(run_folder(tmp_path))
    assert model.counts.sum().item() == 1799


def test_weights_of_another_order_are_refused_by_name_not_by_size() -> None:
    model = NGram(3, 2)
    model.fit(torch.tensor([[0, 1, 2, 0]]))
    fresh = NGram(3, 2)
    fresh.load_state_dict(model.state_dict())
    assert torch.equal(fresh.keys, model.keys)
    assert torch.equal(fresh.next_log_probs(torch.tensor([[0]])), model.next_log_probs(torch.tensor([[0]])))
