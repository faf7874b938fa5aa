"""Lectures: their files are read or refused in one sentence, and every scene of each opens."""

import hashlib
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opening import failures, finish, go, open_page, page_path, run_page, scenes
from streamlit.testing.v1 import AppTest

from lab import commands, handout, lecture
from lab.__main__ import main
from lab.errors import UserError
from lab.ui.browser import wire
from lab.ui.navigation.menu import pages

GOOD = "title: T\nscenes:\n  - {page: language-truncation, scene: Hot, says: Look., minutes: 2}\n"
TOPICS = {page.url: f"{page.family}/{page.topic}" for page in pages()}


@pytest.mark.parametrize("name", lecture.names())
def test_a_lecture_is_whole(name: str) -> None:
    """45 minutes, on pages that there are, and with something to say at each."""
    read = lecture.read(name)
    assert read.minutes == 45 and 10 <= len(read.entries) <= 24
    assert all(entry.page in TOPICS and len(entry.says) > 40 for entry in read.entries)


def dashboard() -> None:
    """The page of the file that the test names, as the dashboard runs it."""
    from pathlib import Path

    import streamlit as st

    from lab.ui.navigation.menu import script

    script(Path(st.session_state["file"]))()


def visit(session: AppTest, name: str, at: int) -> dict[str, Any]:
    """Go to an entry of a lecture in this session, and what it shows once it has settled."""
    entry = lecture.read(name).entries[at]
    session.session_state["file"] = str(page_path(TOPICS[entry.page]))
    go(session, lecture=name, at=at + 1)
    finish(session)
    assert not failures(session) and not session.warning, (name, at + 1, failures(session), session.warning)
    return shown(session)


def shown(session: AppTest) -> dict[str, Any]:
    """The state of a page as a value: link, controls, the scene and its line, and what its figures and films
    say."""
    drawn = session.session_state["_controls"]
    state = session.session_state
    parts: dict[str, Any] = {}
    for element in session.get("bidi_component"):
        name = element.proto.component_name
        if name == "lectern_stage":
            stage = json.loads(element.proto.json)
            parts[name] = {"active": stage["active"], "at": stage["lecture"]["at"]}
        elif element.proto.bytes:
            header, arrays = wire.unpack(element.proto.bytes)
            for own in ("stamp", "seq", "reel", "since"):  # of this session
                header.pop(own, None)
            sums = {path: hashlib.sha1(array.tobytes()).hexdigest() for path, array in arrays.items()}
            parts[element.proto.id.rpartition("lectern_")[2]] = header, sums
    return {
        "link": dict(session.query_params),
        "controls": {key: state[key] if key in state else state[f"_held:{key}"]
                     for key, control in drawn.items() if control.kind != "widget" or key in state},
        **parts,
    }  # fmt: skip


def test_every_family_of_six_pages_or_more_has_a_lecture() -> None:
    """One most of whose scenes stand on its pages."""
    size = Counter(page.family for page in pages())
    lectured = set()
    for name in lecture.names():
        entries = lecture.read(name).entries
        ((family, count),) = Counter(entry.page.split("-")[0] for entry in entries).most_common(1)
        if count > len(entries) / 2:
            lectured.add(family)
    assert {family for family, count in size.items() if count >= 6} <= lectured


@pytest.mark.parametrize("name", lecture.names())
def test_every_scene_of_a_lecture_shows_the_same_whoever_leads_there(name: str) -> None:
    """Opened by its link, and in one session from the entry before and from the one after: the state is one
    value."""
    entries = lecture.read(name).entries
    opened: list[dict[str, Any]] = []
    for at, entry in enumerate(entries):
        session = AppTest.from_function(dashboard, default_timeout=180)
        opened.append(visit(session, name, at))
        known = scenes(session)
        assert entry.scene is None or entry.scene in known, f"{entry.page} has no scene {entry.scene!r}"
        assert not set(entry.state) - set(session.session_state["_controls"])
        assert opened[at]["lectern_stage"]["active"] is not None or entry.state
    session = AppTest.from_function(dashboard, default_timeout=180)
    last = len(entries) - 1
    for at in (*range(last + 1), *range(last - 1, -1, -1)):
        assert visit(session, name, at) == opened[at], (name, at + 1)


