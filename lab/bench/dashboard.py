"""The dashboard as a user feels it: address to first picture, and control to picture.

A real Chromium drives the real server. Both run on this machine, so with eight users eight pages are
drawn by the same cores that compute them: an upper limit of what eight machines would see.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.bench.timing import NAN, Row, percentile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NEEDS = "needs a browser: pip install -c constraints.txt -e '.[dev]', and Chromium"
START_LIMIT = 120.0  # seconds that the server may take to start
PAGE_LIMIT = 60_000  # milliseconds that a page may take

PICTURES = ".stPlotlyChart .main-svg, .stImage img, .stCustomComponentV2, .stDataFrame"

# True when a picture is on the screen, or when the script is done and there will be none.
SEEN = """
(pictures) => {
  if ([...document.querySelectorAll(pictures)].some(e => e.getClientRects().length)) return true;
  const app = document.querySelector('[data-testid="stApp"]');
  return app && app.getAttribute('data-test-script-state') === 'notRunning'
    && document.querySelector('.stMain h1')
    && !document.querySelector('.stPlotlyChart, [data-testid="stSkeleton"], [data-stale="true"]');
}
"""

# What a lecturer moves, by kind: a slider or stepper, an option not chosen, a number, a switch.
SLIDER = "input[type=range]:not([disabled])"
CONTROLS = (
    SLIDER,
    "button[role=radio][aria-checked=false]",
    "[data-testid=stNumberInputStepUp]:not([disabled])",
    "[data-testid=stCheckbox] label",
)

# Resolves to the milliseconds from the user's event to the last change of a picture in the run that
# it caused, once the run is over and its result is painted; null if no run came of it.
WATCH = """
(limit) => {
  const app = document.querySelector('[data-testid="stApp"]');
  const state = () => app.getAttribute('data-test-script-state');
  const main = document.querySelector('[data-testid="stMain"]');
  let start = null, pictured = null, changed = null, ran = false;
  const begin = () => { if (start === null) start = performance.now(); };
  window.addEventListener('keydown', begin, {capture: true, once: true});
  window.addEventListener('pointerdown', begin, {capture: true, once: true});
  window.answered = new Promise(resolve => {
    const runs = new MutationObserver(() => { if (start !== null && state() === 'running') ran = true; });
    runs.observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
    const draws = new MutationObserver(records => {
      if (start === null || !ran) return;
      changed = performance.now();
      const drawn = '.stPlotlyChart, .stImage, .stCustomComponentV2';
      const inside = node => node && node.closest && node.closest(drawn);
      if (records.some(r => inside(r.target.nodeType === 1 ? r.target : r.target.parentElement)))
        pictured = changed;
    });
    draws.observe(main, {subtree: true, childList: true, attributes: true, characterData: true});
    const opened = performance.now();
    let quiet = 0;
    const frame = () => {
      const now = performance.now();
      const last = Math.max(pictured ?? 0, changed ?? 0);
      quiet = ran && state() === 'notRunning' && now - last > 120 ? quiet + 1 : 0;
      if (quiet > 2 || now - opened > limit) {
        runs.disconnect(); draws.disconnect();
        resolve(ran ? {picture: pictured === null ? null : pictured - start,
                       page: changed === null ? null : changed - start} : null);
      } else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}
"""


def chromium() -> str | None:
    """Path of the browser, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextmanager
def server() -> Iterator[str]:
    """The dashboard on a free port: its address; it ends with the block.

    Raises:
        RuntimeError: it does not answer within `START_LIMIT`.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "lab", "app", "--server.port", str(port), "--server.headless", "true"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    address = f"http://localhost:{port}"
    try:
        end = time.monotonic() + START_LIMIT
        while True:
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                    break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("the dashboard did not start: try `lab app`.") from None
                time.sleep(0.1)
        yield address
    finally:
        if process.poll() is None:  # the command and the server it started are one group
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class User:
    """One browser context: visits pages, moves controls, and takes the time."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address

    async def pages(self) -> dict[str, str]:
        """Title -> path of every page in the menu."""
        await self.page.goto(self.address)
        links = self.page.get_by_test_id("stSidebarNavLink")
        await links.first.wait_for(timeout=PAGE_LIMIT)
        found = {}
        for link in await links.all():
            path = "/" + (await link.get_attribute("href")).split("/", 3)[-1].lstrip("/")
            found[(await link.inner_text()).strip().splitlines()[-1]] = path
        return found

    async def first_picture(self, path: str) -> float:
        """Seconds from the address to the first picture that can be seen; of a page that has none, to
        the end of its script. NaN where neither comes within `PAGE_LIMIT`."""
        from playwright.async_api import TimeoutError as Late

        start = time.perf_counter()
        try:
            await self.page.goto(self.address + path, wait_until="commit", timeout=PAGE_LIMIT)
            await self.page.wait_for_function(SEEN, arg=PICTURES, timeout=PAGE_LIMIT)
            seconds = time.perf_counter() - start
            await self.settled()
        except Late:
            return NAN
        return seconds

    async def settled(self) -> None:
        """Wait until the page's script rests."""
        await self.page.wait_for_function(
            """() => document.querySelector('[data-testid="stApp"]')
                  ?.getAttribute('data-test-script-state') === 'notRunning'""",
            timeout=PAGE_LIMIT,
        )

    async def controls(self) -> list[tuple[str, Any]]:
        """The first visible control of each kind, with its selector."""
        main = self.page.get_by_test_id("stMain")
        found = []
        for selector in CONTROLS:
            for locator in await main.locator(selector).all():
                if await locator.is_visible():
                    found.append((selector, locator))
                    break
        return found

    async def answer(self, turn: int, limit: int = 5_000) -> float:
        """Seconds from moving a control to the picture that follows; NaN where nothing followed.

        The kinds of control take turns.
        """
        found = await self.controls()
        if not found:
            return NAN
        selector, locator = found[turn % len(found)]
        await self.settled()  # of many users some are still waiting for their last answer
        await locator.scroll_into_view_if_needed()
        if selector == SLIDER:
            await locator.focus()
            now, most = float(await locator.input_value()), float(await locator.get_attribute("max") or 100)
            self.upward = getattr(self, "upward", True) and now < most
            await self.page.evaluate(WATCH, limit)
            await self.page.keyboard.press("ArrowRight" if self.upward else "ArrowLeft")
        else:
            await self.page.evaluate(WATCH, limit)
            await locator.click()
        times = await self.page.evaluate("() => window.answered")
        if times is None:
            return NAN
        milliseconds = times["picture"] if times["picture"] is not None else times["page"]
        return NAN if milliseconds is None else milliseconds / 1000


async def visit(address: str, executable: str, users: int, visits: int, moves: int, most: int) -> list[Row]:
    """All pages, `users` at once: each opens the page `visits` times and moves its control `moves` times."""
    from playwright.async_api import async_playwright

    rows = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            crowd = []
            for _ in range(users):
                context = await browser.new_context(viewport={"width": 1280, "height": 900})
                crowd.append(User(await context.new_page(), address))
            pages = (await asyncio.gather(*(user.pages() for user in crowd)))[0]
            who = f"{users} user" + ("s" if users > 1 else "")
            for title, path in list(pages.items())[-most:]:

                async def session(user: User, path: str = path) -> tuple[list[float], list[float]]:
                    first = [await user.first_picture(path) for _ in range(visits)]
                    user.upward = True
                    return first, [await user.answer(turn) for turn in range(moves)]

                await crowd[0].first_picture(path)  # models are loaded once per process: not what is timed
                results = await asyncio.gather(*(session(user) for user in crowd))
                for case, target, index, missing in (
                    ("first picture", "≤ 2 s", 0, f"none within {PAGE_LIMIT // 1000} s"),
                    ("control to picture", "≤ 0.25 s", 1, "no control here"),
                ):
                    times = [t for result in results for t in result[index] if t == t]
                    row = Row(
                        "dashboard",
                        f"{title}: {case}, {who}",
                        percentile(times, 0.5),
                        target=target if users == 1 and times else "",
                        note="" if times else missing,
                        p95=percentile(times, 0.95),
                    )
                    rows.append(row)
        finally:
            await browser.close()
    return rows


def measure(quick: bool = False) -> list[Row]:
    """Median and 95th percentile for every page, with one user and with eight at once."""
    executable = chromium()
    try:
        import playwright  # noqa: F401
    except ImportError:
        executable = None
    if executable is None:
        return [Row("dashboard", "all pages", NAN, note=NEEDS)]
    rows = []
    with server() as address:
        for users in (1,) if quick else (1, 8):
            # of eight users each does less: there are as many times in the end
            visits, moves = (1, 2) if quick else (3, 12) if users == 1 else (1, 3)
            rows += asyncio.run(visit(address, executable, users, visits, moves, most=1 if quick else 100))
    return rows
