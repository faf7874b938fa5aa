"""One row an experiment of the specifications, each with a command that can be typed, or a reason."""

import ast
import json
import math
import shlex
from functools import cache
from pathlib import Path

import pytest

from lab import bench
from lab.bench import BENCHES
from lab.bench.experiments import Experiment, experiments
from lab.errors import UserError
from lab.experiments import catalog

ROOT = Path(__file__).resolve().parents[2]
# the specifications' own numbering
IDS = {
    "latent": [str(i) for i in range(1, 29)],
    "flow": [f"FL-X{i}" for i in range(1, 23)],
    "games": [str(i) for i in range(1, 25)],
    "diffusion": [str(i) for i in range(1, 15)],
    "autoregressive": [str(i) for i in range(1, 13)],
    "language": [str(i) for i in range(1, 13)],
    "recurrent": [f"RN-X{i}" for i in range(1, 20)],
    "transformer": [f"TF-X{i}" for i in range(1, 33)],
    "convolution": [f"CV-X{i}" for i in range(1, 32)],
    "graph": [f"GR-X{i}" for i in range(1, 15)],
}
ROWS = [pytest.param(row, id=f"{row.family}-{row.id}") for row in experiments()]


def test_every_experiment_of_the_specifications_has_its_row() -> None:
    results: dict[str, list[str]] = {family: [] for family in IDS}
    for row in experiments():
        results[row.family].append(row.id)
    assert results == IDS


@cache
def written_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS)
def test_it_can_be_repeated_or_says_why_not(row: Experiment) -> None:
    assert row.what and bool(row.run) != bool(row.left)
    assert row.left or row.found or row.cards
    assert row.seeds is None or row.seeds >= 1
    assert "TODO" not in row.found
    for command in row.run:
        if command.startswith("tests/"):
            path, _, name = command.partition("::")
            assert name in written_in(path) if name else (ROOT / path).is_file(), command
            continue
        program, verb, *names = shlex.split(command)
        assert program == "lab" and len(names) == 1, command
        known = {"bench": BENCHES, "fit": catalog(), "test": catalog()}[verb]
        assert names[0] in known, command
        if verb == "test":
            assert known[names[0]].card is not None, f"{command}: there are no weights."
    assert all(math.isfinite(value) for value in row.numbers().values()) and row.outcome()


def test_the_table_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(["--experiments", "games", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == IDS["games"] and all(row["found"] for row in rows)
    assert bench.run(["latent", "--experiments"]) == 0
    text = capsys.readouterr().out
    assert "capacity wall" in text and "lab bench latents" in text and "python -m pytest" in text
    with pytest.raises(UserError, match="no experiments of 'gan'"):
        bench.run(["gan", "--experiments"])
