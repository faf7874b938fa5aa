"""A dashboard that is running and a tab of a browser on it: for the tests and for `screenshot.py`."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lab.bench.dashboard import LISTEN

ROOT = Path(__file__).resolve().parents[2]
HERE = {"localhost", "127.0.0.1", "::1"}
DRAWN = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && window.lecternWire.heard >= window.lecternWire.asked
  && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')
  && [...document.querySelectorAll('[data-testid=stPlotlyChart]')].every(
       (p) => p.querySelector('.main-svg') || !p.checkVisibility())
  && [...document.querySelectorAll('.lectern-figure')].every((f) => f.querySelector('.main-svg'))
  && [...document.querySelectorAll('.lectern-wall')].every((w) => w.querySelector('.tile'))
  && !window.lecternDrawing?.size"""
WORKS = "[class*=st-key-][class*=-cancel]"  # the button of a job that goes on
FLAGS = ["--no-sandbox", "--no-proxy-server", "--disable-gpu"]


@contextmanager
def serve(runs: Path, log: Path, port: int = 0, *options: str, base: str = "") -> Iterator[str]:
    """`lab app` on a free port, or on this one; gives its address.

    Args:
        runs: where it keeps training runs.
        log: where it prints.
        options: of `lab app`.
        base: the path below which it serves, "/lab".
    """
    options = (*options, *([f"--server.baseUrlPath={base}"] if base else []))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = port or free.getsockname()[1]
    with open(log, "w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "lab", "app", f"--server.port={port}", "--server.headless=true", *options],
            cwd=ROOT,
            env={**os.environ, "LECTERN_RUNS": str(runs), "LECTERN_PREFETCH": "0"},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    address, end = f"http://localhost:{port}{base}", time.monotonic() + 300
    try:
        while not healthy(address):
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the dashboard does not answer: {log.read_text()}")
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def healthy(address: str) -> bool:
    try:
        return urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).status == 200
    except OSError:
        return False


class Cable:
    """What a browser reaches a server through, on a port of its own, and what can be pulled out of it."""

    def __init__(self, to: int) -> None:
        self.to, self.ends = to, set[socket.socket]()
        self.listener = self.plug(0)
        self.port: int = self.listener.getsockname()[1]

    def plug(self, port: int) -> socket.socket:
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.take, args=(self.listener,), daemon=True).start()
        return self.listener

    def pull(self) -> None:
        """All that is under way breaks off, and nothing new is taken."""
        for end in (self.listener, *self.ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.ends.clear()

    def take(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near = listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
                self.ends |= {near, far}
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)


class Visit:
    """A tab of the browser on the dashboard, and what went wrong in it."""

    def __init__(
        self, browser: Any, dashboard: str, width: int = 1280, scheme: str = "light", height: int = 720
    ) -> None:
        self.dashboard = dashboard
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=width < 600
        )
        self.context.set_default_timeout(60_000)
        self.context.add_init_script(LISTEN)
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

    def arrive(self, link: str) -> None:
        """Wait until the address is of this page with this query; the page may have told more of its state
        there since, such as the place of its film."""
        page, query = urlsplit(link).path, parse_qs(urlsplit(link).query)

        def there(url: str) -> bool:
            at = urlsplit(url)
            return at.path == f"/{page}" and query.items() <= parse_qs(at.query).items()

        self.tab.wait_for_url(there)

    def walk(self, path: str) -> Any:
        """Go to another page as the menu does, without loading the dashboard anew, and wait until the work
        that it begins by itself is done."""
        tab = self.tab
        if not tab.url.startswith(self.dashboard):
            self.open(path)
            return self.worked()
        same = urlsplit(tab.url).path == f"/{urlsplit(path).path}"
        before = "" if same else tab.locator("h1").first.inner_text()
        tab.evaluate(
            "(to) => { history.pushState({}, '', to); dispatchEvent(new PopStateEvent('popstate')); }",
            f"/{path}",
        )
        tab.wait_for_function(
            "(title) => { const h = document.querySelector('h1'); return h && h.innerText !== title; }",
            arg=before,
        )
        self.settle()
        return self.worked()

    def worked(self) -> Any:
        """Wait until no job goes on."""
        while self.tab.locator(WORKS).count():
            self.tab.wait_for_selector(WORKS, state="detached", timeout=300_000)  # a page may train
            self.settle()
        return self.tab

    def settle(self, tab: Any = None) -> None:
        """Wait until the script has run to its end and every figure is drawn."""
        tab = tab or self.tab
        tab.wait_for_timeout(150)  # a click takes a moment to reach the server
        tab.wait_for_function(DRAWN)
        tab.wait_for_timeout(150)
        tab.wait_for_function(DRAWN)

    def quiet(self) -> None:
        """Wait until nothing has changed for a second: several messages may be on their way."""
        before = None
        while (now := (self.tab.url, self.text())) != before:
            before = now
            self.tab.wait_for_timeout(1000)
            self.settle()

    def text(self, tab: Any = None) -> str:
        """All words and numbers of the page, its menu aside."""
        return (tab or self.tab).locator("[data-testid=stMain]").inner_text()

    def parameters(self, tab: Any = None) -> str:
        return urlsplit((tab or self.tab).url).query
