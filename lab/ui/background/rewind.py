"""Training that a page shows as it goes: begun, paused, wound back, gone on with other knobs.

    within = {"rate": (0.001, 0.1), "batch": (32, 256)}
    live = ui.rewind(recipe, {"rate": rate, "batch": batch}, within=within, most=100)  # buttons: in the rail
    with stage.picture:
        live.show(draw)                            # draw(live): figures and live.film.bar(...)

Knobs that are turned count from the newest frame on while it trains, else from the frame that the film shows:
what had come after that one is forgotten. The whole course of the knobs stands in the link, so a pasted link
trains to the same bits; readers with the same recipe and course share one computation (`lab.lenses.rewind`).

A page may have a run that was `recorded`, for a poster that waits for nobody. A link with recorded=true shows
it, as far as it goes; as soon as the reader asks for anything else, all of that is trained here.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from lab.errors import UserError
from lab.lenses import rewind as runs
from lab.ui.background.jobs import queue_message
from lab.ui.background.training_runs import live
from lab.ui.figures import films
from lab.ui.scheduling.turns import line
from lab.ui.session import state

CHUNK = 0.3  # seconds of training between two drawings
SECONDS = 0.07  # between two frames of the film
AGAIN = 6  # frames before the new ones that are sent once more, should a drawing have been skipped
COURSE, UNTIL, STEP, RECORDED = "course", "until", "step", "recorded"
COMPLAINT = "_rewind:complaint"  # what is said of the link once more, where the page is drawn anew by itself
AHEAD = "_rewind:ahead"  # frames that a button asks for
Within = Mapping[str, tuple[float, float]]
Steps = Mapping[str, Mapping[str, Any]]
SENT = "_rewind:sent"  # which reel the browser has, how many frames of it, and whether it was live


@st.cache_resource(show_spinner=False)
def store() -> runs.Store:
    """The runs of all readers of this process."""
    return runs.Store()


class Rewind:
    """A training on a page.

    Attributes:
        run: recipe, history and frames.
        until: the frame that it trains up to.
        film: over the frames that are there, set before `draw` is called.
        frames: those, from the untrained model on.
        complaint: what was said of the link, "" if nothing.
    """

    film: films.Film
    frames: list[runs.Frame]
    complaint = ""

    def __init__(self, run: runs.Run, until: int, most: int, label: str = "Frame", every: int = 1) -> None:
        self.run, self.until, self.most, self.label, self.every = run, until, most, label, every
        of = repr((run.recipe, run.history, run.recorded))
        self.reel = hashlib.sha256(of.encode()).hexdigest()[:16]

    @property
    def training(self) -> bool:
        """True if more frames are still to come."""
        return self.run.count <= self.until

    @property
    def knobs(self) -> list[Mapping[str, float]]:
        """The values of the knobs that led to each frame."""
        history = self.run.history
        at = [max(0, sum(part.start < frame for part in history) - 1) for frame in range(len(self.frames))]
        return [dict(history[i].knobs) for i in at]

    def new(self, values):  # type: ignore[no-untyped-def]
        """The values that are sent now, of values for every frame."""
        return values[self.film.since :]

    def show(self, draw: Callable[["Rewind"], None]) -> None:
        """Draw what there is; while it trains, again after each chunk."""

        @live(every=0.1 if self.training else None)
        def part() -> None:
            others = 0
            if self.training:
                with line.turn(self.run) as others:
                    if not others:
                        self.run.advance(self.until, CHUNK, line.rest)
                if not self.training:
                    st.session_state[COMPLAINT] = self.complaint
                    st.rerun()
            self.frame()
            with st.container(key="live", gap="small"):
                draw(self)
                if others:
                    st.caption(f"Trains on as soon as it can{queue_message(others)}.")

        part()

    def frame(self) -> None:
        """The film over the frames that are there now."""
        self.frames = self.run.frames()[: self.until + 1]
        last = len(self.frames) - 1
        reel, sent, was_live = st.session_state.get(SENT, ("", 0, False))
        follows = reel == self.reel and (was_live or self.training)
        if follows and state.get(STEP) is None:
            st.session_state[f"_told:{STEP}"] = last  # the browser goes there by itself, frame by frame
        self.film = self.on_the_way(last) or films.film(
            last + 1, key=STEP, default=last, label=self.label, names=self.names(last), seconds=SECONDS
        )
        since = max(0, min(sent, last + 1) - AGAIN) if follows and self.training else 0
        self.film.grows(self.reel, since, self.training)
        st.session_state[SENT] = self.reel, last + 1, self.training

    def on_the_way(self, last: int) -> films.Film | None:
        """The film at its newest frame where a link or a scene asks for one that is still to come; the state
        keeps what they ask for."""
        wanted = state.get(STEP) or ""
        if not (self.training and wanted.isdecimal() and last < int(wanted) <= self.until):
            return None
        state.register(STEP, "number", last, (0, self.until))
        state.put(STEP, wanted)
        state.publish(STEP)
        st.session_state[f"_told:{STEP}"] = last
        return films.Film(last + 1, STEP, last, SECONDS, self.label, names=self.names(last))

    def names(self, last: int) -> list[str] | None:
        """Texts that the film's bar shows of each frame behind the label; None counts the frames."""
        return None if self.every == 1 else [f"{self.every * number:,}" for number in range(last + 1)]


