"""Controls: slider, number, choice, toggle, text, and a file's text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from datamodules import sheet
from lab.ui.browser.components import component, last_message
from lab.ui.session import access, state
from lab.ui.session.ranges import in_range, parse

mount_slider = component(
    "slider",
    '<div class="lectern-slider"><div class="top"><span class="label"></span><output></output></div>'
    '<input type="range"></div>',
)
SEGMENTS = 6  # at most so many options are shown side by side; more become a list


def slider(
    label: str,
    low: float,
    high: float,
    default: float,
    *,
    key: str,
    step: float | None = None,
    help: str | None = None,
    format: str | None = None,
    disabled: bool = False,
) -> Any:
    """A number in [low, high], told while it moves; whole if all the arguments are whole.

    Args:
        format: how the value is written, "{}" stands for the number.
        disabled: greyed: with the other controls as they are it changes nothing.
    """
    if high <= low:  # nothing to choose
        return default
    whole = all(isinstance(v, int) for v in (low, high, default, step or 1))
    value = state.number(key, default, low, high, whole=whole)
    if step is not None:  # what a link says may lie between
        value = min(high, low + round((value - low) / step) * step)
        value = int(value) if whole else round(float(value), 10)
    step = step if step is not None else (1 if whole else (high - low) / 100)
    name = f"{key}-slider"

    def moved() -> None:
        result = last_message(name, "moved")
        if isinstance(result, Mapping) and in_range(low, high, whole)(result.get("value")):
            st.session_state[f"_seq:{key}"] = int(result.get("seq") or 0)
            state.put(key, state.spell(int(result["value"]) if whole else float(result["value"])))

    mount_slider(
        key=name,
        data={
            "label": label, "low": low, "high": high, "step": step, "value": value, "text": format,
            "help": help, "disabled": disabled, "seq": st.session_state.get(f"_seq:{key}", 0),
        },
        on_moved_change=moved,
    )  # fmt: skip
    state.show_warning(key, value == default)
    return value


def number(
    label: str,
    low: float,
    high: float,
    default: float,
    *,
    key: str,
    step: float | None = None,
    help: str | None = None,
    format: str | None = None,
    linked: bool = True,
) -> Any:
    """A number in [low, high] to type; whole if all the arguments are whole.

    Args:
        linked: its value is part of the link, and may come from one.
    """  # fmt: skip
    whole = all(isinstance(v, int) for v in (low, high, default, step or 1))
    kind = int if whole else float
    low, high, default = kind(low), kind(high), kind(default)
    step = kind(step) if step is not None else None
    fits = in_range(low, high, whole)
    if linked:
        state.prepare(key, default, lambda raw: fits(parse(raw)), fits, f"runs from {low:g} to {high:g}")
    bind: Any = "query-params" if linked else None
    value = st.number_input(label, low, high, default, step, key=key, help=help, format=format, bind=bind)
    value = default if value is None else value
    state.show_warning(key, value == default)
    return value


def choice(
    label: str,
    options: Sequence[Any],
    *,
    key: str,
    default: Any = None,
    help: str | None = None,
    format: Callable[[Any], str] = str,
    as_list: bool = False,
) -> Any:
    """One of `options`: side by side if they are few and short, else (or if `as_list`) a list."""
    options = list(options)
    if default is None or default not in options:
        default = options[0]
    names = [format(option) for option in options]
    wants = f"is one of {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
    state.prepare(key, default, lambda raw: raw in names, lambda value: value in options, wants, format)
    if not as_list and len(options) <= SEGMENTS and sum(len(name) + 3 for name in names) <= 44:
        value = st.segmented_control(
            label,
            options,
            default=default,
            required=True,
            format_func=format,
            key=key,
            help=help,
            wrap=True,
            bind="query-params",
        )
    else:
        value = st.selectbox(
            label,
            options,
            options.index(default),
            format_func=format,
            key=key,
            help=help,
            bind="query-params",
        )
    value = default if value is None else value
    state.show_warning(key, value == default)
    return value


def toggle(label: str, default: bool, *, key: str, help: str | None = None) -> bool:
    """On or off."""
    state.prepare(
        key,
        default,
        lambda raw: raw.lower() in ("true", "false"),
        lambda v: isinstance(v, bool),
        "is true or false",
        lambda v: str(v).lower(),
    )
    value = st.toggle(label, default, key=key, help=help, bind="query-params")
    state.show_warning(key, value == default)
    return value


def text(
    label: str,
    default: str = "",
    *,
    key: str,
    examples: Mapping[str, str] | None = None,
    max_chars: int = 2000,
    help: str | None = None,
    area: bool | None = None,
    says: Callable[[str], str] | None = None,
) -> str:
    """The reader's own text, and beside it chosen examples (name -> text).

    What is longer than `max_chars` is cut there, with a sentence that says so.

    Args:
        says: of the text, what was decided in reading it ("" for nothing): shown below.
    """
    fits = lambda value: isinstance(value, str) and len(value) <= max_chars  # noqa: E731
    if isinstance(st.session_state.get(key), str) and not fits(st.session_state[key]):
        st.session_state[key] = st.session_state[f"_cut:{key}"] = first_lines(
            st.session_state[key], max_chars
        )
        state.set_warning(
            key, f"The text is longer than {max_chars:,} characters; only its beginning is used."
        )
    state.prepare(key, default, fits, fits, f"takes at most {max_chars:,} characters")
    area = max_chars > 200 if area is None else area
    make = st.text_area if area else st.text_input
    size: dict[str, Any] = {"height": 100} if area else {}
    # without Streamlit's own max_chars, which cuts without a word
    value = make(label, default, key=key, help=help, bind="query-params", **size) or ""
    if examples:
        with st.container(horizontal=True, gap="small"):
            for name, example in examples.items():
                st.button(
                    name, key=f"{key}-example-{name}", on_click=state.set_values, args=({key: example},)
                )
    state.show_warning(key, value in (default, st.session_state.get(f"_cut:{key}")))
    if len(value) > max_chars:
        st.warning(f"The text is longer than {max_chars:,} characters; only its beginning is used.")
    value = first_lines(value, max_chars)
    if says and (sentence := says(value)):
        st.caption(sentence)
    return value


def first_lines(text: str, most: int) -> str:
    """The beginning of a text: its whole lines, so that no number is cut in two, where it has several."""
    if len(text) <= most:
        return text
    return text[: max(text.rfind("\n", 0, most + 1), 0)] or text[:most]


def upload(label: str, *, into: str) -> None:
    """A text file of the reader's, put into the text control `into`; what it cannot take is one sentence."""
    if access.is_closed():
        st.caption("Files of your own are closed here: paste the text instead.")
        return
    if why := access.upload_refusal(access.session_id()):
        st.caption(why)
        return
    key = f"{into}-file"

    def read() -> None:
        file = st.session_state[key]
        st.session_state.pop(f"_bad:{key}", None)
        if file is None:
            return
        try:
            text, notes = sheet.decode(file.getvalue(), file.name)
        except ValueError as error:
            state.set_warning(key, str(error))
            return
        if notes:
            state.set_warning(key, " ".join(notes))
        state.set_values(
            {into: text.replace("\r\n", "\n")}
        )  # the control itself cuts what is too long, and says so

    most = sheet.MOST_BYTES // 2**20
    st.file_uploader(label, type=["txt", "md", "csv"], key=key, on_change=read, max_upload_size=most)
    state.show_warning(key, True)
