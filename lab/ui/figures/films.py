"""Films: a picture for every step, computed ahead, sent once and turned by the browser.

    film = ui.film(len(trace), key="step")
    ui.figure(fig, alt="…", film=film, frames={"data.0.z": maps, "data.1.y": bars})
    film.bar(captions=captions, equations=equations)

Play, pause, step, scrub and the arrow keys never ask the server; where the film rests is told to Python
(`film.at`) and stands in the link. `js/film.js` is the browser's side.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from lab.ui.browser import wire
from lab.ui.browser.components import component, last_message
from lab.ui.page import symbols
from lab.ui.page.mathml import mathml
from lab.ui.session import state

HTML = """
<div class="lectern-film">
  <div class="controls">
    <button class="first" type="button" aria-label="To the start">|◀</button>
    <button class="back" type="button" aria-label="Back">◀</button>
    <button class="play" type="button" aria-label="Play">▶</button>
    <button class="next" type="button" aria-label="Forward">▶|</button>
    <input class="scrub" type="range" min="0" value="0" aria-label="Step">
    <span class="count"></span>
  </div>
  <div class="caption" aria-live="polite"></div>
  <div class="equation"></div>
</div>
"""
mount = component("film", HTML)


class Film:
    """`count` frames under one clock; `at` is where it rests, 0..count−1, kept in the link under `key`: its
    number, or what `values` has there."""

    def __init__(
        self,
        count: int,
        key: str,
        at: int,
        seconds: float,
        label: str,
        values: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
        plays: bool = False,
    ) -> None:
        self.count, self.key, self.at, self.seconds, self.label = count, key, at, seconds, label
        self.values, self.plays = values, plays
        self.names = [state.spell(v) for v in values] if names is None and values is not None else names
        self.since, self.reel, self.live = 0, "", False

    def grows(self, reel: str, since: int, live: bool) -> None:
        """More frames come while it is shown: figures are sent those from `since` on, and the browser adds
        them to what it has of this reel; while it is `live` it plays on whenever there are new ones."""
        self.reel, self.since, self.live = reel, since, live

    @property
    def value(self) -> float:
        """The value in the link for the frame at rest."""
        return self.at if self.values is None else self.values[self.at]

    @property
    def channel(self) -> str:
        """The film's name in the browser: films of other pages may have the same key."""
        return f"{st.session_state.get('_page', '')}/{self.key}"

    def expects(self, frames: Mapping[str, Any], since: int = 0) -> None:
        """
        Raises:
            ValueError: something that moves does not have a value for every frame from `since` on.
        """
        for path, values in frames.items():
            if len(values) != self.count - since:
                raise ValueError(f"{path} has {len(values)} frames, the film {self.count - since}")

    def bar(self, *, captions: Sequence[str] = (), equations: Sequence[str] = ()) -> None:
        """The bar that turns the film, and below it what it says at each frame.

        Args:
            captions: a sentence for every frame.
            equations: LaTeX for every frame.
        """
        if captions:
            self.expects({"captions": captions})
        if equations:
            self.expects({"equations": equations})
        slot = f"{self.key}-film"
        texts = [symbols.words(tex) for tex in equations]
        known = {symbol: words for of in texts for symbol, words in of.items()}
        place = {symbol: i for i, symbol in enumerate(known)}

        def rested() -> None:
            result = last_message(slot, "rest")
            if isinstance(result, Mapping) and result.get("stamp") == stamp(self.key):
                at = max(0, min(self.count - 1, int(result.get("at", 0))))
                state.put(self.key, state.spell(at if self.values is None else self.values[at]))
                st.session_state[f"_told:{self.key}"] = at

        header = {
            "key": self.channel,
            "count": self.count,
            "at": self.at,
            "stamp": stamp(self.key),
            "seconds": self.seconds,
            "live": self.live,
            "plays": self.plays,
            "label": self.label,
            "names": None if self.names is None else list(self.names),
            "captions": list(captions),
            "equations": [mathml(tex) for tex in equations],
            "symbols": [[mathml(symbol), words] for symbol, words in known.items()],
            "explains": [[place[symbol] for symbol in of] for of in texts],
        }
        mount(key=slot, data=wire.pack(header), on_rest_change=rested)


def film(
    count: int,
    *,
    key: str,
    seconds: float = 0.4,
    default: float = 0,
    label: str = "Step",
    values: Sequence[float] | None = None,
    names: Sequence[object] | None = None,
    plays: bool = False,
) -> Film:
    """A film of `count` frames; it stands where the link or a scene has put it, or where it was left.

    Args:
        seconds: between two frames while it plays.
        default: where it stands at first.
        values: of a knob that the film turns, in rising order: the link, scenes and `default` name the frame
            by its value, and the bar shows it.
        names: what the bar shows of each frame behind the label, if not its number or its value: a film that
            has forty of 1,000 steps says at which of them it stands.
        plays: by itself, again and again, until it is stopped; who wants less motion, or comes by a link to
            another frame than the default, finds it at rest.
    """
    if values is None:
        last = max(0, count - 1)
        default = min(default, last)
        value = at = state.number(key, default, 0, last, whole=True)
    else:
        whole = all(isinstance(v, int) for v in values)
        value = state.number(key, default, values[0], values[-1], whole=whole)
        at = min(range(count), key=lambda i: abs(values[i] - value))
    state.show_warning(key, value == default)
    if st.session_state.get(f"_told:{key}") != at:  # a scene or a link has put it there: the browser follows
        st.session_state[f"_told:{key}"] = at
        st.session_state[f"_stamp:{key}"] = secrets.token_hex(4)
    spelled = None if names is None else [f"{n}" for n in names]
    return Film(count, key, at, seconds, label, values, spelled, plays and value == default)


def stamp(key: str) -> str:
    """A word for the last time that Python has put the film somewhere."""
    return str(st.session_state.get(f"_stamp:{key}", ""))
