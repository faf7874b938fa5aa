"""The longer computation of a page: begun, shown while it goes on, finished, cancelled, forgotten."""

import re
from pathlib import Path

import pytest
from opening import captions, finish, move, prose, run_page
from streamlit.testing.v1 import AppTest

from lab.ui.background import jobs
from lab.ui.background.jobs import Job
from lab.ui.models import loading


def page() -> None:
    import time

    from lab import ui

    ui.stage("A page", "It computes.")
    top = ui.slider("Count to", 2, 40, 12, key="top")

    def count():
        for i in range(1, top + 1):
            time.sleep(0.05)
            yield i / top, i

    result = ui.job("Count", count, key="count", of=top, show=lambda n: ui.write(f"at {n}"))
    ui.write(f"found {result}")


def text_of(app: AppTest) -> str:
    assert not app.exception, app.exception
    return prose(app)


def test_a_job_is_begun_shown_and_finished() -> None:
    app = run_page(page)
    assert "found None" in text_of(app)
    app.button(key="count").click().run()
    assert "at " in text_of(app) and "found None" in text_of(app)  # a frame is shorter than the whole
    for _ in range(10):
        app.run()
        if "found 12" in text_of(app):
            break
    assert "found 12" in text_of(app) and not [b for b in app.button if b.key == "count"]
    move(app, "top", 13)  # another question: what was found is not its answer
    assert "found None" in text_of(app) and app.button(key="count")


def test_a_job_can_be_cancelled_and_begun_again() -> None:
    app = run_page(page)
    move(app, "top", 40)
    app.button(key="count").click().run()
    app.button(key="count-cancel").click().run()
    assert "found None" in text_of(app) and "Cancelled at" in captions(app)
    assert re.search(r"^at \d+", text_of(app), re.M)  # what it has found so far stays
    app.button(key="count").click().run()
    assert "at " in text_of(app)


def test_frames_are_short_and_failures_end_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(jobs.time, "monotonic", lambda: now)

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


def asking() -> None:
    import time

    from lab import ui

    ui.stage("A page", "It computes.")
    top = ui.slider("Count to", 2, 40, 12, key="top")

    def count(top: int):
        for i in range(1, top + 1):
            time.sleep(0.02)
            yield i / top, i

    result = ui.result(
        "Count", lambda: count(top), key="asked", of=top, quick=top < 40, says="…",
        show=lambda n: ui.write(f"at {n}"), soon=[(39, lambda: count(39))],
    )  # fmt: skip
    ui.write(f"found {result}")


@pytest.fixture
def forgotten() -> None:
    jobs.place.clear()


def test_without_a_server_the_whole_is_waited_for(forgotten: None) -> None:
    assert "found 12" in text_of(run_page(asking))


def test_with_one_what_there_is_so_far_is_shown(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    advance, worked = Job.advance, list[float]()
    monkeypatch.setattr(jobs, "patience", 0.1)
    monkeypatch.setattr(Job, "advance", lambda job, seconds: [worked.append(seconds), advance(job, seconds)])
    app = run_page(asking)
    assert "at " in text_of(app) and "found" not in text_of(app)
    assert worked == [0.1]  # no frame of the job went by before the first drawing
    assert "found 12" in text_of(finish(app))
    assert "found 12" in text_of(run_page(asking))  # for the next reader too
    assert "found 2" in text_of(move(app, "top", 2))  # quick enough


def test_another_question_ends_the_job(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "patience", 0.05)
    app = run_page(asking, top=30)
    job = app.session_state["_job:asked"]
    move(app, "top", 20)
    assert job.state == "cancelled" and app.session_state["_job:asked"].of == 20
    app.button(key="asked-cancel").click().run()
    before = text_of(app)
    assert text_of(app.run()) == before and app.button(key="asked")  # it waits for the button now


def test_what_takes_long_begins_as_a_job(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "found" not in text_of(run_page(asking, top=40))
    monkeypatch.setattr(jobs, "patience", 0.05)
    app = run_page(asking, top=30)  # also after a quick one that has not ended, or has
    assert "found" not in text_of(move(app, "top", 40)) and app.session_state["_job:asked"].of == 40
    app = move(run_page(asking, top=2), "top", 40)
    assert "found" not in text_of(app) and "found 40" in text_of(finish(app))
    assert "found 40" in text_of(run_page(asking, top=40))  # there at once for the next reader


def test_what_is_asked_next_is_computed_ahead(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[tuple[object, ...]] = []
    monkeypatch.setattr(jobs, "prefetch", lambda _, *arguments: named.extend(arguments))
    run_page(asking)
    key, of, start = named[0]
    jobs.compute(key, of, start)  # type: ignore[arg-type]
    assert jobs.place("asked", 39).whole == 39
    jobs.compute(key, of, lambda: pytest.fail("it is known"))  # type: ignore[arg-type]


def test_what_fails_is_said_each_time(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> None:
        from lab import ui

        ui.stage("A page", "It fails.")
        ui.slider("Other", 1, 9, 1, key="other")

        def work():
            yield 0.5, 1
            raise ValueError("The points lie on a line: add one.")

        ui.result("Go", work, key="fails", of=1, quick=True, says="…")

    app = run_page(failing)
    for other in (2, 3):
        assert "The points lie on a line" in "".join(e.value for e in [*app.error, *app.warning, *app.info])
        move(app, "other", other)


def test_weights_that_are_written_anew_are_read_anew(
    forgotten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the work reads them when it is begun or while it goes on."""
    now = {Path("one"): "a", Path("two"): "a"}
    monkeypatch.setattr(loading, "weights_digest", lambda place: now[place])
    begun: list[int] = []

    def start() -> jobs.Work:
        loading.record_dependency({Path("one"): now[Path("one")]})

        def work() -> jobs.Work:
            loading.record_dependency({Path("two"): now[Path("two")]})
            begun.append(1)
            yield 1.0, "whole"

        return work()

    for changed in ("one", "two"):
        jobs.compute("read", 1, start)
        jobs.compute("read", 1, start)
        known = len(begun)
        now[Path(changed)] = "b"
        jobs.compute("read", 1, start)
        assert len(begun) == known + 1
