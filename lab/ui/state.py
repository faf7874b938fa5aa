"""State that lives in the URL although no widget of Streamlit holds it, and bad values in the URL.

Streamlit binds its own widgets to the URL and silently drops what does not fit; a reader who
pasted a link deserves a sentence instead, so values are looked at before the widget sees them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from streamlit.errors import StreamlitAPIException

from lab.ui.ranges import in_range, parse

Kind = Literal["widget", "number", "text", "selection"]  # a widget of Streamlit; or text that we hold


@dataclass(frozen=True)
class Control:
    """What a page knows of a control that it has drawn."""

    kind: Kind
    default: Any
    limits: tuple[float, float] | None = None  # of a number


def set_warning(key: str, sentence: str) -> None:
    """Show a sentence about the URL value of `key`, until the control is moved."""
    st.session_state[f"_bad:{key}"] = sentence


def show_warning(key: str, still_default: bool) -> None:
    """Draw the sentence about `key`, if there is one and the control was not moved since."""
    sentence = st.session_state.get(f"_bad:{key}")
    if sentence and still_default:
        st.warning(sentence, icon=":material/link_off:")
    elif sentence:
        del st.session_state[f"_bad:{key}"]


def prepare(
    key: str,
    default: Any,
    valid: Callable[[str], bool],
    fits: Callable[[Any], bool],
    wants: str,
    spell: Callable[[Any], str] = str,
) -> None:
    """Before a bound widget is made: refuse a bad URL value, drop a value that no longer fits.

    Args:
        valid: is this text of the URL a value of the control?
        fits: may the present value stay (the range may have changed since)?
        wants: what the control takes, ends the sentence.
        spell: the text of a value in the URL.
    """
    register(key, "widget", default)
    raw = st.query_params.get(key)
    if key in st.session_state:
        current = st.session_state[key]
        if not fits(current):
            st.session_state[key] = default
        elif current != default and raw is None:
            # A scene has set a control that was not on the page: Streamlit would leave the URL as it is.
            with suppress(StreamlitAPIException):  # it was on the page, and Streamlit writes the URL itself
                st.query_params[key] = spell(current)
        return
    if raw is not None and not valid(raw):
        set_warning(
            key, f"The link says {key}={short(raw)}, but {key} {wants}; {short(str(default))!r} is used."
        )
        # Streamlit would take what it can make of it (2.5 becomes 2): the widget must not see it.
        del st.query_params[key]
        st.rerun()


def short(text: str) -> str:
    """The beginning of a text of a link, for a sentence."""
    return text if len(text) <= 40 else text[:37] + "…"


def register(key: str, kind: Kind, default: Any = None, limits: tuple[float, float] | None = None) -> None:
    """Remember what kind of control has this key, and where it stands at first, for the scenes.

    Raises:
        ValueError: the key is a parameter of every link, such as a lecture's place.
    """
    if key in KEPT:
        raise ValueError(f"No control may be called {key!r}: a link says something else by it.")
    controls()[key] = Control(kind, default, limits)


def controls() -> dict[str, Control]:
    """The controls that this page has drawn so far, by key."""
    found: dict[str, Control] = st.session_state.setdefault("_controls", {})
    return found


def begin() -> None:
    """Before a run of the page draws its controls."""
    st.session_state["_before"] = st.session_state.pop("_controls", {})


def known() -> dict[str, Control]:
    """The controls that this page has drawn, in this run or the one before."""
    return {**st.session_state.get("_before", {}), **controls()}


def enter(page: str) -> None:
    """Forget what the page before has held: another page may use the same keys."""
    if st.session_state.get("_page", page) != page:
        for key, control in known().items():
            if control.kind == "widget":
                st.session_state.pop(key, None)
        for slot in [str(k) for k in st.session_state if str(k).startswith("_")]:
            del st.session_state[slot]
    st.session_state["_page"] = page


def get(key: str) -> str | None:
    """Text held under `key`. What the URL says counts whenever it has changed: at the start, and when
    the reader goes back in the browser's history."""
    slot, seen, url = f"_held:{key}", f"_seen:{key}", st.query_params.get(key)
    if slot not in st.session_state or url != st.session_state.get(seen):
        st.session_state[slot] = st.session_state[seen] = url
        st.session_state.pop(f"_own:{key}", None)
    return st.session_state[slot]


