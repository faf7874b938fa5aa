r"""The glossary: symbols are found longest first, a room's own before its family's. That all symbols of all
scenes have words is asked where the scenes are opened, in tests/pages/test_scenes.py."""

import html

import pytest
from opening import PAGES

from lab import glossary
from lab.room import address, load
from lab.ui.page import mathml

ROOMS = {address(file): room for file in sorted(PAGES.glob("*/*/room.py")) if (room := load(address(file)))}


def test_the_longest_symbol_is_found_and_marks_stay_with_their_letter() -> None:
    text = glossary.symbols(r"\sqrt{\bar\alpha_t}\,x_0 + \hat\epsilon - \alpha_{3} x_{950}", "diffusion", {})
    assert list(text) == [r"\bar{\alpha}_t", "x_0", r"\hat{\epsilon}", r"\alpha", "x"]


def test_layout_and_text_are_no_symbols_and_what_is_strange_is_told() -> None:
    assert glossary.found(r"\frac{1}{2}\left(\text{so far} + 3\right)", "graph") == ({}, [])
    known, strange = glossary.found(r"\Omega h_m \zeta \mathrm{foo} Q", "graph")
    assert list(known) == [r"\Omega", "h", "m"] and strange == [r"\zeta", r"\mathrm{foo}", "Q"]


def test_a_room_has_symbols_of_its_own_and_a_family_without_a_glossary_has_none() -> None:
    assert glossary.symbols("s", "diffusion", {"s": "a step"}) == {"s": "a step"}
    assert glossary.symbols("s", "diffusion", {}) != {"s": "a step"}
    assert glossary.symbols("x", "flow", {"x": "a point"}) == {}


def test_frames_of_a_film_are_one_equation_but_x_0_and_x_1_are_two() -> None:
    assert glossary.shortened("x_{10} = 0.25 - 31") == glossary.shortened("x_{95} = .5 - 12 ")
    assert glossary.shortened("x_0") == "x_0" != glossary.shortened("x_1")


@pytest.mark.parametrize("family", sorted(glossary.FAMILIES))
def test_every_symbol_can_be_drawn_and_is_found_as_itself(family: str) -> None:
    rooms = [room for page, room in ROOMS.items() if page.startswith(f"{family}-")]
    assert rooms
    for own in ({}, *(room.symbols for room in rooms)):
        for symbol, words in (own or glossary.FAMILIES[family]).items():
            assert mathml.mathml(symbol).startswith("<math") and words == html.escape(words, quote=False)
            assert words.strip() == words and not words.endswith(".") and len(words) <= 60, words
            assert glossary.found(symbol, family, tuple(own.items())) == ({symbol: words}, []), symbol
