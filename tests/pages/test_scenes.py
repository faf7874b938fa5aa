"""Every scene of every page: a link to it opens the page in that state, and nothing complains."""

import os

import pytest
from opening import TOPICS, finish, open_page, scenes

from lab.ui import state

ALL = os.environ.get("LEVEL", "quick") != "quick"  # else the last of each page


def spelled(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return state.spell_point(value) or "" if isinstance(value, tuple | dict) else state.spell(value)


@pytest.mark.parametrize("topic", [t for t in TOPICS if "/" in t])
def test_every_scene_opens(topic: str) -> None:
    page = open_page(topic)
    known = scenes(page)
    if not known:
        pytest.skip("the page has no scenes yet")
    assert 2 <= len(known) <= 9
    sees = [scene.sees for scene in known.values()]
    assert len(set(sees)) == len(sees) and all(10 < len(line) <= 150 for line in sees)
    shown = list(known.items())
    for name, scene in shown if ALL else shown[-1:]:
        link = {key: spelled(v) for key, v in scene.values.items() if v is not None}
        opened = open_page(topic, **link)
        if set(scene.values) - set(opened.session_state["_controls"]):  # a film is there when it is computed
            finish(opened)
        drawn = opened.session_state["_controls"]
        unknown = set(scene.values) - set(drawn)
        assert not unknown, f"{name} sets {unknown}, which the page does not show in that scene"
