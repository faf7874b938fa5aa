"""The code that a page offers gives the numbers that the page shows."""

from typing import Any

import pytest
from opening import TOPICS, open_page

from lab.ui.navigation import pages


def plain(value: Any) -> Any:
    """Numbers, texts and lists of them, whatever held them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("topic", [t for t in TOPICS if "/" in t])
def test_the_program_of_a_page_gives_what_the_page_shows(topic: str) -> None:
    page = open_page(topic)
    if "_program" not in page.session_state:
        pytest.skip("the page offers no code yet")
    source, shows = page.session_state["_program"]
    assert len(source.splitlines()) <= 16 and "result" in source
    space: dict[str, Any] = {}
    exec(source, space)
    assert plain(space["result"]) == pytest.approx(plain(shows), rel=1e-4, abs=1e-6)


def test_every_page_is_found() -> None:
    assert len(pages()) == len([t for t in TOPICS if "/" in t])
