"""The code that a page offers gives the numbers that the page shows."""

import functools
from typing import Any

import pytest
from opening import TOPICS, finish, open_page, run_page, scenes
from rotation import in_turns
from streamlit.testing.v1 import AppTest

from lab.ui.navigation.menu import pages

PAGES = [t for t in TOPICS if "/" in t]


@functools.lru_cache(maxsize=1)
def finished(topic: str) -> AppTest:
    """The page as it stands at first, for tests that only read it."""
    return finish(open_page(topic))


def plain(value: Any) -> Any:
    """Numbers, texts and lists of them, whatever held them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def check(page: Any) -> None:
    source, shows = page.session_state["_program"]
    assert len(source.splitlines()) <= 16 and "result" in source
    space: dict[str, Any] = {}
    exec(source, space)
    agree(plain(space["result"]), plain(shows))


def agree(result: Any, shows: Any) -> None:
    """Texts are equal, numbers nearly so."""
    if isinstance(shows, list) and any(isinstance(v, str | list) for v in shows):
        assert isinstance(result, list)
        for one, other in zip(result, shows, strict=True):
            agree(one, other)
    else:
        assert result == (shows if isinstance(shows, str) else pytest.approx(shows, rel=1e-4, abs=1e-6))


@pytest.mark.parametrize("topic", PAGES)
def test_the_program_of_a_page_gives_what_the_page_shows(topic: str) -> None:
    page = finished(topic)
    if "_program" not in page.session_state:
        pytest.skip("the page offers no code yet")
    check(page)


@pytest.mark.heavy
@pytest.mark.parametrize("topic", in_turns(PAGES, "pages/{}".format))
def test_the_programs_of_its_other_views_do_too(topic: str) -> None:
    views = {scene.values["view"] for scene in scenes(finished(topic)).values() if "view" in scene.values}
    for view in sorted(views):
        page = run_page(topic, view=view)
        if "_program" in page.session_state:
            check(page)


def test_every_page_is_found() -> None:
    assert len(pages()) == len([t for t in TOPICS if "/" in t])
