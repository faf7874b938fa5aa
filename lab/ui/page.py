"""The frame of a page: header, equation, notice, check, source, and errors as one sentence."""

import html
import inspect
import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st

from lab.errors import UserError
from lab.figures import theme
from lab.ui import state

ROOT = Path(__file__).resolve().parents[2]
log = logging.getLogger("lectern")

CSS = """
<style>
.block-container {max-width: 1200px; padding-top: 4.2rem; padding-bottom: 6rem;}
.katex-display {overflow-x: auto; overflow-y: hidden; padding: .2rem 0;}
.katex-display > .katex {font-size: 1.25em;}
h1 {font-size: 2.4rem !important; padding: 0 0 .4rem 0 !important;}
h5 {padding-bottom: .2rem !important;}
.lectern-idea {font-size: 1.2rem; opacity: .8; margin: -.6rem 0 .6rem 0;}
.st-key-notice {border-left: 4px solid #CC79A7; padding-left: 1rem; gap: 1.1rem;}
[class*="st-key-stepper-"] .stButton p {position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;}
[class*="st-key-stepper-"] .stButton kbd {display: none;}
[class*="st-key-stepper-"] .stSlider {min-width: 220px;}
.modebar {opacity: .55;} .modebar:hover {opacity: 1;}
.stSlider [data-testid="stSliderTickBar"] {display: none;}
@media (max-width: 640px) {.block-container {padding-left: 1rem; padding-right: 1rem;}}
</style>
"""


def header(title: str, idea: str, lenses: Sequence[str] = ()) -> None:
    """Title and the idea in one sentence; the first call of a page.

    Args:
        lenses: names of `lab.lenses` that Home lists the page under, besides those it imports.
    """
    use_theme()
    state.enter(title)
    st.html(CSS)
    st.title(title, anchor=False)
    st.html(f'<p class="lectern-idea">{html.escape(idea)}</p>')


def use_theme() -> None:
    """Draw figures in the reader's light or dark theme."""
    theme.use("dark" if st.context.theme.type == "dark" else "light")


def stop(sentence: str) -> NoReturn:
    """Show one clear sentence that says what to change, and end the page here."""
    st.warning(sentence, icon=":material/info:")
    st.stop()


@contextmanager
def guard() -> Iterator[None]:
    """Whatever fails inside is one sentence on the page; the details go to the terminal."""
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


def equation(latex: str, note: str = "") -> None:
    """An equation with live numbers, and where each number comes from."""
    st.latex(latex)
    if note:
        st.caption(note)


def notice(sentences: str) -> None:
    """What to notice: two or three sentences."""
    with st.container(key="notice"):
        st.markdown("##### What to notice")
        st.markdown(sentences)


def check(question: str, options: Sequence[Any], answer: Any, why: str = "") -> None:
    """Predict, then reveal. `answer` is one of `options`, computed from the live state."""
    options = [str(option) for option in options]
    if str(answer) not in options:
        raise ValueError(f"the answer {answer!r} is none of the options {options}")
    key = f"check-{zlib.crc32(repr((question, options, answer)).encode())}"
    with st.container(border=True):
        st.markdown("##### Check")
        guess = st.radio(question, options, index=None, key=key)
        if st.button("Reveal", key=f"{key}-reveal", disabled=guess is None):
            if guess == str(answer):
                st.success(f"Yes: {answer}. {why}", icon=":material/check:")
            else:
                st.info(f"No: it is {answer}. {why}", icon=":material/close:")


def source(*objects: Any, references: Sequence[str] = ()) -> None:
    """The very code that ran, read from its file, and the references."""
    with st.expander("Source"):
        for obj in objects:
            obj = inspect.unwrap(obj.fget if isinstance(obj, property) and obj.fget else obj)
            code, line = inspect.getsource(obj), inspect.getsourcelines(obj)[1]
            path = Path(inspect.getsourcefile(obj) or "").resolve()
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
            st.caption(f"`{shown}:{line}` {getattr(obj, '__qualname__', '')}")
            st.code(inspect.cleandoc(code), language="python")
        for reference in references:
            st.markdown(f"- {link(reference)}")


def link(reference: str) -> str:
    """The reference with its arXiv id as a link."""
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", reference)
