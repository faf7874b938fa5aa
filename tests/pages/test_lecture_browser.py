"""Lectures by clicker: an entry shows what its link shows, whichever way and however fast one comes there."""

from collections.abc import Callable
from typing import Any

import pytest
from browsing import Visit

from lab import lecture

pytestmark = pytest.mark.browser
# What a reader sees of a page's state: link, scene and its line, controls, where films stand, figures.
STATE = """() => {
  const all = (selector, read) => [...document.querySelectorAll(selector)].map(read);
  return {
    link: [location.pathname, ...location.search.slice(1).split("&").sort()],
    title: document.querySelector("h1").innerText,
    scene: all(".lectern-stage [aria-pressed=true]", (b) => b.innerText),
    line: all(".lectern-stage .sees", (b) => b.innerText),
    sliders: all(".lectern-slider", (s) => [s.innerText, s.querySelector("input").value]),
    films: all(".lectern-film .count", (c) => c.innerText),
    fields: all(".st-key-rail :is(input, textarea)", (f) =>
      [f.ariaLabel, f.type === "checkbox" ? f.checked : f.value]),
    choices: all(".st-key-rail [data-testid=stBaseButton-segmented_controlActive]", (b) => b.innerText),
    figures: all("[data-testid=stMain] .plot", (p) => p.ariaLabel),
    complaints: all("[data-testid=stAlert]", (a) => a.innerText),
  };
}"""


def state(visit: Visit) -> dict[str, Any]:
    """Once everything has come to rest."""
    visit.settle()
    visit.worked()
    visit.quiet()
    seen: dict[str, Any] = visit.tab.evaluate(STATE)
    return seen


@pytest.fixture(scope="module")
def by_link(browser: Any, dashboard: str) -> Any:
    """What an entry shows that is opened by its link, in a session of its own."""
    reader, seen = Visit(browser, dashboard), {}
    reader.context.set_default_timeout(300_000)  # of work that an entry begins by itself

    def show(name: str, at: int) -> dict[str, Any]:
        if (name, at) not in seen:
            reader.open(lecture.read(name).link(at))
            seen[name, at] = state(reader)
        return seen[name, at]

    yield show
    reader.context.close()


def press(visit: Visit, key: str, times: int, to: int) -> dict[str, Any]:
    """Press a key of the clicker so often, one right after the other; what is shown in the end."""
    for _ in range(times):
        visit.tab.keyboard.press(key)
    visit.tab.wait_for_url(lambda link: f"&at={to + 1}&" in f"{link}&")
    return state(visit)


# Games are trained before the reader's eyes: their lecture takes minutes of training, the others none.
LEVELS = {"autoregressive": [], "games": [pytest.mark.soak]}
EVERY = [pytest.param(name, marks=LEVELS.get(name, [pytest.mark.heavy])) for name in lecture.names()]


@pytest.mark.parametrize("name", EVERY)
def test_a_lecture_forwards(name: str, visit: Visit, by_link: Callable[..., Any]) -> None:
    visit.context.set_default_timeout(300_000)
    visit.open(lecture.read(name).link(0))
    for at in range(1, len(lecture.read(name).entries)):
        assert press(visit, "PageDown", 1, at) == by_link(name, at), (name, at + 1)


@pytest.mark.heavy
def test_a_lecture_backwards(visit: Visit, by_link: Callable[..., Any]) -> None:
    visit.context.set_default_timeout(300_000)
    last = len(lecture.read("first_look").entries) - 1
    visit.open(lecture.read("first_look").link(last))
    for at in range(last - 1, -1, -1):
        assert press(visit, "PageUp", 1, at) == by_link("first_look", at), at + 1


def test_the_clicker_is_heard_before_the_last_page_has_settled(
    visit: Visit, by_link: Callable[..., Any]
) -> None:
    visit.open(lecture.read("flow").link(0))
    at = 0
    for by in (2, 3, -1, 4, -2):
        at += by
        assert press(visit, "PageDown" if by > 0 else "PageUp", abs(by), at) == by_link("flow", at), at + 1
    visit.tab.go_back()  # to the entry before, as it stood
    visit.tab.wait_for_url(lambda link: f"&at={at}" in link or f"&at={at + 2}" in link)
    back = at + 1 if f"&at={at + 2}" in visit.tab.url else at - 1
    assert state(visit) == by_link("flow", back)
