"""The bench of addition: small runs, kept line by line, and not run again."""

from pathlib import Path

from lab.bench import addition, runs_file


def test_a_run_is_kept_and_not_missing_any_more(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    assert addition.kept(path) == [] and addition.missing(path) == addition.RUNS
    run = addition.train("reversed", 0, 4, steps=2)
    runs_file.append(run, path)
    assert addition.kept(path) == [run] and run.parameters == 504
    assert addition.missing(path) == [r for r in addition.RUNS if r != ("reversed", 0, 4)]
    again = addition.train("reversed", 0, 4, steps=2)
    assert again.looks == run.looks and again.test == run.test
    assert addition.train("reversed", 1, 4, steps=2).test != run.test
    assert [at["step"] for at in run.looks] == [0, 1, 2]


def test_sizes_run_from_a_thousand_to_a_million() -> None:
    counts = [sum(p.numel() for p in addition.network(width).parameters()) for width in addition.WIDTHS]
    assert counts == sorted(counts) and counts[1] == 1_044 and counts[-1] == 1_004_904
    assert len(set(addition.RUNS)) == len(addition.RUNS) == 4 * len(counts)
    assert [addition.rate(width) for width in (4, 20, 200)] == [0.01, 0.01, 0.001]


def test_rows_of_kept_runs() -> None:
    rows = [addition.row(runs) for runs in addition.by_size(addition.kept())]
    assert rows[0].case == "504 parameters, reversed" and rows[0].met
    assert addition.measure(quick=True)[0].unit == "% exact"
