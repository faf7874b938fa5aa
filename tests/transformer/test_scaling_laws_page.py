"""The page Scaling laws and isoFLOP: its curves, optima and captions by another road, what its scenes say."""

from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st
from opening import equation, figure, film, open_page, open_warned, warnings

from lab.bench import scaling
from modules.transformer.scaling_laws import PRESETS, Chinchilla, JointLaw
from pages.transformer.scaling_laws import lens, own_runs, room, simulated


def state(name: str) -> room.State:
    return room.ROOM.scenes[name].state


def test_each_isoflop_curve_is_least_where_the_optimum_stands() -> None:
    page = open_page("transformer/scaling_laws")
    bar = film(page, "budget")
    assert bar["count"] == len(room.BUDGETS)
    at = room.BUDGETS.index(5.88e23)
    assert "32.5 B parameters and 3.02 T tokens, 92.8 for each, loss 1.9" in bar["captions"][at]
    found = lens.budgets(room.PRINTED, lens.law_of(room.State().own), (8e9, 15e12), "none")
    law = PRESETS["as printed"]
    for i, C in enumerate(room.BUDGETS):
        losses = law.E + law.A / found.sizes[i] ** law.alpha + law.B / (C / 6 / found.sizes[i]) ** law.beta
        np.testing.assert_allclose(found.losses[i], losses, rtol=1e-12)
        lowest = found.sizes[i, losses.argmin()]
        assert lowest == pytest.approx(found.best[i, 0], rel=0.04) and 0 < losses.argmin() < len(losses) - 1
    _, arrays = figure(page, "iso")
    assert any(np.shape(values) == found.losses.shape for values in arrays.values())
    assert found.models["Gopher"][2] == pytest.approx(1.9933, abs=5e-5)


def test_presets_disagree_as_the_scenes_say() -> None:
    ratios = lens.ratios(room.PRINTED, lens.law_of("1, 2, 3, 0.3, 0.3"))
    at = room.BUDGETS.index(state("Twenty to one").budget)
    assert [round(float(ratio[at])) for ratio in ratios.values()] == [93, 59, 18] and "own" not in ratios
    best = lens.budgets(room.REFIT, lens.law_of("1, 2, 3, 0.3, 0.3"), (8e9, 15e12), "none").best
    at = room.BUDGETS.index(state("Refit").budget)
    assert best[at, 0] == pytest.approx(73.02e9, rel=1e-3) and best[at, 1] / best[at, 0] == pytest.approx(
        18.4, abs=0.05
    )
    own = lens.ratios(room.OWN, Chinchilla(1, 1, 1, 0.3, 0.3))["own"]
    np.testing.assert_allclose(own, 1)
    served = lens.budgets(room.PRINTED, Chinchilla(1, 1, 1, 0.3, 0.3), (8e9, 15e12), "10¹³").served
    assert (
        served is not None
        and (
            served[:, 0]
            < lens.budgets(room.PRINTED, Chinchilla(1, 1, 1, 0.3, 0.3), (8e9, 15e12), "none").best[:, 0]
        ).all()
    )


def test_a_tenfold_model_saves_what_the_scene_says() -> None:
    two, law = lens.joint(), JointLaw()
    saved = {D: D / fewer for D, fewer in zip(room.TOKENS, two.fewer, strict=True)}
    assert (saved[1e9], saved[1e10], saved[1e11]) == pytest.approx((1.89, 9.88, 89.8), rel=2e-3)
    for loss, fewer in zip(two.loss, two.fewer, strict=True):
        assert law.loss(1e9, fewer) == pytest.approx(loss, rel=1e-9)
    (x0, y0), (x1, y1) = lens.halved("N")
    assert x1 / x0 == pytest.approx(9139.5, rel=1e-4) and y0 / y1 == pytest.approx(2)


