"""Prefetch: results that a reader may ask for next, computed while nobody asks for anything.

    ui.prefetch(lens.trained, *((name,) for name in NAMES))

A page names calls of cached functions: the other options of a choice, the states of its scenes, the next step
of a slider. One thread of the server makes them, those named last first. It begins a call only while no page
runs, so that an answer shares the processor with one of them at most. Without a server, in a test or a
program, and where `LECTERN_PREFETCH` is 0, they are only noted.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.exceptions import ScriptControlException

KEPT = 32  # calls that wait; older ones, of pages that were left, are forgotten
QUIET = 0.8  # seconds without a running page before calls begin: who moves on at once is not held up
RUNS = "ScriptRunner"  # how Streamlit names the thread of a page that runs
NAME = "prefetch"  # of the thread that works here
SHOWS = "streamlit.runtime.scriptrunner_utils.script_run_context"

Calls = deque[tuple[Callable[..., Any], tuple[Any, ...], str]]  # and the session that names it

calls: Calls = deque(maxlen=KEPT)
named = threading.Semaphore(0)  # counts up with every naming


def session_id() -> str:
    """The session whose page runs in this thread; "" where none does."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None else ""


def prefetch(function: Callable[..., Any], *arguments: tuple[Any, ...], of: str | None = None) -> None:
    """Name calls of a function that `ui.cached` has made, the likeliest first; what is kept costs nothing.

    Args:
        arguments: of each call, in their order; a call should take a second at most.
        of: the session that they are for; None is the one whose page runs.
    """
    reader = session_id() if of is None else of
    for each in reversed(arguments):
        calls.appendleft((function, each, reader))
    if arguments:
        named.release()


def start() -> None:
    """Begin to make the calls that pages name, unless `LECTERN_PREFETCH` is 0."""
    if os.environ.get("LECTERN_PREFETCH") == "0":
        return
    # a cached function would show that it computes, and there is no page to show it
    logging.getLogger(SHOWS).addFilter(lambda record: record.threadName != NAME)
    threading.Thread(target=work, args=(named, calls), name=NAME, daemon=True).start()


def work(named: threading.Semaphore, calls: Calls) -> None:
    while named.acquire():
        wait_until_quiet()
        while calls:
            if is_page_running():
                wait_until_quiet()
            with suppress(IndexError):  # another naming may have pushed the last one out
                call_in_advance(*calls.popleft())


def call_in_advance(function: Callable[..., Any], arguments: tuple[Any, ...], session: str) -> None:
    """Call, and leave what fails to the reader who asks for it: that answer has the sentence."""
    if is_closed(session):
        return
    with suppress(Exception, ScriptControlException):
        function(*arguments)


def is_closed(session: str) -> bool:
    """True if the tab of a session is closed; "" is nobody's, and stays."""
    return bool(session) and runtime.exists() and not runtime.get_instance().is_active_session(session)


def is_page_running() -> bool:
    """True if a page runs."""
    return any(thread.name.startswith(RUNS) for thread in threading.enumerate())


def wait_until_quiet() -> None:
    """Return when no page has run for `QUIET` seconds."""
    quiet = time.monotonic()
    while time.monotonic() - quiet < QUIET:
        time.sleep(QUIET / 4)
        if is_page_running():
            quiet = time.monotonic()
