"""Trained weights: what was saved is loaded, and nothing from a stranger is ever run."""

import errno
import json
import os
import pickle
from pathlib import Path

import pytest
import torch

from lab import tensorfile, weights
from lab.__main__ import main
from lab.errors import UserError
from modules.autoregressive.made import MADE
from modules.base import Module
from tests.lab.conftest import SMALL, complaint


def test_loaded_weights_give_the_same_numbers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = MADE(event_shape=(6,), hidden=[5], order="reversed")
    weights.save(tmp_path, model, {"experiment": "x"})
    x = torch.rand(10, 6).round()
    assert torch.equal(weights.load(tmp_path).log_prob(x), model.eval().log_prob(x))


def test_half_precision_is_stored_and_read_back(tmp_path: Path) -> None:
    model = MADE(event_shape=(6,), hidden=[5]).half().float()
    weights.save(tmp_path, model, {}, torch.float16)
    stored = tensorfile.load((tmp_path / "model.safetensors").read_bytes()).values()
    assert {t.dtype for t in stored if t.is_floating_point()} == {torch.float16}
    again = weights.load(tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_every_part_of_a_run_is_there(trained: Path) -> None:
    card = json.loads((trained / "card.json").read_text())
    assert card["experiment"] == "made-digits"
    assert card["metrics"].keys() >= {"val/nll", "test/nll"}
    assert card["epochs"] == 1 and card["seeds"] == [0]
    assert card["versions"]["torch"] == torch.__version__
    assert card["data"]["binarize"] == "threshold"
    header, _ = (trained / "metrics.csv").read_text().splitlines()
    assert {"epoch", "train/nll", "val/nll", "lr"} <= set(header.split(","))


def with_model(folder: Path, **changes: object) -> None:
    card = json.loads((folder / "card.json").read_text())
    card["config"]["model"] |= changes
    (folder / "card.json").write_text(json.dumps(card))


@pytest.mark.parametrize(
    "class_path",
    [
        "os.system",
        "modules.base.Module.load_from_checkpoint",
        "modules.base.torch",
        "modules.base.nn.Linear",
        "modules.autoregressive.made.MaskedLinear",
        "modules.nowhere.Nothing",
        "subprocess.Popen",
        "lab.weights.load",
        "modules..Module",
    ],
)
def test_a_card_can_name_only_models_of_this_project(trained: Path, class_path: str, monkeypatch) -> None:
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("os.system was called"))
    with_model(trained, class_path=class_path, init_args={"command": "touch owned"})
    with pytest.raises(UserError, match="no model of Lectern"):
        weights.load(trained)


def test_a_card_with_wrong_arguments_is_refused(trained: Path) -> None:
    with_model(trained, init_args={"hidden": [8], "command": "touch owned"})
    with pytest.raises(UserError, match="does not fit"):
        weights.load(trained)


def test_a_card_with_names_of_before_is_refused(trained: Path) -> None:
    """`values` is `num_categories` now: a run's folder from before says so in one sentence."""
    args = {"event_shape": [64], "values": 2}
    with_model(trained, class_path="modules.autoregressive.nade.NADE", init_args=args)
    with pytest.raises(UserError, match=r"does not fit .*'values'"):
        weights.load(trained)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"config": 3}', "\x00"])
def test_a_broken_card_is_refused(trained: Path, text: str) -> None:
    (trained / "card.json").write_text(text)
    with pytest.raises(UserError, match="not a card"):
        weights.load(trained)


def test_a_truncated_file_is_refused(trained: Path) -> None:
    path = trained / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="not a whole safetensors file"):
        weights.load(trained)


def test_a_pickle_in_place_of_weights_runs_nothing(trained: Path, tmp_path: Path) -> None:
    (trained / "model.safetensors").write_bytes(pickle.dumps(Touch(tmp_path / "owned")))
    with pytest.raises(UserError, match="not a whole safetensors file"):
        weights.load(trained)
    assert not (tmp_path / "owned").exists()


def test_wrong_shapes_and_names_are_refused(trained: Path) -> None:
    path = trained / "model.safetensors"
    tensors = tensorfile.load(path.read_bytes())
    name = next(iter(tensors))
    path.write_bytes(tensorfile.save({**tensors, name: tensors[name][:-1]}))
    with pytest.raises(UserError, match=r"has shape .* instead of"):
        weights.load(trained)
    path.write_bytes(tensorfile.save({k: v for k, v in tensors.items() if k != name}))
    with pytest.raises(UserError, match="another model"):
        weights.load(trained)


class Touch:
    """Unpickled, it creates a file: the proof that something was run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_a_malicious_checkpoint_runs_nothing(tmp_path: Path, capsys) -> None:
    path, proof = tmp_path / "evil.ckpt", tmp_path / "owned"
    torch.save({"state_dict": {}, "payload": Touch(proof)}, path)
    pickle.loads(pickle.dumps(Touch(tmp_path / "works")))
    assert (tmp_path / "works").exists()  # the payload does work where pickles are trusted
    assert main(["fit", "made-digits", "--ckpt_path", str(path)]) == 2
    assert "Nothing was run" in complaint(capsys)
    assert not proof.exists()


def test_a_truncated_checkpoint_and_a_checkpoint_of_another_model(trained: Path, capsys) -> None:
    path = trained / "checkpoints" / "last.ckpt"
    assert main(["fit", "made-digits", "--ckpt_path", str(path), "--model.init_args.hidden=[9]"]) == 2
    assert "another model" in complaint(capsys)
    path.write_bytes(path.read_bytes()[:2000])
    assert main(["fit", "made-digits", "--ckpt_path", str(path)]) == 2
    assert "cut short" in complaint(capsys)


def test_a_full_disk_while_saving_loses_nothing(trained: Path, monkeypatch, tmp_path: Path) -> None:
    before = {p.name: p.read_bytes() for p in trained.iterdir() if p.is_file()}

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="disk is full"):
        weights.save(trained, MADE(event_shape=(64,), hidden=[8]), {})
    assert {p.name: p.read_bytes() for p in trained.iterdir() if p.is_file()} == before


def test_a_full_disk_in_training_is_one_sentence(monkeypatch, capsys) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["fit", "made-digits", *SMALL]) == 2
    assert "disk is full" in complaint(capsys)


def test_models_take_plain_values_only() -> None:
    with pytest.raises(TypeError, match="plain values"):
        weights.plain(torch.nn.ReLU())
    assert weights.plain((1, [2.5, "x", None])) == [1, [2.5, "x", None]]


def test_checkpoints_hold_only_the_models_own_arguments() -> None:
    assert set(MADE(event_shape=(4,)).hparams) <= MADE.argument_names()
    assert not Module.argument_names()
