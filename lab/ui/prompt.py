"""An answer that may take a second: the reader waits for a moment, then sees what there is so far, and
progress; what is found is kept for all readers.

Where nobody serves, in a test or a program, it is computed whole, however long that takes.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lab.errors import UserError
from lab.ui.idle import ahead
from lab.ui.models import cached
from lab.ui.page import stop, wait
from lab.ui.watching import live
from lab.ui.working import FRAME, Job, Work, found, shelf

PATIENCE = 0.25  # seconds that a reader of a server waits for the whole
Asked = tuple[Any, Callable[[], Work]]  # all that a computation depends on, and how it begins

patience = math.inf  # of this process


def start() -> None:
    """Let readers wait no longer than `PATIENCE` from now on."""
    global patience
    patience = PATIENCE


@dataclass
class Begun(Job):
    """A job that was worked on just now: it is drawn before it goes on."""

    drawn: bool = False

    def advance(self, seconds: float) -> None:
        if self.drawn:
            super().advance(seconds)
        self.drawn = True

    def begin(self, seconds: float) -> None:
        """Work on for so long, before the first drawing."""
        super().advance(seconds)


@cached
def whole(key: str, of: Any, _start: Callable[[], Work]) -> None:
    """Compute to the end and put it on its shelf, unless it is there."""
    kept = shelf(key, of)
    if "whole" not in kept:
        job = Begun(of, _start())
        job.begin(math.inf)
        kept["whole"] = job.found


def prepare(key: str, asked: Iterable[Asked]) -> None:
    """Compute while the server is idle what `promptly` may be asked for next, the likeliest first."""
    ahead(whole, *((key, *each) for each in asked))


def promptly(
    label: str,
    start: Callable[[], Work],
    *,
    key: str,
    of: Any,
    quick: bool,
    says: str,
    show: Callable[[Any], None] | None = None,
    soon: Iterable[Asked] = (),
) -> Any:
    """What a computation has found, at once where it is quick, else when its job has ended: as `ui.found`.

    Args:
        start: begins the work; it should yield at least ten times a second.
        of: all that the work depends on, with the state of weights that a reader could train anew.
        quick: it takes a second or two; what is not begins as a job.
        show: draws what is found so far.
        soon: what may be asked for next, the likeliest first.
    """
    prepare(key, soon)
    slot = f"_job:{key}"
    now: Job | None = st.session_state.get(slot)
    kept = shelf(key, of)
    if quick and "whole" not in kept and (now is None or now.of != of):
        if now is not None:
            now.cancel()
        now = st.session_state[slot] = Begun(of, start())
        try:
            now.begin(patience)
        except (UserError, ValueError) as error:
            stop(str(error))
    if isinstance(now, Begun) and now.of == of and "whole" not in kept:
        if now.state == "running":
            go_on(now, key, show)
            wait(says)
        elif now.state == "done":
            kept["whole"] = now.found
    return found(label, start, key=key, of=of, quick=False, shared=True, says=says, show=show)


def go_on(job: Begun, key: str, show: Callable[[Any], None] | None) -> None:
    """Draw what there is so far where the whole will stand, with progress below it, and work on."""

    @live(every=0.1)
    def frame() -> None:
        if job.state != "running":
            st.rerun()
        job.advance(FRAME)
        if job.state == "done":
            st.rerun()
        if show is not None and job.found is not None:
            show(job.found)
        bar, button = st.columns([6, 1], vertical_alignment="center")
        with bar:
            st.progress(min(1.0, job.share), f"{100 * job.share:.0f} %")
        with button:
            st.button("Cancel", key=f"{key}-cancel", on_click=job.cancel)

    frame()