def rewind(
    recipe: runs.Recipe, knobs: Mapping[str, float], *, within: Within, most: int, start: int = 0,
    steps: Steps | None = None, label: str = "Frame", every: int = 1, recorded: runs.Run | None = None,
) -> Rewind:  # fmt: skip
    """The training of a recipe, with its buttons drawn here.

    Args:
        knobs: their values as the controls stand, those that the recipe asks for.
        within: the least and the most that each may be in a link.
        most: the last frame.
        start: the frame that it trains up to at first.
        steps: buttons for one frame more: label -> where they put controls first.
        label: what the film's bar counts. every: how many of it lie between two frames.
        recorded: a run of this recipe that was kept in a file.
    """

    def along(history: runs.History) -> runs.Run:
        """The run along a history, up to `until`."""
        if recorded and state.get(RECORDED) and (recorded.history, recorded.count - 1) == (history, until):
            return recorded
        state.put(RECORDED, None)
        return store().run(recipe, history)

    now = runs.knobs_of(knobs)
    until = state.number(UNTIL, start, 0, most, whole=True)
    state.show_warning(UNTIL, until == start)
    history, complaint = stored_history(now, within, most)
    complaint = st.session_state.pop(COMPLAINT, "") or complaint
    if complaint:
        st.warning(complaint, icon=":material/link_off:")
    run = along(history)
    ahead = st.session_state.pop(AHEAD, 0)
    newest = min(run.count - 1, until)
    running = run.count <= until
    at = newest if running else min(newest, shown_frame(newest))
    elsewhere = ahead and at < newest and runs.leading(history, max(at, 0)) != now
    if history[-1].knobs != now or (elsewhere and not running):
        history = runs.turned(history, max(at, 0), now)
        if not running:
            until = min(max(at, 0) + ahead, most)
        run = along(history)
        state.put(STEP, None)
    elif ahead and not running:
        until = max(until, min(at + ahead, most))
        run = along(history)
        state.put(STEP, str(at + ahead) if at < newest else None)
    state.put(UNTIL, str(until))
    state.publish(UNTIL, str(start))
    text, plain = runs.spell(history), runs.spell((runs.Segment(0, now),))
    state.put(COURSE, text)
    state.register(COURSE, "text", plain)
    state.publish(COURSE, plain)
    state.register(RECORDED, "text")
    state.publish(RECORDED)
    live = Rewind(run, until, most, label, every)
    live.complaint = complaint
    buttons(live, steps or {})
    return live


def stored_history(now: runs.Knobs, within: Within, most: int) -> tuple[runs.History, str]:
    """The history so far, in the session or in the link, and a sentence on one that cannot be read."""
    state.register(COURSE, "text", "")
    raw = state.get(COURSE)
    if not raw:
        return (runs.Segment(0, now),), ""
    try:
        return runs.parse(raw, within, most), ""
    except UserError as error:
        return (runs.Segment(0, now),), f"{error} It begins anew."


def shown_frame(last: int) -> int:
    """The frame that the film shows."""
    raw = state.get(STEP) or ""
    return min(int(raw), last) if raw.isdecimal() else last


def buttons(live: Rewind, steps: Steps) -> None:
    """Train or pause; from the start; one frame with controls put somewhere."""

    def go_until(frame: int) -> None:
        state.put(UNTIL, str(frame))
        state.put(STEP, None)
        st.session_state.pop(SENT, None)  # the film goes to the newest frame

    def pause() -> None:
        state.put(UNTIL, str(max(0, live.run.count - 1)))

    def again() -> None:
        go_until(0)
        state.put(COURSE, None)

    def one(controls: Mapping[str, Any]) -> None:
        state.set_values(controls)
        st.session_state[AHEAD] = 1

    with st.container(horizontal=True, gap="small"):
        if live.training:
            st.button("Pause", key="pause", on_click=pause, type="primary", icon=":material/pause:")
        else:
            st.button(
                "Train", key="train", on_click=go_until, args=(live.most,), type="primary",
                icon=":material/play_arrow:", disabled=live.until >= live.most,
            )  # fmt: skip
        st.button("Start anew", key="anew", on_click=again, icon=":material/restart_alt:")
        for label, controls in steps.items():
            st.button(label, key=f"one-{label}", on_click=one, args=(controls,), disabled=live.training)
