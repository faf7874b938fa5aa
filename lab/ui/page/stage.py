"""The stage that every page stands on: title, scenes, picture, rail of controls, equation; words below.

    stage = ui.stage(ROOM)
    stage.scenes({"Narrow": ui.scene("Three units lose four of seven edges.", width=3)})
    with stage.rail:
        n = ui.slider("Variables", 2, 8, 5, key="n")
    with stage.picture:
        ui.figure(...)
    stage.equation(latex, note)
    with stage.below:
        ui.notice(...)

The first screen holds all but `below`: `js/stage.js` gives the picture the height that is left, answers the
keys, and shows the scenes. `close`, which the dashboard calls when a page has run, tells it the state.
"""

import html
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from lab import lecture
from lab.errors import UserError
from lab.figures import theme
from lab.room import Room, link
from lab.ui.browser.components import component, last_message
from lab.ui.page import symbols
from lab.ui.page.mathml import mathml
from lab.ui.session import access, state

CSS = (Path(__file__).parent / "stage.css").read_text(encoding="utf-8")
HTML = (
    '<div class="lectern-stage"><nav class="scenes"></nav><div class="sees" aria-live="polite"></div></div>'
)
mount = component("stage", HTML)
log = logging.getLogger("lectern")


@dataclass(frozen=True)
class Scene:
    """A full state of a page: `values` by the keys of its controls, all others where they stand at first."""

    sees: str
    values: Mapping[str, Any]


def scene(sees: str, /, **values: Any) -> Scene:
    """A scene.

    Args:
        sees: what to see, in one line.
        **values: controls by key; None lets go of a selected point.
    """
    return Scene(sees, values)


class Stage:
    """The parts of a page, as containers to draw into."""

    def __init__(self, title: str, idea: str, asked: bool) -> None:
        self.title = title
        self.asked = asked  # whether this run is to show a state that a link asks for
        self.now: Callable[[str], str] = str  # of a scene's number or name in an earlier link, its name today
        st.html(f'<div class="lectern-head"><h1>{html.escape(title)}</h1><p>{html.escape(idea)}</p></div>')
        self.top = st.container(key="scenes")
        picture, rail = st.columns([4, 1], gap="medium")
        with picture, st.container(key="stand", gap="small"):
            self.picture = st.container(key="picture", gap="small")
            self.foot = st.container(key="foot", gap=None)
        with rail:
            self.rail = st.container(key="rail", gap="small")
        self.below = st.container(key="below")

    def equation(self, latex: str, note: str = "") -> None:
        """An equation with live numbers under the picture, and where each number comes from."""
        symbols.explain(latex)
        with self.foot, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.latex(latex, width="content" if note else "stretch")
            if note:
                st.caption(note)

    def metrics(self, values: Mapping[str, str]) -> None:
        """A row of numbers under the picture: label -> value."""
        with self.foot, st.container(horizontal=True, key="numbers"):
            for label, value in values.items():
                st.metric(label, value, width="content")

    def scenes(self, scenes: Mapping[str, Scene], now: Callable[[str], str] = str) -> None:
        """The page's scenes by name, in their order; keys 1 to 9 and the clicker set them. Name them before
        the controls: a link may ask for one by number or name (`?scene=2`), and something below may end the
        page.

        A link that says nothing asks for the first.

        Args:
            now: of a number or name that an earlier link says, the name of today.
        """
        st.session_state["_scenes"], self.now = dict(scenes), now
        if self.asked:
            values, sentence = requested_state(st.query_params.to_dict(), scenes, now)
            st.session_state["_sentence"] = sentence
            if values is not None:
                state.read(state.link_to(values), ours=True)
        if text := st.session_state.get("_sentence"):
            self.top.warning(text, icon=":material/link_off:")


def requested_state(
    link: Mapping[str, str], scenes: Mapping[str, Scene], now: Callable[[str], str] = str
) -> tuple[Mapping[str, Any] | None, str]:
    """The state that a link asks for, on a page with these scenes: None where it names the controls itself;
    and a sentence about what it asks for and is not there, else ""."""
    wanted, sentence = link.get(state.SCENE), ""
    if wanted is not None and wanted != "0":
        if (name := now(wanted)) in scenes:
            return scenes[name].values, ""
        if wanted.isdecimal() and 1 <= int(wanted) <= len(scenes):
            return list(scenes.values())[int(wanted) - 1].values, ""
        sentence = f"The link says scene={state.short(wanted)}, but there are scenes 1 to {len(scenes)}."
    elif wanted == "0":
        return None, ""
    if set(link) - state.KEPT - {state.SCENE}:
        return None, sentence
    first = next((scene.values for scene in scenes.values()), None)
    if "lecture" not in link:
        return first, sentence
    try:
        played, at = at_lecture()
    except UserError as error:
        return first, str(error)
    entry = played.entries[at]
    if entry.scene is None:
        return entry.state or first, sentence
    if (name := now(entry.scene)) in scenes:
        return {**scenes[name].values, **entry.state}, sentence
    return entry.state, (
        f"Scene {at + 1} of the lecture {played.name} is called {state.short(entry.scene)!r}, but this page "
        f"has no scene of that name: it has {', '.join(scenes) or 'none'}."
    )


