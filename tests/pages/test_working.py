"""The longer computation of a page: begun, shown while it goes on, finished, cancelled, forgotten."""

import pytest
from opening import captions, move, prose, run_page
from streamlit.testing.v1 import AppTest

from lab.ui import working
from lab.ui.working import Job


def page() -> None:
    import time

    from lab import ui

    ui.stage("A page", "It computes.")
    top = ui.slider("Count to", 2, 40, 12, key="top")

    def count():
        for i in range(1, top + 1):
            time.sleep(0.05)
            yield i / top, i

    found = ui.job("Count", count, key="count", of=top, show=lambda n: ui.write(f"at {n}"))
    ui.write(f"found {found}")


def said(app: AppTest) -> str:
    assert not app.exception, app.exception
    return prose(app)


def test_a_job_is_begun_shown_and_finished() -> None:
    app = run_page(page)
    assert "found None" in said(app)
    app.button(key="count").click().run()
    assert "at " in said(app) and "found None" in said(app)  # a frame is shorter than the whole
    for _ in range(10):
        app.run()
        if "found 12" in said(app):
            break
    assert "found 12" in said(app) and not [b for b in app.button if b.key == "count"]
    move(app, "top", 13)  # another question: what was found is not its answer
    assert "found None" in said(app) and app.button(key="count")


def test_a_job_can_be_cancelled_and_begun_again() -> None:
    app = run_page(page)
    move(app, "top", 40)
    app.button(key="count").click().run()
    app.button(key="count-cancel").click().run()
    assert "found None" in said(app) and "Cancelled at" in captions(app)
    app.button(key="count").click().run()
    assert "at " in said(app)


def test_frames_are_short_and_failures_end_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(working.time, "monotonic", lambda: now)

    def work():
        nonlocal now
        for i in range(5):
            now += 0.02
            yield i / 5, i
        raise ValueError("no more")

    job = Job("x", work())
    job.advance(0.05)  # ended by the first step after 0.05 s
    assert now == pytest.approx(0.06) and job.state == "running" and job.found == 2
    with pytest.raises(ValueError, match="no more"):
        job.advance(10)
    assert job.state == "cancelled" and job.found == 4


def shared() -> None:
    import time

    from lab import ui

    ui.stage("A page", "It computes.")
    begun = ui.toggle("Begun", False, key="begun")

    def count():
        for i in range(1, 9):
            time.sleep(0.05)
            yield i / 8, i

    for quick in (False, True):
        soon = [(("then", quick), count)]
        of = ("shared", begun, quick)
        found = ui.found("Count", count, key="test", of=of, quick=quick, shared=True, says="…", soon=soon)
        ui.write(f"found {found}")


def test_what_a_shared_job_finds_is_there_for_the_next_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[tuple[object, ...]] = []
    monkeypatch.setattr(working, "ahead", lambda _, *arguments: named.extend(arguments))
    app = run_page(shared)
    assert "found" not in said(app)
    for _ in range(10):
        app.run()
        if "found 8" in said(app):
            break
    assert said(app).count("found 8") == 2 and ("test", ("then", True)) in [call[:2] for call in named]
    assert said(run_page(shared)).count("found 8") == 2  # at once
    assert "found" not in said(run_page(shared, begun="true"))  # another question
