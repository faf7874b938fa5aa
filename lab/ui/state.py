"""State that lives in the URL although no widget of Streamlit holds it, and bad values in the URL.

Streamlit binds its own widgets to the URL and silently drops what does not fit; a reader who
pasted a link deserves a sentence instead, so values are looked at before the widget sees them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException


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
    register(key, "widget")
    raw = st.query_params.get(key)
    if key in st.session_state:
        current = st.session_state[key]
        if not fits(current):
            st.session_state[key] = default
        elif current != default and raw is None:
            # A preset has set a control that was not on the page: Streamlit would leave the URL as it is.
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


def register(key: str, kind: str) -> None:
    """Remember what kind of control has this key, for the presets."""
    st.session_state.setdefault("_kinds", {})[key] = kind


def kind(key: str) -> str:
    return st.session_state.get("_kinds", {}).get(key, "widget")


def enter(page: str) -> None:
    """Forget what the page before has held: another page may use the same keys."""
    if st.session_state.get("_page", page) != page:
        for slot in [str(k) for k in st.session_state if str(k).startswith("_")]:
            del st.session_state[slot]
    st.session_state["_page"] = page


def get(key: str) -> str | None:
    """Text held under `key`. What the URL says counts whenever it has changed: at the start, and when
    the reader goes back in the browser's history."""
    slot, seen, url = f"_held:{key}", f"_seen:{key}", st.query_params.get(key)
    if slot not in st.session_state or url != st.session_state.get(seen):
        st.session_state[slot] = st.session_state[seen] = url
    return st.session_state[slot]


def put(key: str, value: str | None) -> None:
    """Hold text under `key`; `publish` shows it in the URL."""
    st.session_state[f"_held:{key}"] = value


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
    """Text that lives in the URL without a widget: presets and clicks set it."""
    register(key, "draw")
    value = get(key)
    publish(key, default)
    return default if value is None else value


def select(key: str, point: Any) -> None:
    """Select a point: dict(x, y), a pair, or None."""
    if point is None:
        put(key, None)
        return
    x, y = (point["x"], point["y"]) if isinstance(point, Mapping) else point
    put(key, f"{spell(x)},{spell(y)}")


def spell(v: Any) -> str:
    return f"{v:.6g}" if isinstance(v, int | float) else str(v)


def set_values(values: Mapping[str, Any]) -> None:
    """Set controls by key before the next run of the page."""
    for key, value in values.items():
        if kind(key) == "selection":
            select(key, value)
        elif kind(key) == "draw":
            put(key, str(value))
        else:
            current = st.session_state.get(key)
            if isinstance(current, float) and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            st.session_state[key] = value
            st.session_state.pop(f"_play:{key}", None)
