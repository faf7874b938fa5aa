"""The bench of deep graph networks: its plan, a run twice, what it says of known runs."""

from pathlib import Path

import pytest

from lab.bench import deep_graphs, runs_file
from lab.bench.deep_graphs import KINDS, SEEDS, Run, train


def test_the_plan_names_each_training_once_and_goes_on(tmp_path: Path) -> None:
    runs, path = deep_graphs.plan(), tmp_path / "runs.jsonl"
    assert len(set(runs)) == len(runs) == (2 * 4 * 5 + 2 * 2) * SEEDS
    for seed, acc in enumerate((0.2, 0.4)):
        runs_file.append(Run("plain", 32, 0.0, seed, 9, 0.1, "2026-11-30", 0.5, acc), path)
    assert len(runs_file.missing(runs, path, Run)) == len(runs) - 2
    (row,) = deep_graphs.rows(runs_file.kept(runs, path, Run))
    assert row.case == "no dropout, plain, 32 layers" and abs(row.ours - 0.3) < 1e-12
    assert "0.500" in row.note and "training papers" in row.note


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_is_repeated_to_the_same_accuracies(kind: str) -> None:
    first, again = (train(kind, 4, 0.5, 1, 5, "karate") for _ in range(2))
    assert (first.acc, first.train, first.epoch) == (again.acc, again.train, again.epoch)
    assert 1 <= first.epoch <= 5
