"""The bench of explanations: its answers, a run twice, what it says of known runs."""

from pathlib import Path

from lab.bench import explanations, runs_file
from lab.bench.explanations import MODELS, SEEDS, Run, asked, plan, rows, run


def test_the_plan_has_every_task() -> None:
    assert len(set(plan())) == len(plan()) == sum(SEEDS.values()) and {task for task, _ in plan()} == {
        *MODELS
    }


def test_what_is_asked_is_answered_rightly_and_planted() -> None:
    graphs = asked("motifs, mean", 4)
    assert [y for _, y in graphs] == [0, 1, 0, 1]
    assert [int(truth.sum()) // 2 for (*_, truth), _ in graphs] == [5, 6, 5, 6]
    (_, _, node, truth), y = asked("houses", 1)[0]
    assert node is not None and y > 0 and int(truth.sum()) == 12


def test_rows_are_means_over_seeds(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for seed, mask in enumerate((0.6, 0.8)):
        runs_file.append(Run("houses", seed, 38, "2026-11-30", mask, 0.9, 0.5, 0.7), path)
    found = {row.case: row.ours for row in rows(runs_file.kept(plan(), path, Run))}
    assert found == {"houses: mask": 0.7, "houses: gradient": 0.9, "houses: random": 0.5}


def test_a_run_is_repeated_to_the_same_area() -> None:
    first, again = (run("motifs, mean", 0, 1) for _ in range(2))
    assert first == again and 0 <= first.mask <= 1
    assert explanations.KEPT.name.endswith("-runs.jsonl")
