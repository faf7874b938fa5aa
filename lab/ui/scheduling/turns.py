"""Turns of the longer computations of all readers of a process.

One works at a time, for a moment, then goes to the end of the line; those that have worked least come first,
so that what takes a second does not wait for what takes minutes. Between two steps it rests while a reader's
answer is under way, and ends where its tab is closed or asks for something else.
"""

import itertools
import math
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.ui.scheduling import prefetch
from lab.ui.session import access

PATIENCE = 10.0  # seconds in line before the page says its place again: each drawing costs others time
YOUNG = 2.0  # seconds of work up to which a computation goes before the older ones
REST = 0.3  # at most so many seconds of a turn give way to answers
LOOK = 0.02  # seconds between two looks whether an answer is still under way
ASKED = 0.3  # seconds in line between two looks whether the tab is still there
LOST = 5.0  # seconds after which who has not asked again is no more in line


@dataclass(eq=False)
class Ticket:
    """A place in line: of a session, for a computation. It is kept while the page is drawn between two waits,
    but lets others pass."""

    number: int
    work: Any
    asked_at: float = 0.0
    waits: bool = True


class Line:
    """The queue: one works, the others wait in their order."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.numbers = itertools.count()
        self.tickets: dict[str, Ticket] = {}
        self.spent: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()  # seconds of work
        self.work: Any = None  # of the one that works
        self.here: set[int] = set()  # threads that work or stand in line
        self.rested = 0.0

    @contextmanager
    def turn(self, work: Any, patience: float = PATIENCE) -> Iterator[int]:
        """Wait for one's turn, as long as one has patience. Yields 0 when it has come; else how many come
        before: the next call finds the place kept."""
        me, who = threading.get_ident(), access.session_id()
        self.here.add(me)
        try:
            before = self.wait(who, work, patience)
            began = time.monotonic()
            try:
                yield before
            finally:
                if not before:
                    with self.changed:
                        self.spent[work] = self.spent.get(work, 0.0) + time.monotonic() - began - self.rested
                        self.work = None
                        self.changed.notify_all()
        finally:
            self.here.discard(me)

    def wait(self, who: str, work: Any, patience: float) -> int:
        end = time.monotonic() + patience
        with self.changed:
            ticket = self.tickets.setdefault(who, Ticket(next(self.numbers), work))
            ticket.work, ticket.waits = work, True
            try:
                while True:
                    check()
                    now = ticket.asked_at = time.monotonic()
                    line = self.line()
                    if self.work is None and next((t for t in line if t.waits), None) is ticket:
                        del self.tickets[who]
                        self.work, self.rested = work, 0.0
                        return 0
                    if now >= end or was_pressed():
                        ticket.waits = False
                        before = line[: line.index(ticket)] if ticket in line else line
                        return max(1, len(before) + (self.work is not None))
                    self.changed.wait(min(end - now, ASKED))
            except BaseException:
                self.tickets.pop(who, None)
                self.changed.notify_all()
                raise

    def line(self) -> list[Ticket]:
        """Tickets in line, the next one first, without those whose tab is closed or has left the page."""
        now = time.monotonic()
        for who, ticket in list(self.tickets.items()):
            if now - ticket.asked_at > LOST or prefetch.is_closed(who):
                del self.tickets[who]
        return sorted(self.tickets.values(), key=lambda t: (self.old(t.work), t.number))

    def old(self, work: Any) -> bool:
        return self.spent.get(work, 0.0) >= YOUNG

    def rest(self) -> float:
        """Between two steps of a turn: give way to answers.

        Returns:
            the seconds that it has rested; −∞ where the turn is over, as a younger computation waits.

        Raises:
            ScriptControlException: the tab is closed, or asks for something else.
        """
        if threading.get_ident() not in self.here:  # nobody waits for who computes ahead, or serves nobody
            return 0.0
        began = time.monotonic()
        check()
        while self.rested + (rested := time.monotonic() - began) < REST and self.answering():
            time.sleep(LOOK)
            check()
        self.rested += rested
        with self.changed:
            younger = self.old(self.work) and any(t.waits and not self.old(t.work) for t in self.line())
        return -math.inf if younger else rested

    def answering(self) -> bool:
        """True if a page runs that neither works nor stands in line."""
        pages = (t for t in threading.enumerate() if t.name.startswith(prefetch.RUNS))
        return any(page.ident not in self.here for page in pages)


def check() -> None:
    """End the run of the page where its tab is closed, or asks for something else."""
    if (context := get_script_run_ctx(suppress_warning=True)) is not None:
        context.yield_check()


def was_pressed() -> bool:
    """True if a button was pressed in the part of the page that runs; it is heard when the part has run."""
    requests = getattr(get_script_run_ctx(suppress_warning=True), "script_requests", None)
    states = requests._rerun_data.widget_states if requests is not None else None
    return states is not None and any(state.trigger_value for state in states.widgets)


line = Line()  # of this process
