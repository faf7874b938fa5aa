"""Every page on disk, run without a browser: at its start, and after each of its controls was moved."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from opening import TOPICS, failures, page_path, run_page
from rotation import in_turn
from streamlit import config
from streamlit.testing.v1 import AppTest

from lab import runs, ui
from lab.figures import theme
from lab.ui.background import jobs
from lab.ui.browser import wire
from lab.ui.navigation.menu import may_have_control
from lab.ui.scheduling import prefetch
from lab.ui.session.state import Control

config.set_option("client.showErrorDetails", "full")  # a failing test says what failed
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs that a page starts are kept apart, and end with the test; no page moves a global generator."""
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    before = torch.get_rng_state(), str(np.random.get_state())
    yield
    assert torch.equal(torch.get_rng_state(), before[0]) and str(np.random.get_state()) == before[1]
    for run in runs.list_runs():
        runs.stop(run, patience=2)


CHOICES = ("selectbox", "button_group", "radio", "toggle", "checkbox")
TEXTS = ("text_input", "text_area")
NUMBERS = ("slider", "number_input")
OTHERS = (*NUMBERS, *TEXTS, "button")
QUICK = os.environ.get("LEVEL", "quick") == "quick"
OPTIONS = 2  # of a choice, besides the one it stands on
ROUNDS = 200


class Number:
    """A slider or a film of our own, in the shape of Streamlit's."""

    type, step, proto = "slider", None, SimpleNamespace(disabled=False)

    def __init__(self, page: AppTest, key: str, control: Control) -> None:
        self.page, self.key, self.query_param_key = page, key, key
        assert control.limits is not None
        whole = isinstance(control.default, int)
        self.min, self.max = (int(v) if whole else float(v) for v in control.limits)
        self.step = 1 if whole else (self.max - self.min) / 10
        held = page.session_state[f"_held:{key}"]
        self.value = type(self.min)(control.default if held is None else float(held))

    def set_value(self, value: float) -> None:
        self.page.session_state[f"_held:{self.key}"] = str(value)
        self.page.session_state[f"_own:{self.key}"] = True


def registered(page: AppTest) -> dict[str, Control]:
    """The controls that the page itself knows of."""
    return page.session_state["_controls"] if "_controls" in page.session_state else {}  # noqa: SIM401


def controls(page: AppTest) -> dict[str, Any]:
    """All controls that can be moved now, by key; those that may change what else is shown come last."""
    numbers = {key: control for key, control in registered(page).items() if control.kind == "number"}
    results: dict[str, Any] = {key: Number(page, key, control) for key, control in numbers.items()}
    for kind in (*OTHERS, *CHOICES):
        for control in page.get(kind):
            if not control.proto.disabled:
                results[control.key or control.proto.id] = control
    return results


def choices(control: Any) -> list[Any]:
    """What a control that offers a choice can be set to, besides what it is; of long lists the first."""
    if control.type in ("toggle", "checkbox"):
        return [not control.value]
    options = list(control.options)
    if control.type == "button_group":
        options = [option.content for option in control.proto.options]
    return [option for option in options if option != control.value][:OPTIONS]


def move(control: Any, done: set[Any]) -> bool:
    """Give the control a value that is not yet in `done`; False where there is no other."""
    kind = control.type
    if kind in CHOICES:
        fresh = [option for option in choices(control) if option not in done]
        if not fresh:
            return False
        done.update((fresh[0], control.value))
        control.set_value(fresh[0])
        return True
    if done:
        return False
    done.add("moved")
    if kind == "button":
        control.click()
    elif kind in NUMBERS:
        low, high, now, step = control.min, control.max, control.value, control.step or 1
        control.set_value(type(now)(now + step if now + step <= high else max(low, now - step)))
    else:
        control.set_value("or not" if control.value == "To be" else "To be")
    return True


