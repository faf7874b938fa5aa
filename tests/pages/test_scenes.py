"""Every scene of every page: a link to it opens the page in that state, nothing complains, its check says
why a wrong answer is wrong, and shows the right one nowhere before it is answered, and the symbols of its
equations have words."""

import os
from dataclasses import replace

import pytest
from checking import Check, faults, giveaways, spelled, watched
from opening import TOPICS, finish, open_page, run_page, scenes

from lab.ui.session import state

ALL = os.environ.get("LEVEL", "quick") != "quick"  # else the last of each page


def spell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return state.spell_point(value) or "" if isinstance(value, tuple | dict) else state.spell(value)


@pytest.mark.parametrize("topic", [t for t in TOPICS if "/" in t])
def test_every_scene_opens(topic: str) -> None:
    with watched() as checks, spelled() as strange:
        page = open_page(topic)
        for check in checks:
            assert not faults(check) and not giveaways(page, check), check.question
        known = scenes(page)
        if not known:
            pytest.skip("the page has no scenes yet")
        assert 2 <= len(known) <= 9
        sees = [scene.sees for scene in known.values()]
        assert len(set(sees)) == len(sees) and all(10 < len(line) <= 150 for line in sees)
        shown = list(known.items())
        for name, scene in shown if ALL else shown[-1:]:
            checks.clear()
            link = {key: spell(v) for key, v in scene.values.items() if v is not None}
            opened = open_page(topic, **link)
            if set(scene.values) - set(
                opened.session_state["_controls"]
            ):  # a film is there when it is computed
                finish(opened)
            drawn = opened.session_state["_controls"]
            unknown = set(scene.values) - set(drawn)
            assert not unknown, f"{name} sets {unknown}, which the page does not show in that scene"
            for check in checks[-1:]:
                assert not faults(check), f"{name}: {faults(check)}"
                assert not giveaways(opened, check), f"{name}: {check.question} {giveaways(opened, check)}"
        assert not strange, "symbols without words"


def page_that_tells() -> None:
    from lab import ui

    stage = ui.stage("Telling", "A page that has its answer everywhere.")
    with stage.picture:
        ui.table({"which": ["a lot"], "nats": ["1.25"]}, alt="Nats")
    stage.metrics({"Nats": "1.25"})
    with stage.below:
        ui.caption("It is a lot: 1.25 nats.")
        ui.check(
            "How much?", ["a lot", "a little", "nothing"], "a lot", "1.25 nats.",
            wrong=("It is less than that.", "It is more than little.", "It is more than nothing."),
            veils=("picture",),
        )  # fmt: skip


def test_what_tells_an_answer_is_found() -> None:
    with watched() as checks:
        page = run_page(page_that_tells)
    (check,) = checks
    table, number = "which,nats\na lot,1.25\n", "Nats: 1.25"
    assert giveaways(page, check) == [number]  # the picture is veiled, and all that stands below
    assert not giveaways(page, replace(check, veils=("picture", "equation")))
    assert giveaways(page, replace(check, veils=())) == [table, number]
    assert giveaways(page, replace(check, veils=("numbers",), why="")) == [table]


def test_what_a_check_does_not_explain_is_found() -> None:
    check = Check("How much?", ["1", "2", "3"], "2", "Count.", {"1": "One is missing here.", "3": "No."}, ())
    assert len(faults(check)) == 1
    assert not faults(replace(check, wrong={**check.wrong, "3": "One of them was counted twice."}))
    for wrong in ({}, {"3": ""}, {"3": "Count."}, {"3": "One is missing here."}, {"3": "counted one twice"}):
        assert faults(replace(check, wrong={"1": check.wrong["1"], **wrong}))
    assert faults(replace(check, options=["1", "1", "2"]))
