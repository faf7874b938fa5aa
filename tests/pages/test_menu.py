"""The menu of all pages: what its search knows, and going from page to page with it."""

from pathlib import Path
from typing import Any

import pytest
from browsing import Visit

from lab.ui import search
from lab.ui.navigation import MOVED, RENAMED, SPLIT, PageInfo, pages, today

WIDE = {"width": 1600, "height": 900}
NARROW = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}


def entry(url: str) -> dict[str, Any]:
    return next(e for e in search.index() if e["url"] == url)


def test_every_page_can_be_found() -> None:
    assert [e["url"] for e in search.index()] == [page.url for page in pages()]
    for known in search.index():
        assert known["title"] and known["idea"] and known["references"] and known["words"], known["url"]


def test_symbols_models_and_references_are_read_from_the_room_and_its_lenses() -> None:
    attention = entry("transformer-attention")
    assert "α alpha" in attention["symbols"]  # of lab/lenses/attention.py
    assert {"gpt-shakespeare", "leakygpt-shakespeare"} <= set(attention["models"])
    assert any("Vaswani" in reference for reference in attention["references"])
    truncation = entry("language-truncation")
    assert "Temperature" in truncation["words"] and "Nucleus 0.9" in truncation["words"]
    assert any("Holtzman" in reference for reference in truncation["references"])  # a name of the file
    assert "ngram-shakespeare" in truncation["models"] and "gcn-cora" not in truncation["models"]


def test_a_changed_room_is_read_again(tmp_path: Path) -> None:
    room = tmp_path / "graph" / "walks"
    room.mkdir(parents=True)
    file = room / "page.py"
    page = PageInfo("graph", "walks", "Walks", "An idea.", file, ())
    file.write_text(r'ui.equation(r"\lambda_1", note="of gcn-cora")')
    assert search.entry(page, 1)["symbols"] == ["λ lambda"]
    file.write_text(r'ui.source(references=["Perozzi 2014, DeepWalk"]); r"\mathrm{KL}"; "gcn-cora"')
    assert search.entry(page, 1)["references"] == []
    found = search.entry(page, 2)
    assert found["symbols"] == ["KL"] and found["models"] == ["gcn-cora"]
    assert found["references"] == ["Perozzi 2014, DeepWalk"]
    (room / "lens.py").write_text('"""The width σ of a step."""')
    assert search.entry(page, 3)["symbols"] == ["KL", "σ sigma"]
    file.write_text("ui.equation(")  # no Python: what the other files say still counts
    assert search.entry(page, 4)["symbols"] == ["σ sigma"]


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [
        ("autoregressive-fvsbn", {"row": "x3", "x": "0110"}, {"step": "2", "x": "0110"}),
        ("autoregressive-fvsbn", {"row": "x3", "order": "4 3 2 1"}, {"step": "1", "order": "4 3 2 1"}),
        ("autoregressive-fvsbn", {"row": "x3", "step": "0"}, {"step": "0"}),
        ("autoregressive-fvsbn", {"row": "x9"}, {"step": "x9"}),  # the film says what it takes
        ("language-senses", {"layer": "words and places"}, {"layer": "0"}),
        ("language-senses", {"layer": "after block 2", "n": "40"}, {"layer": "2", "n": "40"}),
        ("language-senses", {"layer": "1"}, {"layer": "1"}),
        ("language-senses", {"layer": "above"}, {"layer": "above"}),
        ("language-truncation", {"layer": "after block 2"}, {"layer": "after block 2"}),
    ],
)
def test_old_links_are_read_in_todays_words(page: str, old: dict[str, str], new: dict[str, str]) -> None:
    assert today(page, old) == new
    assert today(page, new) == new


def test_old_links_lead_to_pages_that_there_are() -> None:
    known = {page.url for page in pages()}
    assert {*RENAMED, *SPLIT} <= known and not known & set(MOVED)
    ends = [*MOVED.values(), *(views for _, views in SPLIT.values())]
    assert {url for end in ends for url in (end.values() if isinstance(end, dict) else [end])} <= known


