"""Samples of a run that is watched, drawn from its last checkpoint."""

from pathlib import Path

import pytest
import torch

from lab.__main__ import main
from lab.errors import UserError
from lab.ui.background.training_runs import rebuild, sample_model
from lab.ui.models.loading import file_stamp

FEW = ["--trainer.max_epochs=1", "--trainer.limit_train_batches=2", "--trainer.limit_val_batches=1"]


def checkpoint(own_runs: Path, name: str) -> Path:
    """The last checkpoint of a short run."""
    assert main(["fit", name, *FEW]) == 0
    return next(own_runs.glob(f"{name}/*/checkpoints/last.ckpt"))


@pytest.mark.parametrize("name", ["made-digits", "dcgan-digits"])
def test_pictures_of_the_last_epoch(own_runs: Path, name: str) -> None:
    path = checkpoint(own_runs, name)
    pictures = sample_model(*file_stamp(path), name, 5)
    assert isinstance(pictures, torch.Tensor) and pictures.shape == (5, 1, 8, 8)
    model, _ = rebuild(path)
    assert not model.training
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        assert torch.equal(model.sample(5, generator=generator).reshape(5, 1, 8, 8), pictures)  # type: ignore[operator]


def test_texts_of_the_last_epoch(own_runs: Path) -> None:
    path = checkpoint(own_runs, "bengio-pydocs")
    texts = sample_model(*file_stamp(path), "bengio-pydocs", 16)
    assert isinstance(texts, list) and len(texts) == 4 and all(texts)


def test_a_run_of_another_model_is_refused(own_runs: Path) -> None:
    path = checkpoint(own_runs, "made-digits")
    config = path.parents[1] / "config.yaml"
    config.write_text(config.read_text().replace("modules.autoregressive.made.MADE", "os.system"))
    with pytest.raises(UserError, match=r"os\.system"):
        rebuild(path)
