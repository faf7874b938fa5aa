"""What is computed while nobody asks."""

import inspect
import threading
import time
from collections import deque
from collections.abc import Iterator
from unittest.mock import Mock

import pytest

from lab import ui
from lab.ui.scheduling import prefetch


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    prefetch.calls.clear()
    yield
    prefetch.calls.clear()


def until(happens: object, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not happens() and time.monotonic() < end:  # type: ignore[operator]
        time.sleep(0.01)
    return bool(happens())  # type: ignore[operator]


def test_named_calls_are_made_the_latest_first_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[tuple[str, int]] = []

    @ui.cached
    def square(name: str, n: int) -> int:
        results.append((name, n))
        if n == 3:
            raise ValueError("three is refused")
        return n * n

    # its thread stays after the test, but what other tests name never reaches it
    monkeypatch.setattr(prefetch, "named", threading.Semaphore(0))
    monkeypatch.setattr(prefetch, "calls", deque(maxlen=prefetch.KEPT))
    monkeypatch.setattr(prefetch, "NAME", "idle in a test")
    ui.prefetch(square, ("old", 1), ("old", 2))
    ui.prefetch(square, ("new", 3), ("new", 4))
    assert not results  # nothing works here yet
    runs = threading.Event()
    page = threading.Thread(target=runs.wait, name="ScriptRunner.scriptThread")
    page.start()  # a page runs
    prefetch.start()
    time.sleep(3 * prefetch.QUIET)
    assert not results
    runs.set()
    page.join()
    assert until(lambda: len(results) == 4)
    assert results == [("new", 3), ("new", 4), ("old", 1), ("old", 2)]
    assert square("new", 4) == 16 and len(results) == 4  # a reader finds it done
    with pytest.raises(ValueError, match="three"):
        square("new", 3)  # and gets the sentence of what fails
    ui.prefetch(square, ("later", 5))
    assert until(lambda: ("later", 5) in results)


def test_few_calls_wait() -> None:
    function = ui.cached(lambda n: n)
    for n in range(3 * prefetch.KEPT):
        ui.prefetch(function, (n,))
    assert [n for _, (n,), _ in prefetch.calls] == [*range(3 * prefetch.KEPT)][: -prefetch.KEPT - 1 : -1]


def test_nothing_is_computed_for_a_tab_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    monkeypatch.setattr(prefetch.runtime, "exists", lambda: True)
    monkeypatch.setattr(
        prefetch.runtime, "get_instance", lambda: Mock(is_active_session=lambda s: s == "open")
    )
    for session in ("open", "closed", ""):
        prefetch.call_in_advance(names.append, (session,), session)
    assert names == ["open", ""]


def test_the_thread_of_a_page_is_named_so() -> None:
    from streamlit.runtime.scriptrunner import script_runner

    assert f'name="{prefetch.RUNS}.' in inspect.getsource(script_runner)


def test_what_a_slider_comes_to_next() -> None:
    assert ui.near(0.3, 0.1, 0.9, 0.1) == [0.4, 0.2] and ui.near(0.9, 0.1, 0.9, 0.1) == [0.8]
    assert ui.near(2, 2, 4, 1) == [3] and all(isinstance(v, int) for v in ui.near(3, 2, 4, 1))


@pytest.mark.parametrize(("setting", "threads"), [("0", 0), ("1", 1), (None, 1)])
def test_a_setting_turns_it_off(setting: str | None, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread))
    if setting is None:
        monkeypatch.delenv("LECTERN_PREFETCH", raising=False)
    else:
        monkeypatch.setenv("LECTERN_PREFETCH", setting)
    prefetch.start()
    assert len(started) == threads
