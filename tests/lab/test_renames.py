"""Files of earlier versions, read under present names."""

from typing import ClassVar

import torch

from lab import renames
from modules.base import Module


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
