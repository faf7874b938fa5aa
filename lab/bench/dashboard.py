"""The dashboard as a reader feels it: address to picture, control to picture, film, and what the server pays.

A real Chromium with a warm cache drives the real server, both on this machine. Times end when the last
picture that changes is painted. For many readers at once there is `lab bench server`.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from lab.bench.serving import Served, server
from lab.bench.timing import NAN, Row, percentile

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NEEDS = "needs a browser: pip install -c constraints.txt -e '.[dev]', and Chromium"
PAGE_LIMIT = 60_000  # milliseconds that a page may take
ANSWER_LIMIT = 10_000  # milliseconds that an answer may take

FIRST = "≤ 1.2 s"
ANSWER = "≤ 0.15 s, 95 % ≤ 0.25 s"
STEP = "95 % ≤ 0.05 s"
PLAY = "≥ 30 /s"

# Notes when the page last asked the server, and when it last heard from it.
LISTEN = """
(() => {
  const Socket = window.WebSocket, wire = (window.lecternWire = {asked: 0, heard: 0});
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', () => { wire.heard = performance.now(); });
    }
    send(data) { wire.asked = performance.now(); return super.send(data); }
  };
})()
"""
# True when a picture is on the screen, or when the script is done and there will be none.
SEEN = """
() => {
  const drawn = '.lectern-figure .main-svg, .lectern-figure canvas, .lectern-wall canvas, '
    + '.stPlotlyChart .main-svg, .stImage img';
  if ([...document.querySelectorAll(drawn)].some((e) => e.getClientRects().length)) return true;
  return document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
    && document.querySelector('[data-testid=stMain] h1') && !window.lecternDrawing?.size
    && !document.querySelector('.lectern-figure, .lectern-wall, .stPlotlyChart, [data-testid=stSkeleton]');
}
"""
# True when nothing is asked, running or being drawn.
RESTS = """
() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && window.lecternWire.heard >= window.lecternWire.asked && !window.lecternDrawing?.size
"""

# Resolves to the milliseconds from the reader's event to the last change of a picture that was painted;
# where no picture changed, of anything on the page; where nothing did, to the end of the answer; null where
# none came.
WATCH = """
(limit) => {
  const [app, main] = ['stApp', 'stMain'].map((id) => document.querySelector(`[data-testid=${id}]`));
  const drawn = '.lectern-figure, .stPlotlyChart, .stImage';
  const painted = (then) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => then(performance.now());
    channel.port2.postMessage(0);
  });
  let start = null, picture = 0, page = 0, ran = false, drawing = false;
  const begin = () => { start ??= performance.now(); };
  window.addEventListener('keydown', begin, {capture: true, once: true});
  window.addEventListener('pointerdown', begin, {capture: true, once: true});
  window.answered = new Promise((resolve) => {
    const wire = window.lecternWire;
    const listen = () => { ran ||= start !== null && wire.asked > start && wire.heard > wire.asked; };
    const changes = new MutationObserver((records) => {
      listen();
      if (!ran) return;
      const inside = (node) => (node.closest ? node : node.parentElement)?.closest(drawn);
      const shows = records.some(({target}) => inside(target));
      painted((now) => { page = now; if (shows) picture = now; });
    });
    changes.observe(main, {subtree: true, childList: true, attributes: true, characterData: true});
    const opened = performance.now();
    let quiet = 0;
    const look = () => {
      const now = performance.now(), busy = window.lecternDrawing?.size > 0;
      listen();
      if (drawing && !busy && ran) // a canvas tells no observer
        picture = Math.max(picture, window.lecternPainted ?? now);
      drawing = busy;
      const rests = ran && wire.heard >= wire.asked && !busy && app.dataset.testScriptState === 'notRunning';
      quiet = rests && now - Math.max(picture, page, start) > 120 ? quiet + 1 : 0;
      if (quiet < 3 && now - opened < limit) { requestAnimationFrame(look); return; }
      changes.disconnect();
      resolve(quiet < 3 ? null : (picture || page || wire.heard) - start);
    };
    requestAnimationFrame(look);
  });
}
"""

# From now on `window.turned` resolves, once for every key, to the milliseconds until its frame is painted.
FOLLOW = """
() => {
  const clock = window.lecternFilm, go = clock.go.bind(clock);
  let start = 0, done;
  window.follow = () => { window.turned = new Promise((resolve) => { done = resolve; }); };
  window.addEventListener('keydown', () => { start = performance.now(); }, {capture: true});
  clock.go = async (at) => {
    await go(at);
    await new Promise((resolve) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(0);
    }));
    done?.(performance.now() - start);
  };
}
"""
# Frames a second of the film played as fast as it goes, from its start, again and again.
PLAYED = """
async (seconds) => {
  const clock = window.lecternFilm;
  clock.stop(); // it may play by itself
  clock.round = false;
  clock.seconds = 0;
  let frames = 0;
  const start = performance.now();
  while (performance.now() - start < 1000 * seconds) {
    clock.at = clock.count - 1; // the end: playing begins at the start
    await clock.play();
    frames += clock.count;
  }
  return 1000 * frames / (performance.now() - start);
}
"""


def chromium() -> str | None:
    """Path of the browser, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


