"""The stepper: play, pause, back, forward, scrub."""

import time

import streamlit as st

from lab.ui import state
from lab.ui.ranges import in_range, parse


def stepper(n: int, *, key: str, seconds: float = 0.4, default: int = 0, label: str = "Step") -> int:
    """The index of the current step, 0..n-1, kept in the URL; the arrow keys move it too.

    Args:
        n: number of steps.
        seconds: between two steps while playing.
    """
    if n <= 1:
        return 0
    last = n - 1
    default = min(default, last)
    playing = st.session_state.get(f"_play:{key}", False)
    if f"_step:{key}" in st.session_state:  # asked for by the clock in the last run
        st.session_state[key] = st.session_state.pop(f"_step:{key}")
    if isinstance(st.session_state.get(key), int):  # the trace may have become shorter
        st.session_state[key] = max(0, min(last, st.session_state[key]))
    fits = in_range(0, last, whole=True)
    state.prepare(key, default, lambda raw: fits(parse(raw)), fits, f"runs from 0 to {last}")

    def move(by: int) -> None:
        st.session_state[key] = max(0, min(last, st.session_state.get(key, default) + by))
        st.session_state[f"_play:{key}"] = False

    def play() -> None:
        st.session_state[f"_play:{key}"] = not playing
        if not playing and st.session_state.get(key, default) >= last:
            st.session_state[key] = 0

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"stepper-{key}"):
        # The words are for screen readers; the page's style shows the icons alone.
        icon, what = ("pause", "Pause") if playing else ("play_arrow", "Play")
        st.button("To the start", key=f"{key}-first", icon=":material/first_page:", on_click=move, args=(-n,))
        st.button(
            "Back",
            key=f"{key}-back",
            icon=":material/chevron_left:",
            on_click=move,
            args=(-1,),
            shortcut="Left",
        )
        st.button(what, key=f"{key}-play", icon=f":material/{icon}:", on_click=play, type="primary")
        st.button(
            "Forward",
            key=f"{key}-next",
            icon=":material/chevron_right:",
            on_click=move,
            args=(1,),
            shortcut="Right",
        )
        index = st.slider(
            f"{label} of {last}", 0, last, default, key=key, bind="query-params", width="stretch"
        )
    state.show_warning(key, index == default)
    if playing:
        clock(key, index, last, seconds)
    return index


def clock(key: str, index: int, last: int, seconds: float) -> None:
    """While playing, ask for the next step after `seconds`."""
    started = time.monotonic()

    @st.fragment(run_every=seconds)
    def tick() -> None:
        if not st.session_state.get(f"_play:{key}") or time.monotonic() - started < seconds / 2:
            return  # paused meanwhile, or this is the page's own run
        st.session_state[f"_step:{key}"] = min(index + 1, last)
        if index + 1 >= last:
            st.session_state[f"_play:{key}"] = False
        st.rerun()

    tick()
