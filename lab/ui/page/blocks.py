"""Blocks of a page: equation, notice, check, code, source."""

import html
import inspect
import json
import re
import threading
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

from lab.figures import theme
from lab.ui.page import symbols

ROOT = Path(__file__).resolve().parents[3]
# `ast.parse` of Python 3.11 fails (SystemError) where two threads, those of two readers, are in it at once.
PARSING = threading.Lock()
STYLES: dict[theme.Mode, str] = {"light": "xcode", "dark": "github-dark"}  # of pygments, for code
COPIED = "<div class='lectern-code'><button type='button'>Copy</button>{}</div>"  # copy.js does it


def stop(sentence: str) -> NoReturn:
    """Show one clear sentence that says what to change, and end the page here."""
    st.warning(sentence, icon=":material/info:")
    raise StopException  # as st.stop does, after which nothing could be drawn: the scenes are still to come


def wait(sentence: str) -> NoReturn:
    """Say what a longer computation will show, and end the page here until it is done."""
    st.caption(sentence)
    raise StopException


def equation(latex: str, note: str = "") -> None:
    """An equation with live numbers, and where each number comes from."""
    symbols.explain(latex)
    st.latex(latex)
    if note:
        st.caption(note)


def notice(sentences: str) -> None:
    """The block "What to notice": two or three sentences."""
    with st.container(key="notice"):
        st.markdown(f"##### What to notice\n\n{sentences}")


# What a check can veil besides what it always does, by name; any other name is the key of a figure.
VEILS = {"picture": ".st-key-picture", "equation": ".st-key-foot", "numbers": ".st-key-numbers"}
# The line of the scene, and all words and tables below but the check, tell what there is to see.
ALWAYS = ".lectern-stage .sees, .st-key-below > :not(.st-key-check, :has(.st-key-check))"
# What is style alone Streamlit puts beside the page, where it outlives an answer: the span keeps it here.
VEIL = (
    "<span hidden></span>"
    "<style>{} {{filter: blur(.6em) saturate(.4); pointer-events: none; user-select: none}}</style>"
)


def check(
    question: str,
    options: Sequence[Any],
    answer: Any,
    why: str = "",
    *,
    wrong: Mapping[Any, str] | Sequence[str],
    veils: Sequence[str] = ("equation",),
) -> None:
    """Predict first, then see: once the question is asked, what gives the answer away is veiled until one is
    chosen.

    Args:
        answer: one of `options`, computed from the live state.
        why: the answer's reason, said with every option that is chosen.
        wrong: for each option that can be wrong, the sentence that names the mistake behind it; or one for
            each of `options`, in their order.
        veils: what shows the answer on the first screen: "picture", "equation" (all of the foot), "numbers",
            or keys of figures. The scene's line and what stands below are always veiled.
    """
    options = [str(option) for option in options]
    if str(answer) not in options:
        raise ValueError(f"the answer {answer!r} is none of the options {options}")
    key = f"check-{zlib.crc32(repr((question, options, answer)).encode())}"

    def ask(asked: bool) -> None:
        st.session_state[f"_asked:{key}"] = asked
        st.session_state.pop(key, None)

    with st.container(border=True, key="check"):
        st.markdown("##### Check")
        if not st.session_state.get(f"_asked:{key}"):
            st.button("Predict first", key=f"{key}-ask", on_click=ask, args=(True,), type="primary")
            return
        guess = st.radio(question, options, index=None, key=key)
        if guess is None:
            hidden = [VEILS.get(name, f".st-key-figure-{name}, .st-key-{name}") for name in veils]
            st.html(VEIL.format(", ".join([ALWAYS, *hidden])))
            return
        if guess == str(answer):
            st.success(f"Yes: {answer}. {why}", icon=":material/check:")
        else:
            text = dict(wrong.items() if isinstance(wrong, Mapping) else zip(options, wrong, strict=True))
            reason = next((text[option] for option in text if str(option) == guess), "")
            st.info(f"No: it is {answer}. {reason} {why}", icon=":material/close:")
        st.button("Ask again", key=f"{key}-again", on_click=ask, args=(False,), type="tertiary")


def program(source: str, shows: Any) -> None:
    """The lines of Python that give a number of this page, with the settings on the screen; ready to copy,
    and as a notebook.

    Args:
        source: a program that needs nothing but this project, and calls what it computes `result`.
        shows: the same, as the page has it: a number, a text, or a list of them. A test compares the two.
    """
    source = inspect.cleandoc(source)
    st.session_state["_program"] = (source, shows)
    with st.expander("Code"):
        # not st.code: its highlighter of all languages is half a second of script on every page
        st.html(COPIED.format(highlighted(source, theme.mode())))
        st.download_button(
            "Notebook", lambda: notebook(source), file_name="lectern.ipynb", key="notebook",
            mime="application/x-ipynb+json", on_click="ignore", icon=":material/download:",
        )  # fmt: skip


def notebook(source: str) -> str:
    """A notebook (format 4.5) whose only cell is the program, and then its result."""
    cell: dict[str, Any] = {
        "cell_type": "code", "id": "program", "metadata": {}, "outputs": [], "execution_count": None,
        "source": f"{source}\nresult",
    }  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": [cell]}
    )


def source(*objects: Any, references: Sequence[str] = ()) -> None:
    """The very code that ran, read from its file, and the references."""
    st.html(sheet(objects, tuple(references), theme.mode()))


@lru_cache(maxsize=512)
def highlighted(code: str, mode: theme.Mode) -> str:
    """The code as HTML with the colours of its parts."""
    # from their own modules: a package of them is not whole while another reader imports it
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    colours = HtmlFormatter(noclasses=True, nobackground=True, style=STYLES[mode])
    return str(highlight(code, PythonLexer(), colours))


@lru_cache(maxsize=512)
def sheet(objects: tuple[Any, ...], references: tuple[str, ...], mode: theme.Mode) -> str:
    """Code and references as one piece of HTML: a page sends it with every answer, so it is made once."""
    parts = []
    for obj in objects:
        obj = inspect.unwrap(obj.fget if isinstance(obj, property) and obj.fget else obj)
        with PARSING:
            lines, line = inspect.getsourcelines(obj)
        path = Path(inspect.getsourcefile(obj) or "").resolve()
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
        name = html.escape(getattr(obj, "__qualname__", ""))
        parts.append(f"<p><code>{shown}:{line}</code> {name}</p>")
        parts.append(highlighted(inspect.cleandoc("".join(lines)), mode))
    items = "".join(f"<li>{link(reference)}</li>" for reference in references)
    listed = f"<ul>{items}</ul>" if items else ""
    return f"<details class='lectern-source'><summary>Source</summary>{''.join(parts)}{listed}</details>"


def link(reference: str) -> str:
    """The reference with its arXiv id as a link."""
    linked = r"<a href='https://arxiv.org/abs/\1' target='_blank'>arXiv:\1</a>"
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", linked, html.escape(reference))
