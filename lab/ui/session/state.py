"""The state of a page, which is what its link says.

Whoever wants another state asks by a link (`ask`, or an address that is news to `enter`), and `read` sets it:
a link that is pasted, a scene's key, a lecture's clicker, a follower, the speaker, Back.

Here too: values that no widget of Streamlit holds, and bad values in the link. Streamlit binds its own
widgets to the URL and silently drops what does not fit; a reader who pasted a link deserves a sentence
instead, so values are looked at before the widget sees them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.ui.session.ranges import in_range, parse

Kind = Literal["widget", "number", "text", "selection"]  # a widget of Streamlit; or text that we hold


@dataclass(frozen=True)
class Control:
    """A control that a page has drawn, as the page knows it."""

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
        context = get_script_run_ctx()
        assert context is not None  # a page runs
        with context.session_state.query_params() as address:
            address.remove_param(key)
            address._initial_query_params.pop(key, None)


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
    if kind == "widget":
        st.session_state.setdefault("_widgets", set()).add(key)


def controls() -> dict[str, Control]:
    """The controls that this page has drawn so far, by key."""
    result: dict[str, Control] = st.session_state.setdefault("_controls", {})
    return result


def begin() -> None:
    """Before a run of the page draws its controls."""
    st.session_state["_before"] = st.session_state.pop("_controls", {})


def known_controls() -> dict[str, Control]:
    """The controls that this page has drawn, in this run or the one before."""
    return {**st.session_state.get("_before", {}), **controls()}


def enter(page: str) -> bool:
    """Before a run of the page: set the state that is asked for, and forget what another page has held.

    Returns:
        whether a state was asked for: by an address that is news (a page that is opened, Back, a place of the
        lecture), or by `ask`.
    """
    link, context = st.query_params.to_dict(), get_script_run_ctx()
    place = link.get("lecture"), link.get("at")
    asked = st.session_state.pop("_asked", None)
    news = context is not None and context.is_history_navigation
    if st.session_state.get("_page") != page:
        news = True
        forget()
        for slot in [str(k) for k in st.session_state if str(k).startswith("_")]:
            del st.session_state[slot]
    news |= st.session_state.setdefault("_place", place) != place
    st.session_state["_page"], st.session_state["_place"] = page, place
    if news or asked is not None:
        read(link if news else asked, ours=not news)
    return news or asked is not None


def forget() -> None:
    """Let go of all that the page's controls hold."""
    for key in st.session_state.get("_widgets", ()):
        st.session_state.pop(key, None)
    for slot in [str(k) for k in st.session_state]:
        if slot.startswith(("_held:", "_own:", "_bad:", "_told:")):
            del st.session_state[slot]


def read(link: Mapping[str, str], ours: bool = False) -> None:
    """Set the whole state of the page to what a link says, before its controls are drawn: they find what a
    reader's browser would bring to a new session, and nothing of what they held.

    Args:
        ours: of numbers that no longer fit their range, the nearest end is taken without a word.
    """
    forget()
    context = get_script_run_ctx()
    assert context is not None  # a page runs
    with context.session_state.query_params() as address:
        for widget in list(address._bindings_by_widget):
            address.unbind_widget(widget)
        address.populate_from_query_string(urlencode(link))
        address.set_initial_query_params_from_current()
        address._send_query_param_msg()  # though it be as it was: a run before may have changed the browser's
    context.is_history_navigation = True  # Streamlit's widgets take what the link says, or their defaults
    st.session_state["lectern_link"] = dict(link)
    st.session_state["_ours"] = ours


def ask(values: Mapping[str, Any]) -> None:
    """Ask for the state in which controls stand where `values` says, the others where they stand at first;
    the next run of the page sets it."""
    st.session_state["_asked"] = link_to(values)


def link_to(values: Mapping[str, Any]) -> dict[str, str]:
    """The link to the page in the state `values`; it keeps what is of no page."""
    texts = {key: text for key, value in values.items() if (text := spell_value(value)) is not None}
    kept = {key: value for key, value in st.query_params.to_dict().items() if key in KEPT}
    return {**kept, **(texts or {SCENE: "0"})}


def get(key: str) -> str | None:
    """Text held under `key`: what the link says, until something else is put there."""
    slot = f"_held:{key}"
    if slot not in st.session_state:
        st.session_state[slot] = st.query_params.get(key)
        st.session_state[f"_own:{key}"] = st.session_state.get("_ours", False)
    held: str | None = st.session_state[slot]
    return held


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


def spell_value(value: Any) -> str | None:
    """A control's value as a link spells it; None is said by silence."""
    if isinstance(value, bool):
        return str(value).lower()
    return spell_point(value) if value is None or isinstance(value, tuple | Mapping) else spell(value)


def set_values(values: Mapping[str, Any]) -> None:
    """Set controls by key before the next run of the page."""
    for key, value in values.items():
        control = known_controls().get(key)
        if control is None or control.kind != "widget":  # one that is not on the page now may be of any kind
            put(key, spell_value(value))
        if control is None or control.kind == "widget":
            current = st.session_state.get(key)
            if isinstance(current, float) and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            st.session_state[key] = value


KEPT = frozenset({"stage", "lecture", "at", "follow"})  # parameters of a link that are of no page
SCENE = "scene"  # asks for one by its number; 0 is the page with every control where it stands at first


def stands_at(values: Mapping[str, Any]) -> bool:
    """True if every control of the page stands where `values` says, or at its default."""
    return all(same(key, control, values) for key, control in controls().items())


def same(key: str, control: Control, values: Mapping[str, Any]) -> bool:
    """True if a control stands where `values` says, or at its default."""
    wanted = values.get(key, control.default)
    if control.kind == "widget":
        return bool(st.session_state.get(key, control.default) == wanted)
    now = st.session_state.get(f"_held:{key}")
    if control.kind == "selection":
        return bool(now == spell_point(wanted))
    default = None if control.default is None else spell(control.default)
    return (now if now is not None else default) == spell_value(wanted)
