"""A tab outlives its session: what it asks of a session that has drawn nothing is heard as if it had."""

import asyncio
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import Visit, serve
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from lab.ui.speaking import Answer, Session

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
            told = await asyncio.wait_for(after.move(control, moved), 60)  # the page as it stood
            assert not told.errors
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


async def answer(session: Session) -> Answer:
    """The next one, to what was asked before."""
    told = Answer()
    while not session.hear(ForwardMsg.FromString(bytes(await session.socket.recv())), told):
        pass
    return told


def move(tab: Any) -> None:
    slider = tab.locator(".lectern-slider input[type=range]").first
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
