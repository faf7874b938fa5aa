"""Options of the trainer that `--help` offers work, or are refused before training."""

import json
from pathlib import Path

import pytest

from lab.__main__ import main
from tests.lab.conftest import SMALL, complaint


@pytest.mark.parametrize("precision", ["bf16-mixed", "32-true"])
def test_a_fused_optimizer_is_clipped_in_mixed_precision(precision: str, own_runs: Path) -> None:
    """What --preset gpu does, on the CPU."""
    line = ["--model.init_args.optimizer.init_args.fused=true", "--trainer.gradient_clip_val=1"]
    assert main(["fit", "made-digits", *SMALL, *line, f"--trainer.precision={precision}"]) == 0
    assert list(own_runs.rglob("card.json"))


@pytest.mark.parametrize("name", ["CSVLogger", "TensorBoardLogger"])
def test_a_logger_is_chosen_by_its_name(name: str, own_runs: Path) -> None:
    if name == "TensorBoardLogger":
        pytest.importorskip("tensorboard")
    assert main(["fit", "made-digits", *SMALL, "--trainer.logger", name]) == 0
    folder = next(own_runs.rglob("card.json")).parent
    assert list(folder.glob("lightning_logs/version_0/*"))


def test_seeds_without_a_best_value_end_in_a_card(own_runs: Path) -> None:
    assert main(["fit", "made-digits", *SMALL, "--seeds=2", "--monitor=last"]) == 0
    card = json.loads(next(own_runs.glob("made-digits/*/card.json")).read_text())
    assert card["seeds"] == [0, 1] and card["shipped"]["seed"] == 0


@pytest.mark.parametrize("command", ["sample", "test", "fit", "size"])
def test_a_name_longer_than_a_path_is_no_experiment(command: str, capsys) -> None:
    assert main([command, "a" * 300]) == 2
    assert "no experiment" in complaint(capsys)
