"""The life-cycle contract of every model class."""

from pathlib import Path

import contracts
import pytest
from members import BASES, IDS, MEMBERS, ROWS, classes, make

from lab import experiments


def test_every_class_has_a_row() -> None:
    trained = {name for name in classes() if name not in BASES}
    assert trained == set(MEMBERS), (
        f"give each of {sorted(trained - set(MEMBERS))} a row in members.py; "
        f"{sorted(set(MEMBERS) - trained)} are gone."
    )
    assert {experiment.module for experiment in experiments.catalog().values()} <= trained
    for base in BASES:  # else a class could be called a base to escape
        assert any(issubclass(cls, classes()[base]) for name, cls in classes().items() if name in MEMBERS)


@pytest.mark.parametrize(("name", "number"), ROWS, ids=IDS)
def test_every_model_survives_a_life(name: str, number: int, tmp_path: Path) -> None:
    row = MEMBERS[name][number]
    contracts.survives_a_life(make(name, number), row.batch, row.call, tmp_path)
