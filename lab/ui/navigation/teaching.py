"""Tell a lecturer of a family: the order of its rooms, the lecture on it, what to try before the hour.

All of it is computed from what rooms and lectures declare.
"""

import html
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

import streamlit as st

from lab import lecture
from lab.errors import UserError
from lab.lecture import Lecture
from lab.ui.navigation.menu import PageInfo, pages

BEFORE = 15  # minutes that may be asked of students before the hour


@dataclass(frozen=True)
class Hour:
    """
    Attributes:
        rooms: of the family, in the order of the course.
        lecture: the one with most minutes in them; None where no lecture passes by.
        stops: its pages in turn, with the minutes there.
    """

    rooms: Sequence[PageInfo]
    lecture: Lecture | None
    stops: Sequence[tuple[PageInfo, float]]

    @property
    def minutes(self) -> dict[str, float]:
        """Address of a page -> minutes of the lecture there."""
        results: dict[str, float] = {}
        for page, minutes in self.stops:
            results[page.url] = results.get(page.url, 0) + minutes
        return results

    @property
    def before(self) -> list[PageInfo]:
        """Rooms to have tried: those that the lecture leaves out and that come before its last one, from the
        first on, as many as `BEFORE` minutes hold; where it leaves none out, the room it begins in."""
        held = self.minutes
        last = max((i for i, room in enumerate(self.rooms) if room.url in held), default=-1)
        result, total = [], 0
        for room in self.rooms[: last + 1]:
            if room.url not in held and total + room.room.minutes <= BEFORE:
                result.append(room)
                total += room.room.minutes
        return result or [page for page, _ in self.stops[:1]]


def families() -> list[str]:
    """Those that have rooms, in the order of the course."""
    return list(dict.fromkeys(page.family for page in pages()))


def hour(family: str) -> Hour:
    """The course of a family, and the lecture on it."""
    known = {page.url: page for page in pages()}
    rooms = [page for page in known.values() if page.family == family]
    best, most = None, 0.0
    for name in lecture.names():
        with suppress(UserError):  # of a file that is wrong, `lab lecture` says what is
            read = lecture.read(name)
            here = sum(e.minutes for e in read.entries if e.page in known and known[e.page].family == family)
            if here > most:
                best, most = read, here
    stops = [
        (known[url], sum(entry.minutes for entry in entries))
        for url, entries in groupby(best.entries if best else (), lambda entry: entry.page)
        if url in known
    ]
    return Hour(rooms, best, stops)


def anchor(url: str, title: str) -> str:
    """A link that goes there without a reload."""
    return f'<a class="lectern-go" href="./{html.escape(url)}">{html.escape(title)}</a>'


def lecture_link(of: Hour) -> None:
    """The lecture, its minutes, and what to have tried before."""
    if of.lecture is None:
        st.html('<p class="lectern-hour">No lecture passes by yet.</p>')
        return
    scenes = len(of.lecture.entries)
    tried = "".join(
        f"<li>{anchor(page.url, page.title)} <small>{page.room.minutes} min</small></li>"
        for page in of.before
    )
    st.html(
        f'<div class="lectern-hour"><p><b>{anchor(of.lecture.link(0), of.lecture.title)}</b><br>'
        f"{of.lecture.minutes:g} minutes, {scenes} scenes</p>"
        f"<p>To have tried before the hour:</p><ul>{tried}</ul></div>"
    )


def course(of: Hour) -> None:
    """The rooms in order, with the minutes alone and in the lecture."""
    held, before = of.minutes, {page.url for page in of.before}
    rows = "".join(
        f"<tr><td>{number}</td><td>{anchor(page.url, page.title)}</td><td>{html.escape(page.idea)}</td>"
        f"<td>{page.room.minutes}</td><td>{'before' if page.url in before else f'{held.get(page.url, 0):g}'}"
        "</td></tr>"
        for number, page in enumerate(of.rooms, 1)
    )
    st.html(
        '<table class="lectern-course"><thead><tr><th></th><th>room</th><th>idea</th><th>minutes</th>'
        f"<th>in the lecture</th></tr></thead><tbody>{rows}</tbody></table>"
    )
