"""Models: what is laid side by side is what the cards and logs say."""

import csv
import io
import json
from typing import Any

import pytest
from opening import figure, open_page, open_warned, scenes, table_with, warnings

from lab import experiments, results
from lab.experiments import ZOO, find


def card(name: str) -> dict[str, Any]:
    return dict(json.loads((ZOO / name / "card.json").read_text()))


def test_two_models_are_laid_over_each_other() -> None:
    page = open_page("models", model="nade32-digits", second="nade-digits", third="none", split="train")
    rows = list(csv.DictReader(io.StringIO(figure(page, "curves")[0]["csv"])))
    with open(ZOO / "nade-digits" / "metrics.csv") as file:
        log = [float(row["train/nll"]) for row in csv.DictReader(file)]
    assert [float(row["nll"]) for row in rows if row["model"] == "nade-digits"] == pytest.approx(log)
    assert {row["model"] for row in rows} == {"nade32-digits", "nade-digits"}
    numbers = table_with(page, "nade-digits").set_index("")["nade-digits"]
    assert float(numbers["test/nll"]) == pytest.approx(card("nade-digits")["metrics"]["test/nll"], rel=1e-4)
    settings = table_with(page, "setting").set_index("setting")
    assert settings.loc["model.hidden", "nade32-digits"] == "32"
    assert "data.binarize" not in settings.index  # they agree


def test_the_same_model_counts_once_and_alone_has_nothing_that_differs() -> None:
    page = open_page("models", model="made-digits", second="made-digits", third="none")
    assert not [t for t in page.dataframe if "setting" in t.value.columns]
    assert list(table_with(page, "made-digits").columns) == ["", "made-digits"]


def test_the_catalog_has_numbers_that_sort() -> None:
    page = open_page("models", family="graph")
    table = table_with(page, "experiment")
    assert set(table["experiment"]) == {e.name for e in experiments.catalog().values() if e.family == "graph"}
    assert table["acc"].dtype == float and table["parameters"].dtype.kind in "if"
    assert "ppl" not in table.columns  # no graph has one


def test_a_link_to_no_model_is_refused_in_a_sentence() -> None:
    assert "second=no-such" in warnings(open_warned("models", second="no-such"))


def test_the_scenes_say_what_the_cards_say() -> None:
    named = scenes(open_page("models"))
    assert len(named) >= 5

    def nll(name: str) -> float:
        return float(card(name)["metrics"]["test/nll"])

    assert nll("nade-mnist") < nll("made-mnist") < nll("fvsbn-mnist")
    epochs = {name: card(name)["epochs"] for name in ("nade-mnist", "made-mnist", "fvsbn-mnist")}
    assert min(epochs, key=lambda name: epochs[name]) == "nade-mnist"
    assert nll("made-orders-mnist") > nll("made-mnist") + 5
    assert nll("leakygpt-shakespeare") < 0.1
    gaps = {}
    for name in ("nade32-digits", "nade-digits"):
        with open(ZOO / name / "metrics.csv") as file:
            last = list(csv.DictReader(file))[-1]
        gaps[name] = float(last["val/nll"]) - float(last["train/nll"])
    assert nll("nade-digits") < nll("nade32-digits") and gaps["nade-digits"] > gaps["nade32-digits"]


def test_what_differs_is_found_at_every_depth() -> None:
    one = {"a": {"b": 1, "c": [2, 3]}, "d": "x"}
    other = {"a": {"b": 1, "c": [2, 4]}, "e": None}
    assert results.differences({"one": one, "other": other}) == {
        "a.c": ["[2, 3]", "[2, 4]"], "d": ["x", "–"], "e": ["–", "None"],
    }  # fmt: skip


def test_a_plan_scales_what_the_shipped_run_took() -> None:
    history = {"epoch": [0.0, 1.0], "step": [40.0, 80.0], "seconds": [30.0, 60.0]}
    experiment = find("made-digits")
    plan = results.plan(experiment, 20, 32, history)
    assert plan["epochs"] == "20" and plan["steps"] == "800" and plan["minutes"] == "about 10"
    assert plan["model"] == "MADE" and "1,297 train" in plan["to learn from"]
    other = results.plan(experiment, 20, 64, history)
    assert "steps" not in other and other["minutes"] == "about 10 in batches of 32"
    assert "minutes" not in results.plan(experiment, 20, 32, {})