def put(key: str, value: str | None) -> None:
    """Hold text under `key`; `publish` shows it in the URL."""
    st.session_state[f"_held:{key}"] = value
    st.session_state[f"_own:{key}"] = True  # not what a link says


def number(key: str, default: float, low: float, high: float, *, whole: bool) -> Any:
    """A number that lives in the URL without a widget, from `low` to `high`.

    What a link says and does not fit is refused with a sentence; what no longer fits, since the range has
    changed, goes to the nearest end.
    """
    register(key, "number", default, (low, high))
    raw = get(key)
    value = default if raw is None else parse(raw)
    if value is None or not in_range(low, high, whole)(value):
        if value is not None and st.session_state.get(f"_own:{key}"):
            value = min(max(value, low), high)
        else:
            set_warning(
                key,
                f"The link says {key}={short(raw or '')}, but {key} runs from {low:g} to {high:g}; "
                f"{spell(default)!r} is used.",
            )
            value = default
        put(key, spell(value))
    st.session_state[f"_own:{key}"] = True
    publish(key, spell(default))
    return int(value) if whole else float(value)


def publish(key: str, default: str | None = None) -> None:
    """Write the held text into the URL; what is the default stays out of it."""
    value = st.session_state.get(f"_held:{key}")
    value = None if value == default else value
    if value != st.query_params.get(key):
        if value is None:
            del st.query_params[key]
        else:
            st.query_params[key] = value
    st.session_state[f"_seen:{key}"] = value


def held_text(key: str, default: str) -> str:
    """Text that lives in the URL without a widget: scenes and clicks set it."""
    register(key, "text", default)
    value = get(key)
    publish(key, default)
    return default if value is None else value


def select(key: str, point: Any) -> None:
    """Select a point: dict(x, y), a pair, or None."""
    put(key, spell_point(point))


def spell_point(point: Any) -> str | None:
    """A point as a link spells it."""
    if point is None:
        return None
    x, y = (point["x"], point["y"]) if isinstance(point, Mapping) else point
    return f"{spell(x)},{spell(y)}"


def spell(v: Any) -> str:
    return f"{v:.6g}" if isinstance(v, float) else str(v)


def set_values(values: Mapping[str, Any]) -> None:
    """Set controls by key before the next run of the page."""
    for key, value in values.items():
        control = known().get(key)
        if control is None or control.kind != "widget":  # one that is not on the page now may be of any kind
            point = isinstance(value, tuple | Mapping)
            put(key, spell_point(value) if point else None if value is None else spell(value))
        if control is None or control.kind == "widget":
            current = st.session_state.get(key)
            if isinstance(current, float) and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            st.session_state[key] = value


def set_all(values: Mapping[str, Any]) -> None:
    """Set the whole state of the page: what `values` does not name goes to where it stands at first."""
    for slot in [str(k) for k in st.session_state]:
        if slot.startswith("_bad:"):
            del st.session_state[slot]
        elif slot.startswith("_held:") and slot.removeprefix("_held:") not in values:
            put(slot.removeprefix("_held:"), None)
    for key, control in known().items():
        if control.kind == "widget" and key not in values and key in st.session_state:
            st.session_state[key] = control.default
    for key in set(st.query_params) - set(values) - KEPT:
        with suppress(StreamlitAPIException):  # of a widget: it follows the value that was set above
            del st.query_params[key]
    set_values(values)
    for slot in [str(k) for k in st.session_state]:
        if slot.startswith("_held:"):  # the link may have changed on the way here: what was set counts
            key = slot.removeprefix("_held:")
            st.session_state[f"_seen:{key}"] = st.query_params.get(key)


KEPT = frozenset({"stage", "lecture", "at", "follow"})  # parameters of a link that are of no page


def stands_at(values: Mapping[str, Any]) -> bool:
    """Whether every control of the page stands where `values` says, or at its default."""
    return all(same(key, control, values) for key, control in controls().items())


def same(key: str, control: Control, values: Mapping[str, Any]) -> bool:
    wanted = values.get(key, control.default)
    if control.kind == "widget":
        return bool(st.session_state.get(key, control.default) == wanted)
    now = st.session_state.get(f"_held:{key}")
    if control.kind == "selection":
        return bool(now == spell_point(wanted))
    default = None if control.default is None else spell(control.default)
    return (now if now is not None else default) == (None if wanted is None else spell(wanted))
