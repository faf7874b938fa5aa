"""Files of earlier versions, read under present names."""

from pathlib import Path
from typing import ClassVar

import pytest
import torch

from lab import renames
from lab.__main__ import main
from modules.base import Module
from tests.lab.conftest import SMALL


def test_a_former_class_is_renamed_with_its_arguments_wherever_it_stands(monkeypatch):
    monkeypatch.setitem(renames.CLASSES, "modules.old.Old", "modules.new.New")
    monkeypatch.setitem(renames.ARGUMENTS, "modules.new", {"z": "z_dim"})
    monkeypatch.setitem(renames.VALUES, "modules.new.New", {"prior": {"even": "uniform"}})
    former = {
        "model": {"class_path": "modules.old.Old", "init_args": {"z": 2, "prior": "even", "k": [1]}},
        "trainer": {"callbacks": [{"class_path": "modules.old.Old"}]},
    }
    assert renames.upgrade(former) == {
        "model": {"class_path": "modules.new.New", "init_args": {"z_dim": 2, "prior": "uniform", "k": [1]}},
        "trainer": {"callbacks": [{"class_path": "modules.new.New"}]},
    }
    assert former["model"]["class_path"] == "modules.old.Old"  # a copy


def test_no_present_name_is_a_former_one():
    assert not renames.CLASSES.keys() & set(renames.CLASSES.values())
    for names in renames.ARGUMENTS.values():
        assert not names.keys() & set(names.values())


def test_tensors_of_a_base_class_are_renamed_too():
    class Base(Module):
        FORMER_TENSORS: ClassVar = {"judge": "discriminator", "net.0": "first"}

    class Member(Base):
        FORMER_TENSORS: ClassVar = {"judge.head": "head"}

    names = ["judge.weight", "judge.head.bias", "net.0.bias", "net.01.bias", "judges.bias"]
    present = Member.present_names({name: torch.zeros(()) for name in names})
    assert list(present) == ["discriminator.weight", "head.bias", "first.bias", "net.01.bias", "judges.bias"]


def test_a_run_that_names_classes_by_former_paths_is_the_same_run(
    own_runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "modules.autoregressive.made.MADE"
    monkeypatch.setitem(renames.CLASSES, f"{text}Former", text)
    assert main(["fit", "made-digits", *SMALL, "--trainer.callbacks+=lab.training.StopOnNaN"]) == 0
    (config,) = own_runs.glob("made-digits/*/config.yaml")
    written = config.read_text()
    assert "lab.training.callbacks.StopOnNaN" in written
    former = written.replace("lab.training.callbacks.", "lab.training.").replace(
        f"{text}\n", f"{text}Former\n"
    )
    assert f"{text}Former" in former
    config.write_text(former)
    capsys.readouterr()
    assert main(["fit", "made-digits", "--ckpt_path=last"]) == 0
    shown = capsys.readouterr().out
    assert "is finished" in shown and "Goes on" not in shown


def test_tensors_of_an_average_of_weights_are_renamed_too():
    class Member(Module):
        FORMER_TENSORS: ClassVar = {"judge": "discriminator"}

        def __init__(self) -> None:
            super().__init__()
            self.discriminator = torch.nn.Linear(2, 1)

    averaged = torch.optim.swa_utils.AveragedModel(Member())
    former = {name.replace("discriminator", "judge"): t + 1 for name, t in averaged.state_dict().items()}
    assert former.keys() != averaged.state_dict().keys()
    averaged.load_state_dict(former)
    assert torch.equal(averaged.module.discriminator.bias, former["module.judge.bias"])