def at_lecture() -> tuple[lecture.Lecture, int]:
    """The lecture that the link names, and the index of the entry that is shown.

    Raises:
        UserError: there is no such lecture, or no such place in it.
    """
    now = lecture.read(st.query_params.get("lecture", ""))
    at = st.query_params.get("at", "")
    if not at.isdecimal() or not 1 <= int(at) <= len(now.entries):
        raise UserError(
            f"The link says at={state.short(at)}, but {now.name} has scenes 1 to {len(now.entries)}."
        )
    return now, int(at) - 1


def lecture_data() -> dict[str, Any] | None:
    """The lecture that is on, for the browser: its present entry, and all of its scenes."""
    try:
        now, at = at_lecture()
    except UserError:
        return None
    return {
        "name": now.name,
        "title": now.title,
        "at": at,
        "minutes": now.minutes,
        "entries": [
            {"link": now.link(i), "name": e.scene or e.page, "says": e.says, "minutes": e.minutes}
            for i, e in enumerate(now.entries)
        ],
    }


_now: ContextVar[Stage | None] = ContextVar("stage", default=None)  # of the run of this thread


def stage(of: Room | str, idea: str = "") -> Stage:
    """The first call of a page.

    Args:
        of: the room, or the title of a page without one.
        idea: of a page without a room, in one sentence.
    """
    if isinstance(of, str):
        result = Stage(of, idea, begin(of))
        symbols.set_family("", {})
    else:
        result = Stage(of.title, of.idea, begin(of.title))
        symbols.set_family(of.family, of.symbols)
        if of.state is not None:
            result.scenes({n: Scene(one.sees, link(one.state)) for n, one in of.scenes.items()}, of.scene)
    _now.set(result)
    return result


def begin(title: str) -> bool:
    """Draw in the reader's theme, and set the state that a link asks for; whether one does."""
    use_theme()
    asked = state.enter(title)
    st.session_state.pop("_scenes", None)
    state.begin()
    st.html(f"<style>{CSS.replace('BASE/', f'{access.base()}/')}</style>")
    return asked


def use_theme() -> None:
    """Draw figures in the reader's light or dark theme."""
    theme.use("dark" if st.context.theme.type == "dark" else "light")


def show(draw: Callable[[], None], knows: Callable[[str], bool]) -> None:
    """Run a page as a part of the dashboard that answers alone; what fails in it is one sentence.

    Args:
        knows: whether the page may have a control of this name, one that is not drawn now too.
    """

    @st.fragment
    def page() -> None:
        _now.set(None)
        if (link := st.session_state.get("lectern_link")) is not None:
            st.session_state.setdefault("_asked", link)  # the run that was to read it was cut off
        try:
            with guard():
                draw()
        finally:
            if (stage := _now.get()) is not None:
                close(stage, knows)

    page()


def close(stage: Stage, knows: Callable[[str], bool]) -> None:
    """The end of a page's run: its scenes, which of them it shows, and what it does not know of the link."""
    scenes: dict[str, Scene] = st.session_state.get("_scenes", {})
    names = list(scenes)
    active = next((i for i, name in enumerate(names) if state.stands_at(scenes[name].values)), None)

    def chosen() -> None:
        result = last_message("lectern_stage", "scene")
        number = (
            result.get("number")
            if isinstance(result, Mapping) and result.get("page") == stage.title
            else None
        )
        if isinstance(number, int) and 0 <= number < len(names):
            state.ask(scenes[names[number]].values)

    def staged() -> None:
        if st.session_state["lectern_stage"]["stage"]:
            st.query_params["stage"] = "1"
        else:
            st.query_params.pop("stage", None)

    # A link that is pasted opens a session; later pages may find in the address what another has left there.
    pasted = st.session_state.setdefault("lectern_opened", stage.title) == stage.title
    named = set(st.query_params) - state.KEPT - {state.SCENE}
    unknown = [k for k in st.query_params if k in named - set(state.controls()) and pasted and not knows(k)]
    is_default_state(bool(named), scenes, stage.now)
    known, equations = symbols.list_symbols()
    with stage.top:
        if unknown:
            keys = ", ".join(state.short(key) for key in unknown[:5])
            st.warning(f"The link names {keys}, which this page does not know.", icon=":material/link_off:")
        mount(
            key="lectern_stage",
            data={
                "scenes": [{"name": name, "sees": scenes[name].sees} for name in names],
                "active": active,
                "stage": st.query_params.get("stage") == "1",
                "dark": theme.mode() == "dark",
                "title": stage.title,
                "lecture": lecture_data(),
                "symbols": [[mathml(symbol), words] for symbol, words in known.items()],
                "equations": equations,
            },
            on_scene_change=chosen,
            on_stage_change=staged,
        )
    st.session_state.pop("lectern_link", None)


def is_default_state(named: bool, scenes: Mapping[str, Scene], now: Callable[[str], str]) -> None:
    """Keep a word in the link where every control stands as at first: without it the link would show a
    scene."""
    opens, _ = requested_state({k: v for k, v in st.query_params.items() if k in state.KEPT}, scenes, now)
    if named or state.stands_at(opens or {}):
        st.query_params.pop(state.SCENE, None)
    elif st.query_params.get(state.SCENE) != "0":
        st.query_params[state.SCENE] = "0"


@contextmanager
def guard() -> Iterator[None]:
    """Turn any failure inside into one sentence on the page; the details go to the terminal."""
    try:
        yield
    except UserError as error:
        st.warning(str(error), icon=":material/info:")
    except Exception as error:
        log.exception("A page failed")
        st.error(
            f"This page stopped at an error ({type(error).__name__}); the terminal has the details. "
            "Reset its controls by opening it again from the menu.",
            icon=":material/error:",
        )
