"""Lectures by clicker: an entry shows what its link shows, whichever way and however fast one comes there."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import DRAWN, WORKS, Visit
from rotation import due, in_turn, turn

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


# Whether a page is drawn and works at nothing, its address and its words.
STANDING = f"""() => [({DRAWN})() && !document.querySelector("{WORKS}"), location.href,
  document.querySelector("[data-testid=stMain]")?.innerText]"""


def rest(*visits: Visit) -> None:
    """Wait until everything has come to rest, and nothing has changed for a second."""
    before: list[Any] = []
    since = time.monotonic()
    while True:
        visits[0].tab.wait_for_timeout(200)
        now = [visit.tab.evaluate(STANDING) for visit in visits]
        if now != before:
            before, since = now, time.monotonic()
        elif all(rests for rests, *_ in now) and time.monotonic() > since + 1:
            return
        assert time.monotonic() < since + 300, f"it neither rests nor changes: {now}"


@pytest.fixture(scope="module")
def by_link(browser: Any, dashboard: str) -> Iterator[Callable[..., tuple[Any, Any]]]:
    """What a visit shows, and what the link of an entry shows opened meanwhile in a session of its own;
    both at rest."""
    reader, results = Visit(browser, dashboard), {}
    reader.context.set_default_timeout(300_000)  # of work that an entry begins by itself

    def pair(visit: Visit, name: str, at: int) -> tuple[dict[str, Any], dict[str, Any]]:
        if (name, at) in results:
            rest(visit)
        else:
            reader.tab.goto(f"{dashboard}/{lecture.read(name).link(at)}")
            reader.tab.wait_for_selector("h1")
            rest(visit, reader)
            results[name, at] = reader.tab.evaluate(STATE)
        return visit.tab.evaluate(STATE), results[name, at]

    yield pair
    reader.context.close()


def press(visit: Visit, key: str, times: int, to: int) -> None:
    """Press a key of the clicker so often, one right after the other, until the address is of the entry."""
    for _ in range(times):
        visit.tab.keyboard.press(key)
    visit.tab.wait_for_url(lambda link: f"&at={to + 1}&" in f"{link}&")


def path(name: str) -> str:
    return f"lab/lectures/{name}.yaml"


# Games are trained before the reader's eyes, for minutes: their lecture goes on while they train.
LEVELS = {"autoregressive": []}
EVERY = [
    pytest.param(
        name, marks=LEVELS.get(name, [pytest.mark.heavy if in_turn(path(name)) else pytest.mark.soak])
    )
    for name in lecture.names()
    if name != "games"
]


@pytest.mark.parametrize("name", EVERY)
def test_a_lecture_forwards(name: str, visit: Visit, by_link: Callable[..., Any]) -> None:
    """Each entry stands in its scene and complains of nothing; a third of them, in turn, show what
    their link shows, as all do without a browser (`test_lecture`)."""
    visit.context.set_default_timeout(300_000)
    visit.open(lecture.read(name).link(0))
    for at, entry in enumerate(lecture.read(name).entries):
        if at:
            press(visit, "PageDown", 1, at)
        visit.settle()
        visit.worked()
        shown = visit.tab.evaluate(STATE)
        assert shown["link"][0] == f"/{entry.page}" and not shown["complaints"], (name, at + 1)
        if entry.scene and not entry.state:
            assert [entry.scene in button for button in shown["scene"]] == [True], (name, at + 1)
        if at and due(entry.page, turn() + at):
            shown, wanted = by_link(visit, name, at)
            assert shown == wanted, (name, at + 1)


# What stands on the page while its picture still grows. The film of a training goes on by itself.
STANDS = ("link", "title", "scene", "line", "sliders", "fields", "choices", "complaints")
GROWS = ("step=", "until=")


def stands(visit: Visit, name: str, at: int) -> dict[str, Any]:
    """What the page says of its state as soon as it is this entry, whatever still trains."""
    of = len(lecture.read(name).entries)
    visit.tab.wait_for_function(
        "(mark) => document.querySelector('.lectern-mark')?.innerText === mark", arg=f"{at + 1} / {of}"
    )
    results, before = {}, None
    while results != before or not results:  # until nothing of it has changed for a moment
        before = results
        visit.tab.wait_for_timeout(300)
        now = visit.tab.evaluate(STATE)
        results = {key: now[key] for key in STANDS}
        results["link"] = [part for part in results["link"] if not part.startswith(GROWS)]
    return results


@pytest.mark.heavy
def test_a_lecture_goes_on_while_its_games_train(browser: Any, visit: Visit, dashboard: str) -> None:
    """PageDown as soon as an entry stands: the next one stands as its link shows it."""
    entries, reader = lecture.read("games").entries, Visit(browser, dashboard)
    visit.open(lecture.read("games").link(0))
    for at in range(1, len(entries)):
        visit.tab.keyboard.press("PageDown")
        reader.tab.goto(f"{dashboard}/{lecture.read('games').link(at)}")
        for _ in range(30):  # a busy server may be silent for longer than `stands` waits
            shown, wanted = stands(visit, "games", at), stands(reader, "games", at)
            if shown == wanted:
                break
        assert shown == wanted, at + 1
    reader.context.close()


@pytest.mark.heavy
def test_a_lecture_backwards(visit: Visit, by_link: Callable[..., Any]) -> None:
    visit.context.set_default_timeout(300_000)
    last = len(lecture.read("first_look").entries) - 1
    visit.open(lecture.read("first_look").link(last))
    for at in range(last - 1, -1, -1):
        press(visit, "PageUp", 1, at)
        shown, wanted = by_link(visit, "first_look", at)
        assert shown == wanted, at + 1


def test_the_clicker_is_heard_before_the_last_page_has_settled(
    visit: Visit, by_link: Callable[..., Any]
) -> None:
    visit.open(lecture.read("flow").link(0))
    places = visit.tab.evaluate("history.length")
    at = 0
    for by in (2, 3, -1, 4, -2):
        at += by
        places += abs(by)
        press(visit, "PageDown" if by > 0 else "PageUp", abs(by), at)
        shown, wanted = by_link(visit, "flow", at)
        assert shown == wanted, at + 1
    assert visit.tab.evaluate("history.length") == places  # one a press, whatever the pages have told since
    visit.tab.go_back()  # by one press of the clicker, which was PageUp: to the entry after, as it stood
    visit.tab.wait_for_url(lambda link: f"&at={at + 2}&" in f"{link}&")
    shown, wanted = by_link(visit, "flow", at + 1)
    assert shown == wanted, "Back"


def test_a_scene_forgets_what_the_reader_has_moved(visit: Visit) -> None:
    """A number and a choice of Streamlit's own, which the browser goes on to send, by key and by clicker."""
    tab = visit.open("autoregressive-masks?scene=3")
    seed = tab.get_by_label("Seed of degrees, weights, order").first
    stood = visit.parameters(), seed.input_value()
    for key, number in (("3", "3"), ("PageDown", "4")):
        tab.locator("[data-testid=stNumberInputStepUp]").first.click()
        tab.wait_for_url("**seed=*")
        visit.settle()
        tab.evaluate("document.activeElement.blur()")  # a field of numbers keeps its keys
        tab.keyboard.press(key)
        tab.wait_for_function("() => !location.search.includes('seed=')")
        visit.settle()
        assert seed.input_value() == stood[1]
        assert tab.locator(".lectern-stage [aria-pressed=true]").inner_text()[0] == number
        assert key != "3" or visit.parameters() == stood[0]
