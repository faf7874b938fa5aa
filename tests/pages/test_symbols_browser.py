"""What the symbols of an equation stand for, in a real browser: beside it, and all of a page under `?`."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from browsing import Visit
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
FILM = "diffusion-flow-matching"
EQUATION = ".lectern-film .equation:visible, .katex-display:visible"
PHONE = {"width": 390, "height": 844, "scheme": "light"}


def apart(tab: Any) -> bool:
    """Whether the list leaves its equation free and lies on the screen."""
    one, list_ = tab.locator(EQUATION).first.bounding_box(), tab.locator(".lectern-symbols").bounding_box()
    size = tab.viewport_size
    inside = list_["x"] >= 0 and list_["x"] + list_["width"] <= size["width"] and list_["y"] >= 0
    below = list_["y"] >= one["y"] + one["height"]
    above = list_["y"] + list_["height"] <= one["y"]
    return inside and list_["y"] + list_["height"] <= size["height"] and (below or above)


@pytest.mark.parametrize("page", [FILM, "convolution-receptive-field"], ids=["film", "latex"])
def test_symbols_have_words_under_the_pointer_and_with_the_focus(walker: Visit, page: str) -> None:
    walker.walk("")
    tab = walker.walk(page)
    symbols, equation = tab.locator(".lectern-symbols"), tab.locator(EQUATION).first
    picture = "document.querySelector('.st-key-picture').offsetHeight"
    high, placed = tab.evaluate(picture), equation.bounding_box()
    equation.hover()
    expect(symbols.locator("dd").first).to_be_visible()
    assert apart(tab) and (tab.evaluate(picture), equation.bounding_box()) == (high, placed)
    tab.keyboard.press("Escape")
    assert not symbols.count()
    equation.click()
    tab.mouse.move(5, 5)
    expect(symbols).to_be_visible()  # after a click it stays
    tab.locator(".lectern-stage .sees").click()
    assert not symbols.count()
    for _ in range(80):
        tab.keyboard.press("Tab")
        if symbols.count():
            break
    assert equation.evaluate("(e) => e === document.activeElement")
    assert equation.get_attribute("aria-describedby") == symbols.get_attribute("id")
    tab.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    axe = "(where) => axe.run({include: where}).then(({violations}) => violations.map((v) => v.id))"
    assert tab.evaluate(axe, [[".lectern-symbols"], [".st-key-foot"]]) == []
    words = set(symbols.locator("dd").all_inner_texts())
    tab.keyboard.press("Tab")
    assert not symbols.count()
    tab.locator(".lectern-stage .sees").click()  # the next in order may be a field, which keeps its keys
    tab.keyboard.press("?")
    assert words <= set(tab.locator(".lectern-overlay dd").all_inner_texts())
    tab.keyboard.press("Escape")


def test_a_film_keeps_its_keys_after_a_click_on_its_equation(walker: Visit) -> None:
    walker.walk("")
    tab = walker.walk("graph-messages")
    scrub = tab.locator(".lectern-film .scrub")
    before = int(scrub.input_value())
    tab.locator(".lectern-film .equation").click()
    expect(tab.locator(".lectern-symbols")).to_be_visible()
    tab.keyboard.press("ArrowLeft")
    expect(scrub).to_have_value(str(before - 1))
    expect(tab.locator(".lectern-symbols")).to_be_visible()  # of the frame that is shown now
    tab.keyboard.press("Escape")
    walker.settle()


@pytest.mark.parametrize("walker", [PHONE], indirect=True)
def test_a_tap_says_it_on_a_phone(walker: Visit) -> None:
    tab = walker.walk(FILM)
    equation = tab.locator(EQUATION).first
    equation.scroll_into_view_if_needed()
    equation.tap()
    expect(tab.locator(".lectern-symbols")).to_be_visible()
    assert apart(tab)
    equation.tap()
    assert not tab.locator(".lectern-symbols").count()