class Reader:
    """A tab of the browser: opens pages, moves controls, turns films, and takes the time."""

    def __init__(self, tab: Any, served: Served) -> None:
        self.tab, self.served = tab, served
        tab.add_init_script(LISTEN)
        self.upward = True

    def open(self, path: str) -> float:
        """Seconds from the address to the first picture; of a page that has none, to its end. NaN where
        neither comes within `PAGE_LIMIT`."""
        from playwright.sync_api import TimeoutError as Late

        start = time.perf_counter()
        try:
            self.tab.goto(f"{self.served.address}/{path}", wait_until="commit", timeout=PAGE_LIMIT)
            self.tab.wait_for_function(SEEN, timeout=PAGE_LIMIT)
        except Late:
            return NAN
        seconds = time.perf_counter() - start
        return seconds if self.rest() else NAN

    def rest(self) -> bool:
        """Wait until the script and the drawing are over, and a film's place is told; False where they go
        on after `PAGE_LIMIT`."""
        from playwright.sync_api import TimeoutError as Late

        try:
            self.tab.wait_for_function(RESTS, timeout=PAGE_LIMIT)
            self.tab.wait_for_timeout(600)
            self.tab.wait_for_function(RESTS, timeout=PAGE_LIMIT)
        except Late:
            return False
        return True

    def controls(self, *selectors: str) -> list[Any]:
        main = self.tab.get_by_test_id("stMain")
        return [c for s in selectors for c in main.locator(s).all() if c.is_visible() and c.is_enabled()]

    def answered(self) -> float:
        milliseconds = self.tab.evaluate("() => window.answered")
        return NAN if milliseconds is None else milliseconds / 1000

    def slide(self, turn: int) -> float | None:
        """Seconds from a key on one of our sliders to the picture, sliders in turns; None without one."""
        if not (sliders := self.controls(".lectern-slider input")):
            return None
        slider = sliders[turn % len(sliders)]
        now, low, high = (float(slider.evaluate(f"e => e.{name}")) for name in ("value", "min", "max"))
        up = turn // len(sliders) % 8 < 4  # four steps up, four back
        up = now < high if up else now <= low
        slider.focus()
        self.tab.evaluate(WATCH, ANSWER_LIMIT)
        self.tab.keyboard.press("ArrowRight" if up else "ArrowLeft")
        return self.answered()

    def choose(self, turn: int) -> float | None:
        """The same of a click on an option that is not chosen, or on a switch."""
        kinds = "button[role=radio][aria-checked=false]", "[data-testid=stCheckbox] label"
        results = [controls[0] for kind in kinds if (controls := self.controls(kind))]
        if not results:
            return None
        control = results[turn % len(results)]
        control.scroll_into_view_if_needed()
        self.tab.evaluate(WATCH, ANSWER_LIMIT)
        control.click()
        return self.answered()

    def has_film(self) -> bool:
        return bool(self.tab.evaluate("() => window.lecternFilm?.count > 1"))

    def turn(self, steps: int) -> list[float]:
        """Seconds from an arrow key to the frame, step by step, back and forth."""
        self.tab.evaluate(FOLLOW)
        self.tab.evaluate("() => document.activeElement?.blur()")
        times = []
        for step in range(steps):
            at, count = self.tab.evaluate("() => [window.lecternFilm.at, window.lecternFilm.count]")
            if at in (0, count - 1) or step == 0:
                self.upward = at < count - 1
            self.tab.evaluate("() => window.follow()")
            self.tab.keyboard.press("ArrowRight" if self.upward else "ArrowLeft")
            times.append(self.tab.evaluate("() => window.turned") / 1000)
        return times

    def play(self, seconds: float) -> float:
        """Frames a second."""
        return float(self.tab.evaluate(PLAYED, seconds))


