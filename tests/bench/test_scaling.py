"""The bench of scaling laws: its plan, a file that is gone on with, what it says of runs that are known."""

import json
import math
from pathlib import Path

import pytest
import torch

from datamodules.markov import language
from lab.bench import scaling
from lab.bench.scaling import AMPLE, BUDGETS, SMALL, WIDTHS, Run, go_on, kept, plan, rows, same, train, tuned


def test_the_plan_has_every_run_once_and_tunes_first() -> None:
    runs = plan()
    assert len(set(runs)) == len(runs)
    tried = 3 * len((*SMALL, *WIDTHS))
    assert [run.group for run in runs[:tried]] == ["tuning"] * tried
    for C, widths in BUDGETS.items():
        assert len(widths) == 6
        mine = [run for run in runs if run.group == "isoflop" and abs(6 * run.N * run.D / C - 1) < 1e-3]
        assert {run.width for run in mine} == set(widths) and {run.seed for run in mine} == {0, 1, 2}
    assert {12 * run.layers * run.width**2 for run in runs if run.group == "shape"} == {27_648}


def test_a_plan_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "scaling.jsonl"
    runs = [Run("tuning", 8, 4000, factor=f) for f in (1.0, 2.0)] + [Run("size", 8, 4000)]
    go_on(runs[:2], path, most=32)
    first = path.read_text()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    go_on(runs, path, most=32)
    assert path.read_text().startswith(first) and torch.equal(torch.get_rng_state(), before)
    results = kept(path)
    assert [same(run, result) for run, result in zip(runs, results, strict=True)] == [True] * 3
    assert results[2]["rate"] == pytest.approx(tuned(8, results) * 1e-2 * math.sqrt(2), rel=1e-5)
    go_on(runs, path, most=32)
    assert len(kept(path)) == 3
    # a run is repeated to the same bits
    again = train(runs[2], results[2]["rate"], 32)
    assert again["excess"] == pytest.approx(results[2]["excess"], rel=1e-4)
    assert again["loss"] == pytest.approx(language().entropy_rate + again["excess"])
    with pytest.raises(ValueError, match="tuning first"):
        tuned(8, [])


def test_the_excess_is_the_mean_surprise_above_the_entropy() -> None:
    """By −log p of the tokens that came: the same, with more noise."""
    model = scaling.GPT(64, 33, 1, 1, 8, positions="rotary").eval()
    more, error = scaling.excess(model, "test", 1024)
    x = scaling.lines("test")[:1024]
    with torch.no_grad():
        nll = -model(x[:, :-1])[:, 1:].log_softmax(-1).gather(-1, x[:, 2:, None])[..., 0]
    # a line of 31 targets has a surprise that varies by about 0.2
    assert float(nll.mean()) == pytest.approx(language().entropy_rate + more, abs=4 * 0.2 / 32)
    assert 0 < error < 0.01 and more > 1


def test_rows_say_what_runs_of_a_known_law_say() -> None:
    law = scaling.fit_chinchilla(*zip(*[(n, d, 1.84 + n**-0.5 * 20 + d**-0.5 * 200) for n in (1e3, 4e3, 9e3)
                                        for d in (1e5, 4e5, 9e5)], strict=True), floor=1.84)  # fmt: skip
    results = [
        {"group": run.group, "N": run.N, "D": run.D, "C": 6 * run.N * run.D, "seed": run.seed,
         "width": run.width, "layers": run.layers, "unique": run.unique, "loss": 2.0,
         "excess": float(law.loss(run.N, run.D)) - 1.84}
        for run in plan()
    ]  # fmt: skip
    said = {row.case: row for row in rows(results)}
    assert said["L − E against N: exponent"].ours == pytest.approx(0.5, abs=0.01)
    assert (
        "R² 1.0000" in said["L − E against N: exponent"].note
        and f"{AMPLE} tokens" in next(iter(said.values())).note
    )
    assert said["N* against C: exponent of the law of all runs"].ours == pytest.approx(0.5, abs=1e-3)
    held_out = said["held out, N = 27,648: L − E through the prediction"]
    assert held_out.ours == pytest.approx(1, abs=0.02)
    for C in BUDGETS:
        assert said[f"isoFLOP, C = {C:g}: N* by a parabola"].ours == pytest.approx(law.optimum(C)[0], rel=0.5)
    assert "3 seeds" in said["shape: 16 layers of width 12: L − E"].note
    assert rows([]) == []


def test_the_results_that_are_kept_are_of_the_plan() -> None:
    runs, results = plan(), kept()
    for result in results:
        assert any(same(run, result) for run in runs), json.dumps(result)[:200]
        assert 0 < result["se"] < 0.1 and result["C"] == pytest.approx(
            6 * result["N"] * result["D"], rel=1e-5
        )
        if not result["unique"]:
            assert result["loss"] == pytest.approx(language().entropy_rate + result["excess"], abs=1e-4)
