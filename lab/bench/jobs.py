"""Heavy work of many tabs: what it costs a reader of another page, and when it ends after they have closed.

The tabs are sessions without browsers (`lab.ui.server.client`) that train, each from a seed of its own, so
that none finds the work of another. The reader moves a slider alone, beside them, and alone again.
"""

import asyncio
import math
import time
from collections.abc import Callable
from random import Random

from lab.bench.server import apart
from lab.bench.serving import Served, server
from lab.bench.timing import Row, percentile
from lab.ui.server.client import Control, Session

TABS = 20
# they train as soon as they open
HEAVY = ("adversarial-clinic", "adversarial-gan-bench", "diffusion-averaging")
READS = "language-truncation"
REST = 0.2  # seconds of the reader between an answer and the next question
LOOK = 0.25  # seconds between two looks at the server's processor time
LIMIT = 30.0  # seconds that work may go on before nobody looks any longer
IDLE = 0.05  # of a core: what a server without work stays below


class Reader:
    """Moves the first slider of a page to and fro."""

    def __init__(self, session: Session) -> None:
        self.session, self.random, self.asked = session, Random(0), 0

    async def open(self) -> None:
        await self.session.open(READS)
        self.slider: Control = next(c for c in self.session.controls.values() if c.kind == "slider")

    async def ask(self, times: int) -> list[float]:
        """Seconds of so many answers."""
        results = []
        for _ in range(times):
            self.asked += 1
            state = self.slider.draw(self.random, self.asked)
            results.append((await self.session.move(self.slider, state)).seconds)
            await asyncio.sleep(REST)
        return results


async def tab(address: str, number: int, opened: Callable[[Session], None]) -> None:
    """Open a page that trains, and stay there."""
    async with Session.of(address) as session:
        await session.open(HEAVY[number % len(HEAVY)], f"scene=0&seed={100 + number}")
        opened(session)
        await session.stay()


async def busy_until(served: Served) -> float:
    """Seconds until the server rests for good; infinite where that takes longer than `LIMIT`."""
    start = last = time.monotonic()
    paid = served.cpu()
    while (now := time.monotonic()) - start < LIMIT:
        if now - last > LIMIT / 3:
            return last - start
        await asyncio.sleep(LOOK)
        before, paid = paid, served.cpu()
        if paid - before > IDLE * (time.monotonic() - now):
            last = time.monotonic()
    return math.inf


async def beside(served: Served, tabs: int, times: int) -> tuple[list[float], list[float], float, int]:
    """Answers alone, answers beside the tabs, seconds of work after they have closed, and how many worked."""
    async with Session.of(served.address) as session:
        reader = Reader(session)
        await reader.open()
        await reader.ask(times)  # what is kept for each input fills first
        alone = await reader.ask(times)
        opened: list[Session] = []
        at_work = [asyncio.create_task(tab(served.address, n, opened.append)) for n in range(tabs)]
        while len(opened) < tabs:
            await asyncio.sleep(LOOK)
            for broken in (task for task in at_work if task.done()):
                broken.result()  # raises what broke it
        crowded = await reader.ask(times)
        working = sum(bool(each.live) for each in opened)
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
        ended = await busy_until(served)
        return alone + await reader.ask(times), crowded, ended, working


def measure(quick: bool = False) -> list[Row]:
    tabs, times = (3, 5) if quick else (TABS, 100)
    with server() as served:
        alone, crowded, ended, working = apart(beside(served, tabs, times))
    ours, peer = percentile(crowded, 0.5), percentile(alone, 0.5)
    note = f"{working} of {tabs} at work to the end"
    return [
        Row("jobs", f"an answer beside {tabs} tabs with heavy work", ours, peer, ours / peer, "≤ 2", note,
            percentile(crowded, 0.95)),
        Row("jobs", "an answer without them", peer, p95=percentile(alone, 0.95)),
        Row("jobs", "until the work of closed tabs has ended", ended, target="≤ 5 s"),
    ]  # fmt: skip