def rows_of(reader: Reader, title: str, path: str, quick: bool) -> list[Row]:
    """List what there is to measure on a page."""
    reader.open(path)  # models are loaded once per process: not what is timed
    first = [reader.open(path) for _ in range(1 if quick else 4)]
    rows = [timed(title, "first picture", first, FIRST)]
    moves, paid = 0, 0.0
    for case, move in (("slider to picture", reader.slide), ("choice to picture", reader.choose)):
        before = reader.served.cpu()
        times = []
        for turn in range(2 if quick else 24):
            if (seconds := move(turn)) is None:
                break
            times.append(seconds)
        if times:
            moves, paid = moves + len(times), paid + reader.served.cpu() - before
            rows.append(timed(title, case, times, ANSWER))
        if not reader.rest():
            note = f"works on after {PAGE_LIMIT // 1000} s"
            rows.append(Row("dashboard", f"{title}: rest after {case}", NAN, note=note))
    reader.open(path)
    if reader.has_film():
        rows.append(timed(title, "step to picture", reader.turn(4 if quick else 30), STEP))
        speed = reader.play(0.2 if quick else 2.0)
        rows.append(Row("dashboard", f"{title}: film at its fastest", speed, target=PLAY, unit="/s"))
        reader.rest()
    if moves:
        rows.append(Row("dashboard", f"{title}: server CPU of an answer", paid / moves))
    return rows


def timed(title: str, case: str, times: list[float], target: str) -> Row:
    """Median and 95th percentile; what never came is said."""
    came = [t for t in times if t == t]
    late = len(times) - len(came)
    return Row(
        "dashboard",
        f"{title}: {case}",
        percentile(came, 0.5),
        target=target,
        note=f"{late} of {len(times)} never came" if late else "",
        p95=percentile(came, 0.95),
    )


def rooms_read(quick: bool) -> list[float]:
    """Seconds that a new process takes to read what all rooms declare, its own start left out."""
    code = (
        "import time; begun = time.perf_counter(); from lab import room\n"
        "for path in room.PAGES.glob('*/*/room.py'): room.load(room.address(path))\n"
        "print(time.perf_counter() - begun)"
    )
    asked = [sys.executable, "-c", code]
    return [float(subprocess.check_output(asked, cwd=ROOT)) for _ in range(2 if quick else 9)][1:]


def measure(quick: bool = False, only: str = "") -> list[Row]:
    """All pages, or those with `only` in their address."""
    executable = chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        executable = None
    if executable is None:
        return [Row("dashboard", "all pages", NAN, note=NEEDS)]
    from lab.ui import pages
    from lab.ui.navigation.menu import FIRST

    rows = [] if only else [timed("Rooms", "read all that they declare", rooms_read(quick), "< 0.3 s")]
    with server() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        reader = Reader(browser.new_context(viewport={"width": 1280, "height": 720}).new_page(), served)
        reader.open("")  # what a browser loads once
        for title, path in [*FIRST.items(), *((page.title, page.url) for page in pages())]:
            if only in path:
                rows += rows_of(reader, title, path, quick)
        browser.close()
    return rows
