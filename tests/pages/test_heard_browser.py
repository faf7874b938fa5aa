"""Buttons of the page's own parts are shown when they are heard, not before: the first press counts."""

from typing import Any

import pytest
from browsing import Visit

pytestmark = pytest.mark.browser


def test_a_film_is_shown_when_its_buttons_are_heard(visit: Visit) -> None:
    held: list[Any] = []
    tab = visit.tab
    tab.route("**/lectern/js/film.js", lambda route: held.append(route))  # the module is long on its way
    tab.goto(f"{visit.dashboard}/adversarial-toy-gan?step=20")
    bar, onward = tab.locator(".lectern-film"), tab.locator(".lectern-film .next")
    bar.wait_for(state="attached")
    while not held:
        tab.wait_for_timeout(50)
    assert not onward.is_visible() and not tab.locator(".lectern-slider").first.is_visible()
    for route in held:
        route.continue_()
    onward.click()  # waits for nothing but that it is seen
    tab.wait_for_function("() => document.querySelector('.lectern-film .count').textContent === 'Round 21'")
    visit.settle()


def test_the_pad_is_shown_when_it_hears(visit: Visit) -> None:
    tab = visit.open("diffusion-noising")
    pads = tab.locator(".frame").locator("[data-tool=brush]")
    assert pads.count() and pads.first.is_visible()
    assert not tab.locator("[data-unheard]").count()
