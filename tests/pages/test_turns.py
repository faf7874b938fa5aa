"""Turns of longer computations: one works, those that have worked least come first, and it gives way."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

from lab.ui.background.jobs import Job, queue_message
from lab.ui.scheduling import prefetch, turns
from lab.ui.scheduling.turns import Line, Ticket
from lab.ui.session import access

# what fails in a thread fails its test
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
local = threading.local()  # whose page a thread runs


@pytest.fixture(autouse=True)
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread here is a session of its own, named by `local.who`; `local.closed` once its tab is."""

    def stop() -> None:
        if getattr(local, "closed", lambda: False)():
            raise StopException

    monkeypatch.setattr(access, "session_id", lambda: local.who)
    monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: SimpleNamespace(yield_check=stop))


def of(who: str, do: Callable[[], None], closed: Callable[[], bool] = lambda: False) -> threading.Thread:
    def run() -> None:
        local.who, local.closed = who, closed
        do()

    thread = threading.Thread(target=run, name=f"{prefetch.RUNS}.{who}")
    thread.start()
    return thread


def until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.001)


class Work:
    """Something that takes turns."""


def crowd(line: Line, count: int, rounds: int) -> tuple[list[int], int]:
    """So many sessions take turns: whose each was, and the most that worked at once."""
    log, working, most = list[int](), [], list[int]()
    gate = threading.Event()

    def take(number: int) -> None:
        work = Work()
        for _ in range(rounds):
            while True:
                with line.turn(work, patience=0.05) as others:
                    if others:
                        assert "waits for" in queue_message(others)
                        continue
                    working.append(number)
                    most.append(len(working))
                    gate.wait()
                    log.append(number)
                    working.remove(number)
                    break

    threads = [of(str(number), lambda number=number: take(number)) for number in range(count)]
    until(lambda: len(line.tickets) == count - 1)
    gate.set()
    for thread in threads:
        thread.join()
    return log, max(most)


def test_one_of_twenty_works_at_a_time_and_all_get_their_turns() -> None:
    line = Line()
    log, most = crowd(line, 20, 5)
    assert most == 1 and sorted(log) == sorted([*range(20)] * 5)
    assert not line.tickets and line.work is None and not line.here


def test_who_came_first_goes_first_unless_lost() -> None:
    line, now = Line(), time.monotonic()
    line.tickets = {str(n): Ticket(n, Work(), asked_at=now) for n in (2, 0, 1)}
    line.tickets["gone"] = Ticket(3, Work(), asked_at=now - 2 * turns.LOST)
    assert [ticket.number for ticket in line.line()] == [0, 1, 2] and "gone" not in line.tickets


def test_who_has_worked_least_comes_first() -> None:
    line, order = Line(), list[str]()
    old, young = [Work() for _ in range(3)], Work()
    for work in old:
        line.spent[work] = turns.YOUNG
    free = threading.Event()

    def hold() -> None:
        with line.turn(old[0]):
            free.wait()
            assert line.rest() == -float("inf")  # its turn is over: a younger one waits

    def take(name: str, work: Work) -> None:
        with line.turn(work, patience=60) as others:
            assert not others
            order.append(name)

    threads = [of("holds", hold)]
    until(lambda: line.work is old[0])
    for place, (name, work) in enumerate((("first", old[1]), ("second", old[2]), ("young", young)), 1):
        threads.append(of(name, lambda name=name, work=work: take(name, work)))
        until(lambda place=place: len(line.tickets) == place)
    free.set()
    for thread in threads:
        thread.join()
    assert order == ["young", "first", "second"]


def test_a_step_ends_the_turn_of_a_closed_tab_and_nobody_waits_for_it() -> None:
    """The work stops at its next step; who stood in line is gone, too."""
    line, steps, closed = Line(), list[int](), threading.Event()

    def endless():
        while True:
            steps.append(1)
            yield 0.5, len(steps)

    job = Job(1, endless())

    def work() -> None:
        with pytest.raises(StopException), line.turn(job):
            while True:
                job.step()
                if len(steps) == 3:
                    closed.set()
                line.rest()

    def wait() -> None:
        with pytest.raises(StopException), line.turn(Work(), patience=60):
            pass

    threads = [of("works", work, closed.is_set), of("waits", wait, closed.is_set)]
    for thread in threads:
        thread.join()
    assert len(steps) == 3 and line.work is None and not line.tickets
    assert job.state == "running"  # a page that only asks for something else goes on with it


def test_it_rests_while_an_answer_is_under_way_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    line, answered = Line(), threading.Event()
    monkeypatch.setattr(turns, "REST", 60.0)
    rested = list[float]()

    def work() -> None:
        with line.turn(Work()):
            rested.append(line.rest())

    answer = of("asks", answered.wait)
    worker = of("works", work)
    until(lambda: line.work is not None or bool(rested))
    time.sleep(5 * turns.LOOK)
    early = list(rested)
    answered.set()
    assert not early  # it stood still
    for thread in (answer, worker):
        thread.join()
    assert rested and rested[0] > 0
    monkeypatch.setattr(turns, "REST", 0.0)
    answered.clear()
    answer = of("asks", answered.wait)
    of("works", work).join()  # it has given way enough
    answered.set()
    answer.join()
    assert len(rested) == 2


def test_who_waits_for_nobody_does_not_rest() -> None:
    assert Line().rest() == 0.0
