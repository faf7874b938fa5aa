"""The dashboard under many readers: sessions that speak to its server without browsers.

Each reader opens a page, moves controls on it, one every few seconds, and goes on to the next page. What
the server says to one reader is searched for what the others have typed, and every answer to a slider must
be to that reader's own question.
"""

import asyncio
import re
import sys
import time
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from lab.bench.serving import Served, server
from lab.bench.timing import Row, percentile
from lab.ui import pages
from lab.ui.server.client import Answer, Control, Session

T = TypeVar("T")
READERS = 20
REST = 3.0  # seconds from one action of a reader to the next
LEAST = 4  # actions of every reader, however slow the machine
MOVES = 8  # on a page, before the reader goes on
TYPED = re.compile(rb"reader-[a-z]{2}-typed")  # what a reader types, its own letters in it
MIB = 2**20


@dataclass
class Tally:
    """Counts of what all readers have seen together; seconds of every answer and of every page opened."""

    answers: list[float] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    own: int = 0  # answers that a reader knew for its own
    foreign: Counter[str] = field(default_factory=Counter)


class Reader:
    """One session, its place in the course and its own way to choose."""

    def __init__(self, number: int, session: Session, tally: Tally, course: list[str]) -> None:
        self.number, self.session, self.tally, self.course = number, session, tally, course
        self.random = Random(number)
        self.text = f"reader-{chr(97 + number // 26)}{chr(97 + number % 26)}-typed"
        self.asked = 1_000_000 * number  # so no two readers ever ask a question of the same number
        self.visited = self.acted = 0
        self.moved = MOVES

    async def act(self) -> None:
        """Move a control, or go on to the next page."""
        self.acted += 1
        controls = [c for c in self.session.controls.values() if c.kind]
        if self.moved >= MOVES or not controls:
            page = self.course[(self.number + self.visited) % len(self.course)]
            self.visited, self.moved = self.visited + 1, 0
            answer = await self.session.open(page)
            self.tally.opened.append(answer.seconds)
            self.judge(answer, page)
            return
        self.moved += 1
        control = self.random.choice(controls)
        self.asked += 1
        state = control.draw(self.random, self.asked, self.text)
        answer = await self.session.move(control, state)
        self.tally.answers.append(answer.seconds)
        self.judge(answer, self.session.page)
        if control.kind == "slider":
            self.recognise(answer, control)

    def judge(self, answer: Answer, page: str) -> None:
        """Count failures, and what others have typed."""
        self.tally.errors.update(f"{page}: {' '.join(error.split())[:200]}" for error in answer.errors)
        for typed in set(TYPED.findall(answer.raw)) - {self.text.encode()}:
            self.tally.foreign[f"{page}: {typed.decode()} read by {self.text}"] += 1

    def recognise(self, answer: Answer, control: Control) -> None:
        """The slider must stand where this reader has put it, and answer this reader's question."""
        result = answer.sliders.get(control.id)
        if result is None:
            return  # the control has gone, or the page has stopped: `judge` sees that
        if result["seq"] == self.asked:
            self.tally.own += 1
        elif result["seq"] // 1_000_000 != self.number or result["seq"] > self.asked:
            self.tally.foreign[f"{self.session.page}: question {result['seq']} answered to {self.asked}"] += 1


async def crowd(address: str, readers: int, seconds: float, rest: float, course: list[str]) -> Tally:
    """Readers who act for so many seconds, each once in `rest` seconds where the server keeps up."""
    result = Tally()
    end = time.monotonic() + seconds

    async def read(number: int) -> None:
        try:
            async with Session.of(address) as session:
                reader = Reader(number, session, result, course)
                due = time.monotonic() + rest * number / readers  # they don't begin in step
                while (now := time.monotonic()) < end or reader.acted < LEAST:
                    if now < due:
                        await asyncio.sleep(due - now)
                        continue
                    await reader.act()
                    due = max(due + rest, time.monotonic())
        except Exception as error:  # a session that breaks is a result
            result.errors[f"a session broke: {type(error).__name__} {error}"[:200]] += 1

    await asyncio.gather(*(read(number) for number in range(readers)))
    return result


async def warm(address: str, processes: int, course: list[str]) -> None:
    """Every page once in every process: models are loaded once, and that is not what is measured."""
    for _ in range(processes):
        async with Session.of(address) as session:
            for page in course:
                await session.open(page)


def apart(work: Coroutine[Any, Any, T]) -> T:
    """Result of `work` in a loop of its own, whatever loop this thread has already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def measure(
    quick: bool = False,
    minutes: float = 10.0,
    processes: int = 1,
    rest: float = REST,
    readers: int | None = None,
) -> list[Row]:
    """
    Args:
        minutes: how long the readers read, after each page was opened once; the first tenth does not count.
        processes: that the dashboard is served by.
        rest: seconds from one action of a reader to the next; 0 asks for all that the server can give.
        readers: who read at the same time; READERS, or 3 if `quick`.
    """
    course = [page.url for page in pages()]
    readers = readers or (3 if quick else READERS)
    minutes = 0.1 if quick else minutes
    if quick:
        course = [page for page in course if page.startswith("autoregressive")][:2]
    with server(processes) as served:
        apart(warm(served.address, processes, course))
        # what is kept for each session and each input fills first; then memory should stay
        apart(crowd(served.address, readers, 6 * minutes, rest, course))
        return report(served, readers, 54 * minutes, rest, course, processes)


def report(
    served: Served, readers: int, seconds: float, rest: float, course: list[str], processes: int
) -> list[Row]:
    memory, cpu, start = served.memory(), served.cpu(), time.monotonic()
    result = apart(crowd(served.address, readers, seconds, rest, course))
    passed, paid = time.monotonic() - start, served.cpu() - cpu
    now = served.memory()
    for sentence, count in (result.errors + result.foreign).most_common(20):
        print(f"{count} × {sentence}", file=sys.stderr)
    who = f"{readers} readers, {processes} process{'es' if processes > 1 else ''}"
    runs = len(result.answers) + len(result.opened)

    def row(case: str, ours: float, **more: object) -> Row:
        return Row("server", f"{who}: {case}", ours, **more)  # type: ignore[arg-type]

    def timed(case: str, times: list[float], target: str = "") -> Row:
        return row(case, percentile(times, 0.5), p95=percentile(times, 0.95), target=target)

    limit = "95 % ≤ 1 s" if rest >= REST else ""
    return [
        timed("answer", result.answers, limit),
        timed("page opened", result.opened),
        row("runs", runs / passed, unit="/s", note=f"{runs} in {passed:.0f} s, {paid / passed:.2f} cores"),
        row("errors", sum(result.errors.values()), unit="errors", target="≤ 0 errors"),
        row(
            "what others asked or typed",
            sum(result.foreign.values()),
            unit="times",
            target="≤ 0 times",
            note=f"{result.own} answers known for one's own",
        ),
        row(
            "memory at the end",
            now / MIB,
            peer=memory / MIB,
            ratio=now / memory,
            unit="MiB",
            target="≤ 1.1",
            note="of what it was after the first tenth of the time",
        ),
    ]