# --- In the browser ---------------------------------------------------------------------------------


def seek(tab: Any, query: str) -> list[str]:
    """Type into the search; the titles found."""
    tab.keyboard.press("/")
    tab.keyboard.type(query)
    tab.wait_for_function("!document.querySelector('.lectern-nav .found').hidden")
    tab.wait_for_timeout(300)
    return list(tab.locator(".lectern-nav .found b").all_inner_texts())


@pytest.mark.browser
@pytest.mark.parametrize("visit", [NARROW], indirect=True, ids=["narrow"])
def test_pages_are_searched_and_opened_without_a_reload(visit: Visit) -> None:
    tab = visit.open("language-truncation?p=0.5")
    tab.evaluate("window.mark = 'here'")
    assert not tab.locator(".lectern-nav .panel:visible").count()
    assert tab.locator(".lectern-nav").bounding_box()["width"] == 48
    found = seek(tab, "beam")
    assert found[0] == "Beam search" and "Attention" not in found
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/language-beam-search")
    visit.settle()
    assert tab.locator("h1").inner_text() == "Beam search"
    assert not tab.locator(".lectern-nav .panel:visible").count()  # the page is free again
    assert tab.locator(".lectern-nav input").input_value() == "beam"
    tab.go_back()
    tab.wait_for_url("**/language-truncation?p=0.5")
    visit.settle()
    assert tab.locator("h1").inner_text() == "Truncation"
    assert tab.get_by_role("slider", name="Top-p").input_value() == "0.5"
    assert tab.evaluate("window.mark") == "here"  # nothing was loaded anew
    tab.keyboard.press("/")
    tab.locator(".lectern-nav input").fill("zzzz")
    tab.get_by_text("No page speaks of “zzzz”.").wait_for()
    tab.keyboard.press("Escape")  # once for the words, once for the menu
    tab.keyboard.press("Escape")
    assert not tab.locator(".lectern-nav .panel:visible").count()


@pytest.mark.browser
@pytest.mark.heavy
@pytest.mark.parametrize("visit", [WIDE], indirect=True, ids=["wide"])
def test_families_fold_and_the_search_stays_from_page_to_page(visit: Visit) -> None:
    tab = visit.open("language-truncation")
    opened = (
        "[...document.querySelectorAll('.lectern-nav details[open] summary')].map((s) => s.firstChild.data)"
    )
    assert tab.evaluate(opened) == ["language"]
    assert tab.locator(".lectern-nav [aria-current=page]").all_inner_texts() == ["Truncation"]
    assert tab.locator(".lectern-nav [aria-current=page]").evaluate(
        "(a) => a.getBoundingClientRect().bottom <= innerHeight && a.checkVisibility()"
    )
    assert "Attention" in seek(tab, "vaswani 2017")
    tab.keyboard.press("Enter")
    visit.settle()
    assert tab.evaluate("document.activeElement.value") == "vaswani 2017"
    tab.keyboard.press("Escape")
    tab.locator("[data-page=train]").click()
    tab.wait_for_url("**/train")
    visit.settle()
    assert tab.locator(".lectern-nav [aria-current=page]").all_inner_texts() == ["Train"]


@pytest.mark.browser
@pytest.mark.heavy
@pytest.mark.parametrize("visit", [PHONE], indirect=True, ids=["phone"])
def test_a_phone_has_the_menu_behind_one_sign(visit: Visit) -> None:
    tab = visit.open("language-truncation")
    sign, title = (tab.locator(s).bounding_box() for s in (".lectern-nav .strip", "h1"))
    assert sign["x"] + sign["width"] <= title["x"] + 1
    tab.get_by_role("button", name="All pages", exact=True).tap()
    tab.locator("[data-page=models]").tap()
    tab.wait_for_url("**/models")
