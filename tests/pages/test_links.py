"""Links that anybody may write: strange values of every control get a sentence, never an error."""

import ast
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from opening import TOPICS, captions, failures, metrics, page_path, prose, run_page, warnings
from test_kit import clicks_page, controls_page, drawing_page, result, warnings_of

from lab.ui.controls import drawing, widgets
from lab.ui.figures import plots

pytestmark = pytest.mark.fuzz
LINKS = {50: 20, 100: 50, 10_000: 2000}[settings().max_examples]  # each draws a page

STRANGE = [
    "", " ", "1e400", "-1e400", "nan", "inf", "-inf", str(10**20), str(-(10**20)), "1e308",
    "-0", "0x10", "1_0",
    "٣", "½", "½,½", "1e400,1", "1,1e400", "nan,nan", "-1,-1", "1.5,2.5", f"{10**20},0", "1,", ",1",
    ",", "1,2,3",
    "a,b", "None", "null", "true", "True", "[]", "[1]", "{}", "🎓", "🎓,🎓", "\x00", "\ud7ff", "\u202e",
    "a\nb",
    "<script>alert(1)</script>", "../../etc/passwd", "made-digits/..", "%00", "ink.", "ink.AAAA", "__class__",
    "x" * 5000, "9" * 5000, "--config=x", "'", '"', "\\", "$x$",
]  # fmt: skip
NUMBERS = st.one_of(st.integers(), st.floats(), st.integers(-2, 40)).map(str)
VALUES = st.one_of(
    st.sampled_from(STRANGE),
    NUMBERS,
    st.tuples(NUMBERS, NUMBERS).map(",".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
)


# --- Every control of the kit ---------------------------------------------------------------------

TEXTS = {"text"}
KIT = {controls_page: ["t", "n", "seed", "layer", "wide", "causal", "text"], clicks_page: ["cell"],
       drawing_page: ["digit"]}  # fmt: skip


@st.composite
def kit_links(draw: Any) -> tuple[Any, dict[str, str]]:
    page = draw(st.sampled_from(list(KIT)))
    return page, draw(st.dictionaries(st.sampled_from(KIT[page]), VALUES, min_size=1, max_size=3))


@given(link=kit_links())
@settings(max_examples=LINKS)
def test_a_control_takes_what_the_link_says_or_says_why_not(link: tuple[Any, dict[str, str]]) -> None:
    page, parameters = link
    shown = run_page(page, **parameters)
    sentences = warnings_of(shown)
    assert all(len(s) < 300 for s in sentences)
    if page is controls_page:
        for key, raw in parameters.items():
            value = result(shown)[key]
            taken = str(value).lower() == raw.lower() if key != "text" else value == raw
            taken |= isinstance(value, int | float) and widgets.parse(raw) == value
            assert taken or any(key in s for s in sentences), (key, raw, value)
    elif page is clicks_page:
        point = result(shown)[1]
        assert point is not None or sentences
    elif page is drawing_page:
        picture = result(shown)
        assert picture.shape == (5, 5) and bool(((picture >= 0) & (picture <= 1)).all())
        assert sentences or parameters["digit"].startswith("ink.") or parameters["digit"] in ("blank", "full")


@given(raw=VALUES)
def test_what_a_link_spells_is_a_finite_number_a_name_or_nothing(raw: str) -> None:
    point = plots.parse_point(raw)
    assert point is None or all(isinstance(v, str) or math.isfinite(v) for v in (point["x"], point["y"]))
    number = widgets.parse(raw)
    assert number is None or math.isfinite(number)
    for size in (1, 5, 28):
        drawn = drawing.read(f"ink.{raw}", {}, size)
        assert drawn is None or (drawn.shape == (size, size) and drawn.dtype == torch.uint8)


# --- Whole pages ----------------------------------------------------------------------------------


def words(topic: str) -> tuple[list[str], list[str]]:
    """Keys of a page's controls, and its short texts, among them what its controls offer."""
    tree = ast.parse(page_path(topic).read_text(encoding="utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    keys = [
        k.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for k in node.keywords
        if k.arg == "key" and isinstance(k.value, ast.Constant)
    ]
    keys += ["model", "trained", "prompt", "step", "unknown"]
    return sorted(set(keys)), sorted({t for t in texts if 0 < len(t) <= 24})


WORDS = {topic: words(topic) for topic in TOPICS}
# as Python writes it
NO_NUMBER = re.compile(r"(?<![A-Za-z_./-])(nan|NaN|-?inf|Infinity|None)(?![A-Za-z_.-])")


@st.composite
def page_links(draw: Any) -> tuple[str, dict[str, Any]]:
    topic = draw(st.sampled_from(TOPICS))
    keys, texts = WORDS[topic]
    values = st.one_of(VALUES, st.sampled_from(texts), st.lists(VALUES, min_size=2, max_size=2))
    return topic, draw(st.dictionaries(st.sampled_from(keys), values, min_size=1, max_size=4))


@given(link=page_links())
@settings(max_examples=LINKS)
def test_no_link_breaks_a_page(link: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """100 links over all pages at LEVEL=all, 2,000 by `make soak`, each of up to four values."""
    topic, parameters = link
    page = run_page(topic, **parameters)
    assert not failures(page), failures(page)
    assert page.title or any("lectern-head" in h.proto.body for h in page.get("html")), "the page is blank"
    shown = "\n".join([captions(page), prose(page), *map(" ".join, metrics(page).items())])
    typed = NO_NUMBER.search(str(parameters))  # and may be repeated
    assert typed or not NO_NUMBER.search(shown), shown


@pytest.mark.parametrize(
    ("topic", "parameters"),
    [("autoregressive/blind_spot", {"pixel": "1e400,1"}), ("autoregressive/blind_spot", {"pixel": "a,b"}),
     ("autoregressive/blind_spot", {"pixel": "-3,2"}), ("transformer/attention", {"token": "1e400,-7"})],
)  # fmt: skip
def test_a_point_outside_of_the_picture_gets_a_sentence(topic: str, parameters: dict[str, str]) -> None:
    (key,) = parameters
    page = run_page(topic, **parameters)
    assert not failures(page), failures(page)
    assert f"{key}={parameters[key]}" in warnings(page)
    assert key not in page.query_params
