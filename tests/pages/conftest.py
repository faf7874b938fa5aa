"""One dashboard and one browser for all tests of pages; nothing may leave the machine."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRAWN = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')
  && [...document.querySelectorAll('[data-testid=stPlotlyChart]')].every(
       (p) => p.querySelector('.main-svg') || !p.checkVisibility())"""
HERE = {"localhost", "127.0.0.1", "::1"}


def wait_for(ready: Any, seconds: float, what: str) -> Any:
    """The first true answer of `ready`, asked again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := ready():
            return answer
        time.sleep(0.2)
    raise TimeoutError(f"{what} within {seconds:.0f} s")


@pytest.fixture(scope="session")
def runs_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the dashboard under test keeps its runs: never the reader's own."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def dashboard(runs_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running dashboard, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with open(log, "w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "lab", "app", f"--server.port={port}", "--server.headless=true"],
            cwd=ROOT,
            env={**os.environ, "LECTERN_RUNS": str(runs_root)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    address = f"http://localhost:{port}"

    def healthy() -> bool:
        assert server.poll() is None, log.read_text()
        try:
            return urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).status == 200
        except OSError:
            return False

    try:
        wait_for(healthy, 120, "the dashboard answers")
        yield address
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        instance = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--no-proxy-server", "--disable-gpu"]
        )
        yield instance
        instance.close()


class Visit:
    """A tab of the browser on the dashboard, and what went wrong in it."""

    def __init__(self, browser: Any, dashboard: str, width: int = 1280, scheme: str = "light") -> None:
        self.dashboard = dashboard
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=width < 600
        )
        self.context.set_default_timeout(30_000)
        self.strangers: list[str] = []
        self.complaints: list[str] = []
        self.context.on("request", self.watch)
        self.context.on("page", self.listen)
        self.tab = self.context.new_page()

    def watch(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname not in HERE:
            self.strangers.append(request.url)

    def listen(self, tab: Any) -> None:
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("console", self.hear)

    def hear(self, message: Any) -> None:
        # Streamlit finds its own root by asking below the page's address first, where nobody answers.
        searching = "/_stcore/" in message.location.get("url", "") and "404" in message.text
        if message.type == "error" and not searching:
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def open(self, path: str = "", tab: Any = None) -> Any:
        """Go to a page and wait until it is drawn."""
        tab = tab or self.tab
        tab.goto(f"{self.dashboard}/{path}" if not path.startswith("http") else path)
        tab.wait_for_selector("h1")
        self.settle(tab)
        return tab

    def settle(self, tab: Any = None) -> None:
        """Wait until the script has run to its end and every figure is drawn."""
        tab = tab or self.tab
        tab.wait_for_timeout(150)  # a click takes a moment to reach the server
        tab.wait_for_function(DRAWN)
        tab.wait_for_timeout(150)
        tab.wait_for_function(DRAWN)

    def text(self, tab: Any = None) -> str:
        """All words and numbers of the page, its menu aside."""
        return (tab or self.tab).locator("[data-testid=stMain]").inner_text()

    def parameters(self, tab: Any = None) -> str:
        return urlsplit((tab or self.tab).url).query


@pytest.fixture
def visit(browser: Any, dashboard: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A fresh tab; afterwards nothing may have left the machine and no console error been printed."""
    made = Visit(browser, dashboard, **getattr(request, "param", {}))
    yield made
    made.context.close()
    assert not made.strangers, f"requests left the machine: {made.strangers}"
    assert not made.complaints, f"the console complains: {made.complaints}"
