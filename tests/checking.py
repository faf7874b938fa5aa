"""The checks of a page: what each asks and answers, and what of the page can be read while it asks. The
symbols of its equations."""

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from lab import glossary, ui
from lab.ui.browser import wire
from lab.ui.page import symbols

PARTS = {"picture": "picture", "equation": "foot", "numbers": "numbers"}  # what a veil's name covers, by key
ALWAYS = ("scenes", "below")  # are veiled by every check


@dataclass(frozen=True)
class Check:
    """What a page gives to `ui.check`; `wrong` by option."""

    question: str
    options: list[str]
    answer: str
    why: str
    wrong: dict[str, str]
    veils: tuple[str, ...]


@contextmanager
def watched() -> Iterator[list[Check]]:
    """The checks that pages draw from now on, the newest last."""
    checks: list[Check] = []
    true, signature = ui.check, inspect.signature(ui.check)

    def watch(*args: Any, **named: Any) -> None:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        given = bound.arguments
        options, wrong = [str(option) for option in given["options"]], given["wrong"]
        pairs = wrong.items() if isinstance(wrong, Mapping) else zip(options, wrong, strict=True)
        reasons = {str(option): reason for option, reason in pairs}
        answer, veils = str(given["answer"]), tuple(given["veils"])
        checks.append(Check(given["question"], options, answer, given["why"], reasons, veils))
        true(*args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ui, "check", watch)
        yield checks


@contextmanager
def spelled() -> Iterator[set[str]]:
    """The symbols without words in the equations that pages of a family with a glossary draw from now on."""
    strange, true = set[str](), symbols.words

    def watch(latex: str) -> Mapping[str, str]:
        family, own = st.session_state["_notation"]
        if family in glossary.FAMILIES:
            strange.update(glossary.found(glossary.shortened(latex), family, tuple(own.items()))[1])
        return true(latex)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symbols, "words", watch)
        yield strange


def faults(check: Check) -> list[str]:
    """What is wrong with what a check says of its options; none where all is well."""
    results = []
    if len(set(check.options)) < len(check.options):
        results.append(f"an option stands twice in {check.options}")
    wrong = [option for option in check.options if option != check.answer]
    texts = {option: check.wrong.get(option, "") for option in wrong}
    for option, reason in texts.items():
        rest = reason.replace(check.answer, "") if len(check.answer) > 3 else reason
        if not re.fullmatch(r"[^\s].*[^\s]\.", reason) or len(re.findall(r"\w+", rest)) < 4:
            results.append(f"{option!r} is wrong, and {reason!r} does not say why")
        if reason == check.why or "  " in reason:
            results.append(f"of {option!r} is said {reason!r}")
    if len(set(texts.values())) < len(texts):
        results.append(f"two options have one reason: {texts}")
    return results


def giveaways(page: AppTest, check: Check) -> list[str]:
    """Texts that stand open while the check asks, and have its answer, or a number that decides it."""
    covered = {PARTS.get(name, name) for name in check.veils}
    numbers = re.findall(r"\d+\.\d+", check.why)
    results = []
    for keys, text in readable(page):
        if covered & keys or any(f"figure-{name}" in keys for name in covered):
            continue
        bare = re.sub(r"[{,}]", "", text)  # LaTeX writes 64{,}512
        decides = any(re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", bare) for number in numbers)
        if decides or [option for option in check.options if names(text, option)] == [check.answer]:
            results.append(text)
    return results


def names(text: str, option: str) -> bool:
    """Whether a text has these words; small whole numbers are everywhere, and "yes" says nothing alone."""
    if option in ("yes", "no") or re.fullmatch(r"\d{1,2}", option):
        return False
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text, re.IGNORECASE) is not None


def readable(page: AppTest) -> Iterator[tuple[set[str], str]]:
    """The texts, tables, numbers and films outside of what every check veils: the keys of the containers that
    they stand in, and what is read."""

    def walk(node: Any, keys: set[str]) -> Iterator[tuple[set[str], str]]:
        key = getattr(getattr(node, "proto", None), "id", "") or ""
        name = key.split("-", 6)[-1] if key.startswith("$$ID-") else key
        keys = keys | {name} if isinstance(name, str) and name else keys
        if keys & set(ALWAYS):
            return
        if "numbers" in keys:  # a row of them is read as one
            yield keys, "; ".join(filter(None, map(shown, node.children.values())))
        elif hasattr(node, "children"):
            for child in node.children.values():
                yield from walk(child, keys)
        elif (text := shown(node)) is not None:
            yield keys, text

    yield from walk(page._tree[0], set())


def shown(node: Any) -> str | None:
    """What is read of an element; None of a control, a figure, or a style."""
    if node.type in ("markdown", "caption", "latex"):
        return node.value
    if node.type == "metric":
        return f"{node.label}: {node.value}"
    if node.type in ("dataframe", "arrow_data_frame", "table"):
        return node.value.to_csv(index=False)
    if node.type == "bidi_component" and node.proto.bytes:
        header = wire.unpack(node.proto.bytes)[0]
        at = header.get("at", 0)
        lines = [header[name][at] for name in ("captions", "equations") if at < len(header.get(name) or [])]
        return " ".join(re.sub(r"<[^>]*>", "", line) for line in lines) or None
    return None
