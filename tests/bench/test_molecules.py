"""The bench of graph classification: its folds, a run twice, what it says of known runs."""

from functools import partial
from pathlib import Path

import pytest
import torch

from lab.bench import molecules, runs_file
from lab.bench.molecules import FOLDS, Run, plan, rows, splits, train


def test_the_plan_has_every_fold_of_every_network_once() -> None:
    runs = plan()
    assert len(set(runs)) == len(runs) == 3 * (3 + 3 * FOLDS)


def test_a_plan_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "molecules.jsonl"
    missing, kept = (partial(f, plan(), path, Run) for f in (runs_file.missing, runs_file.kept))
    assert kept() == [] and missing() == plan()
    runs_file.append(Run("MUTAG", "GCN, mean", 3, 2, 10, 0.1, "2026-11-29", 0.5), path)
    runs_file.append(Run("motifs", "GIN, sum", 1, 2, 10, 0.1, "2026-11-29", 0.75), path)
    assert [run.data for run in kept()] == ["motifs", "MUTAG"]
    assert ("MUTAG", "GCN, mean", 3) not in missing() and len(missing()) == len(plan()) - 2
    means = {row.case: row.ours for row in rows(kept())}
    assert means == {"motifs: GIN, sum": 0.75, "MUTAG: GCN, mean": 0.5}


def test_a_run_is_repeated_to_the_same_accuracy_and_quick_needs_no_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    first, again = (train("motifs", "GIN, sum", 0, steps=3) for _ in range(2))
    assert first.acc == again.acc and first.parameters == again.parameters
    assert len(molecules.measure(quick=True)) == 3
    bags = splits("motifs", 0, False)[1]
    assert bags[torch.arange(4)].edge_index.shape == (2, 0)


@pytest.mark.real_data
def test_no_graph_of_a_fold_is_learnt_from(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MUTAG")))
    splits.cache_clear()
    learnt, held, d, c = splits("MUTAG", 2, True)
    assert len(learnt) + len(held) == 188 and (d, c) == (7, 2) and len(held) in (18, 19)
    assert not {id(graph) for graph in learnt.graphs} & {id(graph) for graph in held.graphs}
