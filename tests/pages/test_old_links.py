"""Links of an earlier day: what they showed when they were made, they show today.

`links.json` was written by the code of 98a4935, up to three links a page: topic -> [link, the controls that
stood elsewhere than at first]. It is never written anew: a default that moves fails here.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from opening import failures, finish, run_page
from streamlit.testing.v1 import AppTest

from lab.ui.session import state

LINKS: dict[str, Any] = json.loads((Path(__file__).parent / "links.json").read_text(encoding="utf-8"))
QUICK = os.environ.get("LEVEL", "quick") == "quick"


def moved(page: AppTest) -> dict[str, Any]:
    """The controls that stand elsewhere than at first."""
    at, result = page.session_state, {}
    for key, control in at["_controls"].items():
        if control.kind == "widget":
            value, first = at[key] if key in at else None, control.default  # noqa: SIM401
        else:
            value = at[f"_held:{key}"] if f"_held:{key}" in at else None  # noqa: SIM401
            first = None if control.default is None else state.spell(control.default)
        if value not in (None, first):
            result[key] = value
    return result


@pytest.mark.parametrize("topic", sorted(LINKS)[:: 9 if QUICK else 1])
def test_an_old_link_shows_what_it_showed(topic: str) -> None:
    for link, stood in LINKS[topic][:1] if QUICK else LINKS[topic]:
        page = run_page(topic, **link)
        if set(stood) - set(page.session_state["_controls"]):  # a film is there when its work is done
            page = finish(page)
        assert not failures(page) and not page.warning, (link, failures(page))
        assert json.loads(json.dumps(moved(page))) == stood, link
