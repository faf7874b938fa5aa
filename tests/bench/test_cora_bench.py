"""The bench on citations: its plan, its settings, a run twice, what it says of known runs."""

from pathlib import Path

import pytest
import torch

from lab.bench import cora, runs_file
from lab.bench.cora import ALL, INDUCTIVE, LABELS, NETWORKS, Run, labelled


def test_the_plan_names_each_training_once(tmp_path: Path) -> None:
    runs = cora.plan()
    assert len(set(runs)) == len(runs) == 20 + 20 + 10 + 4 * 10 + 2 * len(LABELS) * 10
    path = tmp_path / "runs.jsonl"
    assert runs_file.missing(runs, path, Run) == runs
    for seed, acc in enumerate((0.8, 0.9)):
        runs_file.append(Run("Cora", "GCN", ALL, seed, 9, 0.1, "2026-11-30", acc, acc - 0.1), path)
    assert len(runs_file.missing(runs, path, Run)) == len(runs) - 2
    (row,) = cora.rows(runs_file.read(path, Run))
    assert row.case == "Cora, public split: GCN" and abs(row.ours - 0.85) < 1e-12 and "0.750" in row.note


@pytest.mark.parametrize("network", NETWORKS)
def test_a_training_is_repeated_to_the_same_answers(network: str) -> None:
    first, again, other = (cora.train("karate", network, ALL, seed, epochs=12) for seed in (0, 0, 3))
    assert (first.acc, first.last, first.epoch) == (again.acc, again.last, again.epoch)
    assert 1 <= first.epoch <= 12 and other.seed == 3


def test_few_labels_are_some_of_the_training_set_and_each_seed_has_its_own() -> None:
    graph = cora.papers("karate")
    few = [cora.with_labels(graph, 1, seed).train_mask for seed in range(9)]
    for mask in few:
        assert not (mask & ~graph.train_mask).any()
        assert graph.y[mask].bincount().tolist() == [1] * int(graph.y.max() + 1)
    assert graph.train_mask.sum() >= few[0].sum()
    assert labelled(1) == "1 label a class" and labelled(5) == "5 labels a class"


def test_unseen_papers_send_nothing_in_training_and_are_heard_in_the_test() -> None:
    learnt, tested = cora.graphs("karate", "GCN", INDUCTIVE, 0)
    assert not tested.test_mask[learnt.edge_index].any() and tested.test_mask[tested.edge_index].any()
    assert torch.equal(tested.edge_index, cora.papers("karate").edge_index)
    alone, same = cora.graphs("karate", "no edges", ALL, 0)
    assert alone is same and alone.edge_index.shape == (2, 0)


@pytest.mark.real_data
def test_the_public_split_of_cora(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("Cora")))
    cora.papers.cache_clear()
    graph = cora.papers("Cora")
    assert [int(graph[f"{part}_mask"].sum()) for part in ("train", "val", "test")] == [140, 500, 1000]
    few, _ = cora.graphs("Cora", "GCN", labelled(2), 1)
    assert int(few.train_mask.sum()) == 14
    cora.papers.cache_clear()