def test_a_link_from_a_lecture_sets_what_it_names_and_what_is_moved_after_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.yaml").write_text(
        GOOD + "  - {page: language-truncation, state: {k: 5}, says: And now., minutes: 1}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(lecture, "LECTURES", tmp_path)
    assert lecture.names() == ["own"] and lecture.read("own").minutes == 3
    page = open_page("language/truncation", lecture="own", at=1)
    assert float(page.session_state["_held:t"]) == 2
    go(page, lecture="own", at=2)
    assert page.session_state["_held:t"] is None and page.session_state["_held:k"] == "5"
    page.session_state["_held:k"] = "7"
    page.run()
    assert page.session_state["_held:k"] == "7"  # the reader has moved it
    moved = run_page("language/truncation", lecture="own", at=1, k=4)
    assert moved.session_state["_held:k"] == "4" and moved.session_state["_held:t"] is None
    for wrong in ({"lecture": "own", "at": "3"}, {"lecture": "own"}, {"lecture": "none", "at": "1"}):
        bad = run_page("language/truncation", **wrong)
        assert not failures(bad) and len(bad.warning) == 1


def test_the_next_scene_may_set_the_same_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one page after the other, by the clicker: the link of the next scene names no control."""
    entry = "  - {page: language-truncation, state: {k: %d}, says: Look., minutes: 1}\n"
    (tmp_path / "own.yaml").write_text(f"title: T\nscenes:\n{entry % 5}{entry % 7}", encoding="utf-8")
    monkeypatch.setattr(lecture, "LECTURES", tmp_path)
    page = open_page("language/truncation", lecture="own", at=1)
    assert page.query_params["k"] == "5"
    for link in ({"lecture": "own", "at": "2"}, {"scene": "4"}, {"scene": "3"}, {"scene": "4"}):
        go(page, **link)
        wanted = {"k": 7} if "at" in link else list(scenes(page).values())[int(link["scene"]) - 1].values
        assert {key: float(page.query_params[key]) for key in wanted} == wanted


def test_a_scene_that_the_page_no_longer_has_is_said_as_long_as_the_link_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.yaml").write_text(
        GOOD.replace("scene: Hot", "scene: Boiling, state: {k: 5}"), encoding="utf-8"
    )
    monkeypatch.setattr(lecture, "LECTURES", tmp_path)
    page = run_page("language/truncation", lecture="own", at=1)
    for _ in range(2):
        assert not failures(page) and page.session_state["_held:k"] == "5"
        (warning,) = page.warning
        assert "Scene 1 of the lecture own" in warning.value and "'Boiling'" in warning.value
        assert "Hot" in warning.value  # what it has
        page.run()


def test_a_page_that_is_gone_is_said_when_the_lecture_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "own.yaml").write_text(
        GOOD + "  - {page: language-slide-rules, says: Gone., minutes: 1}\n", encoding="utf-8"
    )
    monkeypatch.setattr(lecture, "LECTURES", tmp_path)
    opened = []
    monkeypatch.setattr(commands, "app", lambda args, page: opened.append(page))
    assert main(["lecture", "own"]) == 0
    assert opened == ["language-truncation?lecture=own&at=1"]
    assert capsys.readouterr().err == "lab: own, scene 2: there is no page 'language-slide-rules' now.\n"


@pytest.mark.heavy
@pytest.mark.browser
def test_a_lecture_becomes_a_pdf_of_a_page_a_scene(
    chromium: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes that are too long for their page go on over the next: nothing is cut."""
    language = lecture.read("language")
    long = replace(language.entries[1], says="A line of notes.\n" * 12)
    short = replace(language, entries=(language.entries[0], long, language.entries[2]))
    monkeypatch.setattr(lecture, "read", lambda name: short)
    with ThreadPoolExecutor(1) as own:  # other tests of this process may hold a browser of their own
        assert own.submit(handout.export, "language", tmp_path / "out.pdf").result() == 3
    written = (tmp_path / "out.pdf").read_bytes()
    assert written.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", written)) == 4
    assert len(re.findall(rb"/Subtype\s*/Image\b", written)) >= 3
    with pytest.raises(UserError, match="no file that can be made"):
        handout.export("language", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "title and a list"),
        ("scenes: []", "title and a list"),
        ("scenes: [x]", "scene 1: write page"),
        ("a: [", "no YAML"),
        (GOOD.replace("minutes: 2", "minutes: 0"), "scene 1: minutes"),
        (GOOD.replace("minutes: 2", "minutes: .inf"), "scene 1: minutes"),
        (GOOD.replace("minutes: 2", "minutes: 2, colour: red"), "colour is none of"),
        (GOOD.replace("says: Look., ", ""), "page and says"),
        (GOOD.replace("says: Look.", "says: Look., state: 3"), "state names controls"),
    ],
)
def test_a_wrong_file_gets_one_sentence(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lecture, "LECTURES", tmp_path)
    with pytest.raises(UserError, match=words) as error:
        lecture.read("own")
    assert "own.yaml" in str(error.value)


def test_the_command_lists_and_refuses(capsys: Any) -> None:
    assert main(["lecture"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(lecture.names()) and all("45 minutes" in line for line in printed)
    assert main(["lecture", "nonsense"]) == 2
    assert "There is no lecture 'nonsense'" in capsys.readouterr().err
