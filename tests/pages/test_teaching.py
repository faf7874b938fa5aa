"""The page on teaching says of each family what rooms and lectures declare."""

import re
from typing import Any

import pytest
from browsing import Visit
from opening import figure, open_page

from lab import lecture, ui
from lab.lecture import Entry, Lecture
from lab.ui.navigation import teaching
from lab.ui.navigation.menu import FIRST


def html_of(page: Any) -> str:
    return "".join(element.proto.body for element in page.get("html"))


def test_every_family_has_its_rooms_in_order_and_the_lecture_with_most_minutes_in_them() -> None:
    assert teaching.families() == list(dict.fromkeys(page.family for page in ui.pages()))
    for family in teaching.families():
        of = teaching.hour(family)
        assert [page.url for page in of.rooms] == [p.url for p in ui.pages() if p.family == family]
        spent = {
            name: sum(e.minutes for e in lecture.read(name).entries if e.page.startswith(f"{family}-"))
            for name in lecture.names()
        }
        assert of.lecture is not None and spent[of.lecture.name] == max(spent.values()) > 0
        assert sum(minutes for _, minutes in of.stops) == of.lecture.minutes
        turns = [entry.page for entry in of.lecture.entries]
        assert [page.url for page, _ in of.stops] == [
            url for i, url in enumerate(turns) if i == 0 or url != turns[i - 1]
        ]


def test_what_to_try_before_is_what_the_lecture_leaves_out_on_its_way() -> None:
    for family in teaching.families():
        of = teaching.hour(family)
        held, place = {page.url for page, _ in of.stops}, {page.url: i for i, page in enumerate(of.rooms)}
        left_out = [page for page in of.before if page.url not in held]
        if not left_out:
            assert of.before == [of.stops[0][0]]
            continue
        assert of.before == left_out == sorted(left_out, key=lambda page: place[page.url])
        total = sum(page.room.minutes for page in left_out)
        assert total <= teaching.BEFORE
        last = max(place[url] for url in held if url in place)
        assert place[left_out[-1].url] < last
        for page in of.rooms[:last]:  # the rest would not fit
            if page.url not in held and page not in left_out:
                assert total + page.room.minutes > teaching.BEFORE


def test_a_family_that_no_lecture_passes_by_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    family = teaching.families()[0]
    elsewhere = next(page.url for page in ui.pages() if page.family != family)
    monkeypatch.setattr(lecture, "read", lambda name: Lecture(name, "Other", (Entry(elsewhere, "", 3.0),)))
    of = teaching.hour(family)
    assert of.lecture is None and not of.stops and not of.before and of.rooms
    page = open_page("teaching", family=family)
    assert "No lecture passes by yet" in html_of(page)


@pytest.mark.parametrize("family", ["flow", "graph"])
def test_the_page_shows_it(family: str) -> None:
    page = open_page("teaching", family=family)
    of = teaching.hour(family)
    links = re.findall(r'href="\./([^"]*)"', html_of(page))
    assert of.lecture is not None
    assert links == [of.lecture.link(0).replace("&", "&amp;"), *(p.url for p in [*of.before, *of.rooms])]
    assert f"{of.lecture.minutes:g} minutes, {len(of.lecture.entries)} scenes" in html_of(page)
    rows = figure(page, "hour")[0]["csv"].split()
    assert len(rows) >= 1 + len(of.stops)


def test_the_menu_has_it() -> None:
    assert FIRST["Teaching with it"] == "teaching"


@pytest.mark.browser
def test_it_is_found_and_leads_to_the_lecture(visit: Visit) -> None:
    tab = visit.open()
    tab.keyboard.press("/")
    tab.keyboard.type("syllabus")
    tab.locator(".lectern-nav .found li").first.click()
    visit.arrive("teaching")
    visit.settle()
    of = teaching.hour(teaching.families()[0])
    assert of.lecture is not None
    tab.locator(".lectern-hour a").first.click()
    visit.arrive(of.lecture.link(0))
    visit.settle()
