"""The stepper: play, pause, back, forward, scrub."""

import time
from typing import Any

import streamlit as st

from lab.ui import state


def stepper(n: int, *, key: str, seconds: float = 0.4, default: int = 0, label: str = "Step") -> int:
    """The index of the current step, 0..n-1, kept in the URL.

    Args:
        n: number of steps.
        seconds: between steps while playing.
    """
    if n <= 1:
        st.caption("There is a single step.")
        return 0
    default = min(default, n - 1)
    playing = st.session_state.get(f"_play:{key}", False)
    if f"_step:{key}" in st.session_state:  # asked for by the clock of the last run
        st.session_state[key] = min(st.session_state.pop(f"_step:{key}"), n - 1)
    if isinstance(st.session_state.get(key), int) and st.session_state[key] > n - 1:
        st.session_state[key] = n - 1
    fits = lambda v: v is not None and 0 <= v <= n - 1 and v == int(v)  # noqa: E731

    from lab.ui.controls import parse

    state.prepare(key, default, lambda raw: fits(parse(raw)), fits, f"runs from 0 to {n - 1}")

    def move(to: int | None = None, by: int = 0) -> None:
        now = st.session_state.get(key, default)
        st.session_state[key] = max(0, min(n - 1, now + by if to is None else to))
        st.session_state[f"_play:{key}"] = False

    def play() -> None:
        st.session_state[f"_play:{key}"] = not playing
        if not playing and st.session_state.get(key, default) >= n - 1:
            st.session_state[key] = 0

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        button: Any = st.button
        button(
            "",
            key=f"{key}-first",
            icon=":material/first_page:",
            help="To the start",
            on_click=move,
            args=(0,),
        )
        button("", key=f"{key}-back", icon=":material/chevron_left:", help="Back", on_click=move, args=(None, -1),
               shortcut="Left")  # fmt: skip
        button("", key=f"{key}-play", icon=":material/pause:" if playing else ":material/play_arrow:",
               help="Pause" if playing else "Play", on_click=play, type="primary")  # fmt: skip
        button("", key=f"{key}-next", icon=":material/chevron_right:", help="Forward", on_click=move, args=(None, 1),
               shortcut="Right")  # fmt: skip
        index = st.slider(label, 0, n - 1, default, key=key, bind="query-params")
    state.complaint(key, index == default)
    if playing:
        clock(key, index, n, seconds)
    return index


def clock(key: str, index: int, n: int, seconds: float) -> None:
    """While playing, ask for the next step every `seconds`."""
    started = time.monotonic()

    @st.fragment(run_every=seconds)
    def tick() -> None:
        if not st.session_state.get(f"_play:{key}") or time.monotonic() - started < seconds / 2:
            return
        if index + 1 >= n - 1:
            st.session_state[f"_play:{key}"] = False
        st.session_state[f"_step:{key}"] = index + 1
        st.rerun()

    tick()