def test_an_interval_that_misses_and_a_law_without_its_floor() -> None:
    """The runs are those of the specification; the scene's seed alone is named."""
    missed = state("An interval that misses")
    found = simulated.fit(missed.form, missed.noise, missed.without, missed.seed)
    low, high = found.interval
    assert not low <= 1.69 <= high and low < found.number < high and found.truth == 1.69
    bare = state("Without E")
    other = simulated.fit(bare.form, bare.noise, bare.without, bare.seed)
    assert other.law.E == 0 and other.interval[1] < other.truth  # too little loss of the largest run
    assert (other.over_seeds < other.truth).all()
    exact = simulated.fit(room.FREE, 0.0, 2, 0)
    assert exact.number == pytest.approx(1.69, rel=1e-4)
    assert np.abs(exact.said / exact.losses - 1).max() < 1e-4
    np.testing.assert_array_equal(simulated.runs(1.0, 3), simulated.runs(1.0, 3))


@pytest.mark.parametrize("view", [room.RATIO, room.POWER, room.JOINT, room.FIT])
def test_the_page_shows_these_numbers(view: str) -> None:
    page = open_page("transformer/scaling_laws", view=view)
    if view == room.POWER:
        assert "9{,}139" in equation(page)
    elif view == room.JOINT:
        assert "9.88 times fewer" in film(page, "tokens")["captions"][room.TOKENS.index(1e10)]
    elif view == room.RATIO:
        assert (
            "as printed 92.8, not rounded 59.2, refit 2024 18.4"
            in film(page, "budget")["captions"][room.BUDGETS.index(5.88e23)]
        )
    else:
        found = simulated.fit(room.FREE, 1.0, 2, 0)
        assert f"{found.number:.3f}" in equation(page)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"model": "8e9"}, "give 2"),
        ({"model": "8e9, 1"}, "can be drawn"),
        ({"model": "many, few"}, "between commas"),
        ({"preset": "own", "own": "1, 2, 3, 4, 5"}, "0.02 to 2"),
        ({"preset": "own", "own": "1, -2, 3, 0.4, 0.5"}, "above 0"),
    ],
)
def test_bad_input_is_one_sentence(parameters: dict[str, str], sentence: str) -> None:
    assert sentence in warnings(open_warned("transformer/scaling_laws", **parameters))


@pytest.fixture
def nothing_computed() -> Iterator[None]:
    """What pages keep is of the runs that ship: neither these here, nor those in other tests."""
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.mark.usefixtures("nothing_computed")
def test_our_runs_are_shown_once_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """By runs of a known law, in the form of the file."""
    results = [
        {"group": run.group, "N": run.N, "D": run.D, "C": 6.0 * run.N * run.D, "seed": run.seed,
         "width": run.width, "layers": run.layers, "unique": run.unique,
         "excess": 20 * run.N**-0.5 + 200 * run.D**-0.5}
        for run in scaling.plan() if run.seed == 0 and run.group in ("size", "isoflop")
    ]  # fmt: skip
    results = [result | {"loss": 1.84 + result["excess"]} for result in results]
    monkeypatch.setattr(scaling, "kept", lambda: results[:3])
    assert room.OURS not in own_runs.views()
    monkeypatch.setattr(scaling, "kept", lambda: results)
    assert own_runs.views() == room.VIEWS
    own = own_runs.ours(2)
    # D is 800 N: both terms fall by one power
    assert own.line.law.exponent == pytest.approx(0.5, abs=1e-5) and own.kept == len(own.N) - 2
    assert own.floor == pytest.approx(1.84) and set(own.curves) == set(scaling.BUDGETS)
    said, low, high = own.line.predict(own.N[-1])
    assert said == pytest.approx(own.excess[-1], rel=1e-4) and low <= said <= high
    page = open_page("transformer/scaling_laws", view=room.OURS)
    assert r"\alpha = 0.500" in equation(page)


def test_reasons_point_to_the_optimum() -> None:
    for law in PRESETS.values():
        for C in room.BUDGETS:
            N, D = law.optimum(C)
            for option, ratio in lens.SPLITS.items():
                if option != lens.answer(D / N):
                    more = "more tokens" if ratio < D / N else "more parameters"
                    assert more in lens.reasons(law, C)[option]
            assert lens.answer(lens.SPLITS["10 to 30"]) == "10 to 30"
