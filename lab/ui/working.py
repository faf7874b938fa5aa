"""A longer computation on a page: started by a button, with progress, and cancelled by another; or at once,
where it is short."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from lab.errors import UserError
from lab.ui.idle import ahead
from lab.ui.models import cached
from lab.ui.page import stop, wait
from lab.ui.watching import live

FRAME = 0.3  # seconds of work between two drawings

# Yields the share done, from 0 to 1, and what is found so far; what it yields last is whole.
Work = Iterator[tuple[float, Any]]


@dataclass
class Job:
    """A computation that a reader has started. `of` is all it depends on."""

    of: Any
    work: Work
    share: float = 0.0
    found: Any = None
    state: Literal["running", "done", "cancelled"] = "running"

    def advance(self, seconds: float) -> None:
        """Work on for so long, or to the end; what fails ends the job."""
        end = time.monotonic() + seconds
        try:
            while self.state == "running" and time.monotonic() < end:
                self.share, self.found = next(self.work)
        except StopIteration:
            self.state = "done"
        except BaseException:
            self.state = "cancelled"
            raise

    def cancel(self) -> None:
        self.state = "cancelled"


def job(
    label: str,
    start: Callable[[], Work],
    *,
    key: str,
    of: Any,
    show: Callable[[Any], None] | None = None,
    before: Callable[[], None] | None = None,
    at_once: bool = False,
) -> Any | None:
    """What a longer computation has found, or None until the reader has let it finish.

    Args:
        start: begins the work; it should yield at least a few times a second.
        of: what the work depends on; when that changes, what was found before is forgotten.
        show: draws what is found so far while the work goes on.
        before: draws what stands there until something is found.
        at_once: begin without being asked; what was cancelled waits for the button.
    """
    slot = f"_job:{key}"
    now: Job | None = st.session_state.get(slot)
    if now is not None and now.of != of:
        now.cancel()
        now = st.session_state[slot] = None
    if now is None and at_once:
        now = st.session_state[slot] = Job(of, start())
    if now is None or now.state == "cancelled":

        def begin() -> None:
            st.session_state[slot] = Job(of, start())

        st.button(label, key=key, on_click=begin, type="primary", icon=":material/play_arrow:")
        if now is not None:
            st.caption(f"Cancelled at {100 * now.share:.0f} %.")
        if before is not None:
            before()
        return None
    if now.state == "running":
        mine = now

        @live(every=0.1)
        def frame() -> None:
            if mine.state != "running":
                st.rerun()
            mine.advance(FRAME)
            if mine.state == "done":
                st.rerun()
            st.progress(min(1.0, mine.share), f"{100 * mine.share:.0f} %")
            st.button("Cancel", key=f"{key}-cancel", on_click=mine.cancel, icon=":material/close:")
            if show is not None and mine.found is not None:
                show(mine.found)
            elif before is not None:
                before()

        frame()
        return None
    return now.found


@cached
def all_of(key: str, of: Any, _start: Callable[[], Work]) -> Any:
    """What the work of a page yields last; kept by its key and by all that it depends on."""
    ((_, found),) = deque(_start(), maxlen=1)
    return found


@st.cache_resource(show_spinner=False, max_entries=128)  # a spinner would take the job's place for a moment
def shelf(key: str, of: Any) -> dict[str, Any]:
    """Where a shared job puts what it has found: one place for all readers."""
    return {}


def found(
    label: str,
    start: Callable[[], Work],
    *,
    key: str,
    of: Any,
    quick: bool,
    says: str,
    show: Callable[[Any], None] | None = None,
    soon: Iterable[tuple[Any, Callable[[], Work]]] = (),
    shared: bool = False,
) -> Any:
    """What a computation has found: at once where it is `quick`, else by a job that begins by itself; the
    page ends here until it is done, or with the sentence of what it cannot do.

    Args:
        start, of, show: as of `job`.
        says: what will be shown when it is done.
        soon: `of` and `start` of quick computations that may be asked for next, the likeliest first.
        shared: what a job has found is kept for all readers: `of` is all it depends on, and no weights that
            a reader could train anew.
    """
    ahead(all_of, *((key, *each) for each in soon))
    known = shelf(key, of) if shared and not quick else {}
    if "whole" in known:
        return known["whole"]
    try:
        whole = (
            all_of(key, of, start) if quick else job(label, start, key=key, of=of, show=show, at_once=True)
        )
    except (UserError, ValueError) as error:
        stop(str(error))
    if whole is None:
        wait(says)
    known["whole"] = whole
    return whole


def found_ahead(key: str, *asked: tuple[Any, Callable[[], Work]]) -> None:
    """Compute while the server is idle what `found` may be asked for next under this key, where it is quick:
    (of, start) of each, as it takes them, the likeliest first."""
    ahead(all_of, *((key, of, start) for of, start in asked))
