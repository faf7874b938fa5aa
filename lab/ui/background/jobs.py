"""A longer computation on a page: started by a button, with progress, and cancelled by another; or at once,
kept for all readers, and whole without a word where a moment is enough."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from lab.errors import UserError
from lab.ui.background.training_runs import live
from lab.ui.models.loading import HASHES, are_unchanged, record_dependency, record_reads
from lab.ui.page.blocks import stop, wait
from lab.ui.scheduling.prefetch import prefetch
from lab.ui.scheduling.turns import line

FRAME = 0.3  # seconds of work between two drawings
LAST = 1.0  # the same of what is quick: the next drawing is mostly the last
PATIENCE = 0.25  # seconds of work on what is quick before what there is so far is drawn

# Yields the share done, from 0 to 1, and what is found so far; what it yields last is whole.
Work = Iterator[tuple[float, Any]]
Asked = tuple[Any, Callable[[], Work]]  # all that a computation depends on, and what begins it

patience = math.inf  # of this process: where nobody serves, in a test or a program, the whole is waited for


def start() -> None:
    """There are readers from now on, who are shown what there is after `PATIENCE`."""
    global patience
    patience = PATIENCE


@dataclass(eq=False)
class Job:
    """A computation that a reader has started. `of` is all it depends on, with the weights in `read`."""

    of: Any
    work: Work
    share: float = 0.0
    found: Any = None
    state: Literal["running", "done", "cancelled"] = "running"
    drawn: bool = True  # what is found so far is on the page
    frame: float = FRAME
    read: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, of: Any, start: Callable[[], Work]) -> "Job":
        read: dict[Path, str] = {}
        with record_reads(read):
            return cls(of, start(), read=read)

    def advance(self, seconds: float) -> None:
        """Work on for so long, or to the end; what fails ends the job."""
        end = time.monotonic() + seconds
        while self.state == "running" and time.monotonic() < end:
            self.step()
            end += line.rest()

    def step(self) -> None:
        try:
            with record_reads(self.read):
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
    """The result of a longer computation, or None until the reader has let it finish.

    Args:
        start: begins the work; it should yield at least a few times a second.
        of: what the work depends on; when that changes, what was found before is forgotten.
        show: draws what is found so far, while the work goes on and when it is cancelled.
        before: draws what stands there until something is found.
        at_once: begin without being asked; what was cancelled waits for the button.
    """
    done = run_job(label, start, key, of, show, before, (FRAME if at_once else None, FRAME))
    return done.found if done else None


def run_job(
    label: str,
    start: Callable[[], Work],
    key: str,
    of: Any,
    show: Callable[[Any], None] | None,
    before: Callable[[], None] | None,
    pace: tuple[float | None, float],
) -> Job | None:
    """A job as it stands on the page; returned once it is done.

    Args:
        pace: seconds of work before the first drawing of a job that begins by itself, and between others.
    """
    first, frame = pace
    slot = f"_job:{key}"

    def picture(job: Job | None) -> None:
        """Draw what is found so far, also by what was cancelled; else what stands there before."""
        if show is not None and job is not None and job.found is not None:
            show(job.found)
        elif before is not None:
            before()

    now: Job | None = st.session_state.get(slot)
    if now is not None and (now.of != of or not are_unchanged(now.read)):
        now.cancel()
        now = st.session_state[slot] = None
    if now is None and first is not None:
        now = Job.begin(of, start)
        now.drawn, now.frame = False, frame
        with line.turn(now, patience=0.0) as others:
            if not others:
                now.advance(first)
        st.session_state[slot] = now
    if now is None or now.state == "cancelled":

        def begin() -> None:
            st.session_state[slot] = Job.begin(of, start)

        st.button(label, key=key, on_click=begin, type="primary", icon=":material/play_arrow:")
        if now is not None:
            st.caption(f"Cancelled at {100 * now.share:.0f} %.")
        picture(now)
        return None
    if now.state == "done":
        return now
    running = now

    @live(every=0.1)
    def draw() -> None:
        if running.state != "running":
            st.rerun()
        others = 0
        if running.drawn:  # what the first moment has found is drawn before the work goes on
            with line.turn(running) as others:
                if not others:
                    running.advance(running.frame)
        running.drawn = True
        if running.state == "done":
            st.rerun()
        picture(running)  # where the whole will stand
        with st.container(key=f"{key}-progress"):  # the style keeps it on the screen
            bar, button = st.columns([6, 1], vertical_alignment="center")
            with bar:
                st.progress(min(1.0, running.share), f"{100 * running.share:.0f} %{queue_message(others)}")
            with button:
                st.button("Cancel", key=f"{key}-cancel", on_click=running.cancel)

    draw()
    return None


def queue_message(others: int) -> str:
    """The sentence on the computations that come before this one."""
    return f", waits for {others} other{'s' if others > 1 else ''}" if others else ""


@dataclass
class Place:
    """The place where all readers find a job's result, and the weights that it has read.

    Attributes:
        long: it was begun before anyone had asked, and took more than the seconds that it was given.
    """

    whole: Any = None
    read: dict[Path, str] | None = None
    long: bool = False

    @property
    def filled(self) -> bool:
        return self.read is not None and are_unchanged(self.read)

    def put(self, job: Job) -> None:
        self.whole, self.read = job.found, job.read


@st.cache_resource(show_spinner=False, max_entries=64, hash_funcs=HASHES)
def place(key: str, of: Any) -> Place:
    """The place of what depends on `of` alone."""
    return Place()


def compute(key: str, of: Any, start: Callable[[], Work], most: float = math.inf) -> None:
    """Fill a place, unless it is. What takes more than `most` seconds of processor time is left, once and for
    all, to the reader who asks for it."""
    kept = place(key, of)
    if kept.filled or kept.long:
        return
    job, end = Job.begin(of, start), time.thread_time() + most
    while job.state == "running" and time.thread_time() < end:
        job.step()
    if job.state == "done":
        kept.put(job)
    else:
        kept.long = True


def prefetch_result(key: str, *asked: Asked) -> None:
    """Compute while the server is idle what `result` may be asked for next under this key, where it is quick:
    (of, start) of each, as it takes them, the likeliest first."""
    prefetch(compute, *((key, *each) for each in asked))


def result(
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
    """`shared_result` on a page that is not declared: it ends with the sentence of what cannot be done.

    Args:
        soon: `of` and `start` of quick computations that may be asked for next, the likeliest first.
    """
    prefetch_result(key, *soon)
    try:
        return shared_result(label, start, key=key, of=of, quick=quick, says=says, show=show)
    except (UserError, ValueError) as error:
        stop(str(error))


def shared_result(
    label: str,
    start: Callable[[], Work],
    *,
    key: str,
    of: Any,
    quick: bool,
    says: str,
    show: Callable[[Any], None] | None = None,
) -> Any:
    """The result of a computation, kept for all readers. It begins by itself; where it takes longer than a
    moment, the page shows what there is so far and progress, and ends here until it is done.

    Args:
        start, of, show: as of `job`; whether weights that it reads have changed is looked after.
        quick: a second or two is enough for it. While it goes on, what there is so far is drawn after
            `PATIENCE` and then every `LAST` seconds; what takes longer is drawn every `FRAME` seconds. Where
            nobody serves, the whole of what is quick is waited for.
        says: what will be shown when it is done.
    """
    kept = place(key, of)
    if not kept.filled:
        pace = (patience, LAST) if quick else (FRAME, FRAME)
        done = run_job(label, start, key, of, show, None, pace)
        if done is None:
            wait(says)
        kept.put(done)
    record_dependency(kept.read or {})
    return kept.whole
