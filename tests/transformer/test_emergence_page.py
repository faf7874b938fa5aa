"""Emergence page: what its scenes say, read from the kept runs line by line, and sums by Python."""

import json
from typing import Any

import numpy as np
import pytest

from lab import weights
from lab.bench import addition
from lab.errors import UserError
from lab.experiments import ZOO
from modules.transformer.answer import METRICS
from pages.transformer.emergence import lens
from pages.transformer.emergence.room import METRICS as SHOWN
from pages.transformer.emergence.room import REVERSED, ROOM, STEPS


def look(parameters: int, step: int, seed: int = 0) -> dict[str, Any]:
    """What the file says of the reversed order."""
    lines = [json.loads(line) for line in addition.KEPT.read_text().splitlines()]
    key = REVERSED, seed, parameters
    (run,) = [r for r in lines if (r["order"], r["seed"], r["parameters"]) == key]
    return {name: np.array(v) for name, v in next(at for at in run["looks"] if at["step"] == step).items()}


def test_series_are_the_kept_runs() -> None:
    for seed in lens.seeds(REVERSED):
        found = lens.series(REVERSED, seed)
        assert found.sizes == sorted(found.sizes) == list(lens.sizes(REVERSED))
        for n, size in enumerate(found.sizes):
            for step in (0, 500, 1000):
                said, f = look(size, step, seed), STEPS.index(step)
                for name in METRICS:
                    assert found.values[name][f, n] == pytest.approx(said[name])
                assert found.digits[f, n] == pytest.approx(said["digits"])
                assert found.product[f, n] == pytest.approx(np.prod(said["digits"]))
    for run in lens.runs():
        assert [at["step"] for at in run.looks] == list(STEPS) and run.steps == addition.STEPS
        for at in [*run.looks, run.test]:
            assert 0 <= at["exact"] <= min(at["digits"]) + 1e-9
            assert at["accuracy"] == pytest.approx(np.mean(at["digits"]), abs=2e-6)
    assert set(lens.KEYS) == set(SHOWN) and set(lens.KEYS.values()) | {"exact"} == set(METRICS)


def test_what_the_scenes_say_of_the_sizes() -> None:
    """The jump, what rises before it, and the digit that is guessed."""
    sizes = (504, 1_044, 1_776, 2_700)
    ends = [look(size, 1000) for size in sizes]
    exact = [float(end["exact"]) for end in ends]
    assert max(exact[:3]) < 0.15 and min(exact[:2]) < 0.05 and exact[3] > 0.95
    likelihood = [float(end["log_likelihood"]) for end in ends]
    assert likelihood[2] - likelihood[0] > 3  # of less than 6 in all
    brier = [float(end["brier"]) for end in ends]
    assert brier[0] > 0.55 and brier[2] < 0.25
    p = float(ends[2]["accuracy"])
    assert p**4 > 0.3 > 2 * exact[2]
    digits = ends[2]["digits"]
    assert min(digits[[0, 2, 3]]) > 0.98 and digits[1] < 0.2
    # with another seed it is a jump too, elsewhere
    other = {size: look(size, 1000, ROOM.scenes["Another seed"].state.seed) for size in lens.sizes(REVERSED)}
    small = [float(end["exact"]) for size, end in other.items() if size < 10_200]
    large = [float(end["exact"]) for size, end in other.items() if 10_200 <= size <= 100_224]
    assert max(small) < 0.15 and min(large) > 0.99 and other[6_624]["digits"][1] < 0.2
    # halfway, the jump stands at a larger size
    found = lens.series(REVERSED, 0)
    half = found.values["exact"][STEPS.index(500)]
    assert half[found.sizes.index(2_700)] < 0.5 < half.max()
    behind = [size for size, value in zip(found.sizes, half, strict=True) if size > 10_200 and value < 0.5]
    assert len(behind) == 2
    n = found.sizes.index(2_700)
    course = found.values["exact"][:, n]
    assert course[STEPS.index(500)] < 0.5 < course[-1]
    assert found.values["log_likelihood"][STEPS.index(500), n] > found.values["log_likelihood"][0, n] + 5
    assert "1{,}776" in lens.equation(found, len(STEPS) - 1, 4)


@pytest.mark.parametrize("text", ["345+678", "213+542", "999 + 999", "555+445="])
def test_sums_of_the_larger_model_are_right(text: str) -> None:
    model: Any = weights.load("gpt-addition")
    pair = lens.summands(text)
    found = lens.answer(model, weights.read_card(ZOO / "gpt-addition"), pair)
    assert found.says == found.sum == sum(pair) == int(found.right[::-1])
    assert found.metrics["exact"] == 1 and found.metrics["log_likelihood"] > -0.5
    assert found.metrics["log_likelihood"] == pytest.approx(sum(found.log_p), abs=1e-4)
    assert [f"{int(row.argmax())}" for row in found.chances] == list(found.written)


def test_the_scene_of_the_small_model() -> None:
    state = ROOM.scenes["A model too small"].state
    card = weights.read_card(ZOO / state.model)
    model: Any = weights.load(state.model)
    found = lens.answer(model, card, lens.summands(state.sum))
    assert found.says == 990 and found.sum == 1000
    assert found.chances[1].max() < 0.2 and found.chances[[0, 2, 3]].max(1).min() > 0.9
    assert model.num_parameters == 1_776


def test_bad_sums_get_a_sentence() -> None:
    for bad in ("99+100", "1000+100", "100-99", "abc", "", "100+200+300"):
        with pytest.raises(UserError):
            lens.summands(bad)
    assert lens.summands(" 100 + 999 = ") == (100, 999)


def test_the_shipped_models_keep_what_the_bench_found() -> None:
    """Of 10,000 held-out sums; weights are rounded to 16 bits."""
    small, large = (weights.load(name) for name in ("smallgpt-addition", "gpt-addition"))
    from datamodules.addition import Addition

    data = Addition()
    data.setup("test")
    model: Any = small
    assert addition.look(model, data.test_set)["exact"] < 0.15  # type: ignore[arg-type]
    model = large
    assert addition.look(model, data.test_set)["exact"] >= 0.999  # type: ignore[arg-type]
