"""A tab outlives its session: what it asks of a session that has drawn nothing is heard as if it had."""

import asyncio
import json
import random
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from browsing import Cable, Visit, serve
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from lab.ui.server.client import Answer, Session

PAGE = "language-truncation"


@pytest.mark.browser
def test_what_a_forgotten_tab_asks_is_heard(dashboard: str) -> None:
    """Without a browser: the questions of a tab, to a session that knows nothing of it."""

    async def ask(kind: str) -> None:
        async with Session.of(dashboard) as before, Session.of(dashboard) as after:
            await before.open(PAGE, "k=3&p=1")
            control = next(c for c in before.controls.values() if c.kind == kind)
            moved = control.draw(random.Random(0), seq=1)
            wanted = await before.move(control, moved)
            # the tab reconnects: a new session, the same page, address and controls
            after.pages, after.page, after.query = before.pages, PAGE, "k=3&p=1"
            after.values, after.cached = {}, set(before.cached)
            result = await asyncio.wait_for(after.move(control, moved), 60)  # the page as it stood
            assert not result.errors
            while after.query != before.query:  # and then what was asked
                more = await asyncio.wait_for(answer(after), 60)
                assert not more.errors
            assert not wanted.errors and after.query != "k=3&p=1"
            again = await asyncio.wait_for(after.move(control, control.draw(random.Random(5), seq=2)), 60)
            assert not again.errors  # from now on it is a session as any other

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, ask("slider")).result()


@pytest.mark.heavy
@pytest.mark.browser
def test_a_tab_goes_on_after_the_server_began_again(browser: Any, tmp_path: Path) -> None:
    """Scenes by keys, a slider by its arrows, a number by its +, and no reload by the reader."""
    log = tmp_path / "log.txt"

    def marked(tab: Any, scene: str) -> None:
        tab.wait_for_function(
            "(n) => document.querySelector('.lectern-stage [aria-pressed=true]')?.innerText[0] === n",
            arg=scene,
        )

    with serve(tmp_path / "runs", log) as address:
        visit = Visit(browser, address)
        tab = visit.open(PAGE)
        tab.keyboard.press("5")
        marked(tab, "5")
        visit.settle()
        stood = visit.parameters()
    port = urlsplit(address).port or 0
    for act, seen in (
        (lambda: tab.keyboard.press("6"), lambda: marked(tab, "6")),
        (lambda: tab.keyboard.press("PageDown"), lambda: marked(tab, "7")),
        (lambda: move(tab), lambda: tab.wait_for_url(re.compile("[?&]t="))),
    ):
        with serve(tmp_path / "runs", log, port):
            tab.wait_for_function(
                "document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState === 'CONNECTED'"
            )
            tab.wait_for_timeout(1000)
            assert visit.parameters() == stood
            act()
            seen()
            visit.settle()
            stood = visit.parameters()
    visit.context.close()


# --- Below a path, behind two processes, which forget at once ------------------------------------------

BASE, ROOM = "/hall/lectern", "autoregressive-masks"


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of two processes behind nginx, and where it writes down who they are."""
    if shutil.which("nginx") is None and shutil.which("nginx", path="/usr/sbin") is None:
        pytest.skip("no nginx")
    place = tmp_path_factory.mktemp("hall")
    forgets = "--processes=2", "--server.disconnectedSessionTTL=1"
    with serve(place / "runs", place / "log.txt", 0, *forgets, base=BASE) as address:
        yield address, place / "runs" / ".proxy" / str(urlsplit(address).port) / "processes.json"


def connected(tab: Any, so: bool = True) -> None:
    state = "document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState"
    tab.wait_for_function(f"(so) => ({state} === 'CONNECTED') === so", arg=so)


def press(tab: Any, control: str) -> None:
    """A scene's key, the clicker, a slider by its arrow, a number by its +."""
    if control == "slider":
        slider = tab.locator(".lectern-slider input[type=range]").first
        slider.focus()
        slider.press("ArrowRight")
    elif control == "+":
        tab.locator("[data-testid=stNumberInputStepUp]").first.click()
    elif control == "scene":
        tab.locator(".lectern-stage .scenes button").nth(1).click()
    else:
        tab.keyboard.press(control)


def goes_on(visit: Visit, control: str) -> None:
    """It stands where it stood, and what is moved is heard."""
    tab, stood = visit.tab, visit.parameters()
    connected(tab)
    press(tab, control)
    tab.wait_for_function("(was) => location.search.slice(1) !== was", arg=stood)
    visit.settle()
    assert not tab.locator("[data-testid=stException]").count()


CONTROLS = ("3", "+", "slider", "scene", "PageDown")


@pytest.mark.heavy
@pytest.mark.browser
def test_a_tab_goes_on_after_a_cut_for_which_its_session_is_forgotten(
    browser: Any, hall: tuple[str, Path]
) -> None:
    cable = Cable(urlsplit(hall[0]).port or 0)
    visit = Visit(browser, f"http://localhost:{cable.port}{BASE}")
    tab = visit.open(ROOM)
    for control in CONTROLS:
        cable.pull()
        connected(tab, False)
        tab.wait_for_timeout(1500)  # longer than the server remembers
        cable.plug(cable.port)
        goes_on(visit, control)
    visit.context.close()
    cable.pull()


@pytest.mark.heavy
@pytest.mark.browser
def test_a_tab_goes_on_in_another_process_when_its_own_is_killed(
    browser: Any, hall: tuple[str, Path]
) -> None:
    address, known = hall
    visit = Visit(browser, address)
    tab = visit.open(ROOM)
    own = next(c["value"] for c in visit.context.cookies() if c["name"] == "lectern_process")
    process = psutil.Process(json.loads(known.read_text())["others"][1 + int(own)][0])  # after nginx
    process.kill()
    process.wait(30)
    tab.wait_for_timeout(1000)  # the browser has seen it
    for control in CONTROLS:
        goes_on(visit, control)
    visit.context.close()


@pytest.mark.heavy
@pytest.mark.browser
def test_below_a_path_menu_scene_and_link_lead_on(browser: Any, hall: tuple[str, Path]) -> None:
    address, _ = hall
    visit = Visit(browser, address)
    tab = visit.tab
    for _ in range(3):  # as soon as the menu is there, whatever the first run still draws
        tab.goto(address)
        tab.locator(".lectern-nav .open").click()  # at this width the menu is a strip until then
        tab.locator(".lectern-nav a[data-page=models]").click()
        tab.wait_for_url(f"{address}/models*")
        tab.wait_for_function("document.querySelector('h1')?.innerText === 'Models'")
    visit.settle()
    tab = visit.walk(f"{BASE}/{ROOM}".removeprefix("/"))
    tab.keyboard.press("3")
    tab.wait_for_function(
        "document.querySelector('.lectern-stage [aria-pressed=true]')?.innerText[0] === '3'"
    )
    visit.settle()
    link, title = tab.url, tab.locator("h1").inner_text()
    assert link.startswith(f"{address}/{ROOM}?")
    visit.open(link)
    assert tab.locator("h1").inner_text() == title and tab.url == link
    assert tab.locator(".lectern-stage [aria-pressed=true]").inner_text()[0] == "3"
    assert not visit.complaints
    visit.context.close()


async def answer(session: Session) -> Answer:
    """The next one, to what was asked before."""
    result = Answer()
    while not session.hear(ForwardMsg.FromString(bytes(await session.socket.recv())), result):
        pass
    return result


def move(tab: Any) -> None:
    slider = tab.locator(".lectern-slider input[type=range]").first
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
