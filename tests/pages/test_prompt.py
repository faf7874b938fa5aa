"""An answer that may take a second: whole where it is quick, else what there is so far, and a job."""

import pytest
from opening import finish, move, prose, run_page
from streamlit.testing.v1 import AppTest

from lab.ui import prompt


def page() -> None:
    import time

    from lab import ui

    ui.stage("A page", "It computes.")
    top = ui.slider("Count to", 2, 40, 12, key="top")

    def count(top: int):
        for i in range(1, top + 1):
            time.sleep(0.02)
            yield i / top, i

    found = ui.promptly(
        "Count", lambda: count(top), key="prompt", of=top, quick=top < 40, says="…",
        show=lambda n: ui.write(f"at {n}"), soon=[(39, lambda: count(39))],
    )  # fmt: skip
    ui.write(f"found {found}")


def said(app: AppTest) -> str:
    assert not app.exception, app.exception
    return prose(app)


@pytest.fixture(autouse=True)
def forgotten() -> None:
    prompt.shelf.clear()


def test_without_a_server_the_whole_is_waited_for() -> None:
    assert "found 12" in said(run_page(page))


def test_with_one_what_there_is_so_far_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "patience", 0.1)
    app = run_page(page)
    first = next(int(line[3:]) for line in said(app).split("\n") if line.startswith("at "))
    assert first < 12 and "found" not in said(app)  # no frame of the job went by before the first drawing
    assert "found 12" in said(finish(app))
    assert "found 12" in said(run_page(page))  # for the next reader too
    assert "found 2" in said(move(app, "top", 2))  # quick enough


def test_another_question_ends_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "patience", 0.05)
    app = run_page(page, top=30)
    job = app.session_state["_job:prompt"]
    move(app, "top", 20)
    assert job.state == "cancelled" and app.session_state["_job:prompt"].of == 20
    app.button(key="prompt-cancel").click().run()
    assert "at " not in said(app) and app.button(key="prompt")  # it waits for the button now


def test_what_takes_long_begins_as_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "found" not in said(run_page(page, top=40))
    monkeypatch.setattr(prompt, "patience", 0.05)
    app = run_page(page, top=30)  # also after a quick one that has not ended, or has
    assert "found" not in said(move(app, "top", 40)) and app.session_state["_job:prompt"].of == 40
    assert "found" not in said(move(run_page(page, top=2), "top", 40))


def test_what_is_asked_next_is_computed_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[tuple[object, ...]] = []
    monkeypatch.setattr(prompt, "ahead", lambda _, *arguments: named.extend(arguments))
    run_page(page)
    key, of, start = named[0]
    prompt.whole(key, of, start)  # type: ignore[arg-type]
    assert prompt.shelf("prompt", 39) == {"whole": 39}
    prompt.whole(key, of, lambda: pytest.fail("it is known"))  # type: ignore[arg-type]