def test_pages_are_found() -> None:
    """What the menu offers is what lies on disk."""
    topics = {p.path for p in ui.pages()}
    assert topics == {page_path(topic) for topic in TOPICS if "/" in topic}
    assert {"home", "teaching", "models", "train"} == {topic for topic in TOPICS if "/" not in topic}
    assert all(p.title and p.idea for p in ui.pages())
    assert len({p.url for p in ui.pages()}) == len(topics)


def papers(page: AppTest) -> set[str]:
    """The colours on which the figures of a page are drawn."""
    sent = [wire.unpack(e.proto.bytes)[0] for e in page.get("bidi_component") if "-figure-" in e.proto.id]
    drawn = [header["figure"]["layout"] for header in sent if "figure" in header]
    return {layout.get("paper_bgcolor") or layout["template"]["layout"]["paper_bgcolor"] for layout in drawn}


@pytest.mark.parametrize("topic", TOPICS)
def test_figures_have_the_colours_of_the_readers_theme(topic: str) -> None:
    assert papers(run_page(topic, theme="dark")) <= {theme.PAPER["dark"]}


def test_papers_are_those_of_the_figures() -> None:
    assert papers(run_page("latent/mixture", theme="light")) == {theme.PAPER["light"]}


def refuses_nonsense(topic: str, page: AppTest) -> None:
    """Every control that lives in the URL refuses nonsense there with a sentence that names it, and stands
    where it stands on a fresh page."""
    before = {key: c.value for key, c in linked(page).items() if c.type not in TEXTS}
    bad = run_page(topic, **{key: "�nonsense" for key in before})
    assert not failures(bad), failures(bad)
    after = {key: c.value for key, c in linked(bad).items()}
    text = " ".join(w.value for w in bad.warning)
    for key, value in before.items():
        assert f"{key}=�nonsense" in text
        assert after[key] == value


def linked(page: AppTest) -> dict[str, Any]:
    """The controls that live in the URL, by their names there."""
    keys = ((getattr(c, "query_param_key", "") or getattr(c.proto, "query_param_key", ""), c)
            for c in controls(page).values())  # fmt: skip
    return {key: control for key, control in keys if key}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_control_moved_once(topic: str) -> None:
    """All that a fresh page shows together; in a room's turn also those that appear only after another was
    moved: numbers and texts move together, then each choice visits two more options. Before that, a bad link
    is opened beside the fresh page."""
    long = not QUICK and in_turn(f"pages/{topic}")
    together, rounds = ((*NUMBERS, *TEXTS), ROUNDS) if long else ((*NUMBERS, *TEXTS, *CHOICES), 1)
    prefetch.calls.clear()
    page = run_page(topic)
    assert not failures(page), failures(page)
    for function, arguments, *_ in prefetch.calls:
        keeps = function is jobs.compute or hasattr(function, "__wrapped__")
        assert keeps, f"{function} keeps nothing"
        inspect.signature(function).bind(*arguments)
    assert not page.warning, f"a fresh page complains: {[w.value for w in page.warning]}"
    refuses_nonsense(topic, page)
    assert not [key for key in registered(page) if not may_have_control(page_path(topic), key)]
    assert not may_have_control(page_path(topic), "nonsense")
    done: dict[str, set[Any]] = {}
    for _ in range(rounds):
        moved: dict[str, Any] = {}  # what a text said before
        for key, control in controls(page).items():
            if moved and control.type not in together:
                break
            before = control.value if control.type in TEXTS else None
            if move(control, done.setdefault(key, set())):
                moved[key] = before
                if control.type not in together:
                    break
        if not moved:
            break
        page.run()
        assert not failures(page), f"after {list(moved)} were moved: {failures(page)}"
        for key, text in moved.items():
            if text is not None and key in controls(page):  # it may be refused, and end the page there
                controls(page)[key].set_value(text)
                page.run()
    else:
        assert not long, f"200 moves, and still there is something to move: {list(controls(page))}"
    assert done or topic == "home"
