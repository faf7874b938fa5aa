"""A dashboard to measure: started on a free port, asked for its processor time and memory, ended."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

START_LIMIT = 180.0  # seconds that the server may take to start


@dataclass(frozen=True)
class Served:
    """A running dashboard.

    Attributes:
        address: "http://localhost:<port>".
        pid: of its first process; all others are below it.
    """

    address: str
    pid: int

    def processes(self) -> list[psutil.Process]:
        first = psutil.Process(self.pid)
        return [first, *first.children(recursive=True)]

    def cpu(self) -> float:
        """Processor time of all its processes so far, in seconds."""
        return sum(sum(p.cpu_times()[:2]) for p in self.processes())

    def memory(self) -> int:
        """Bytes that all its processes hold; what they share counts for each."""
        return sum(p.memory_info().rss for p in self.processes())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def server(processes: int = 1) -> Iterator[Served]:
    """The dashboard on a free port; it ends with the block, and leaves nothing behind.

    Raises:
        RuntimeError: it does not answer within `START_LIMIT`.
    """
    port = free_port()
    command = [sys.executable, "-m", "lab", "app", "--server.port", str(port), "--server.headless", "true"]
    if processes > 1:
        command += ["--processes", str(processes)]
    with tempfile.TemporaryDirectory() as runs, tempfile.TemporaryFile() as log:
        started = subprocess.Popen(
            command,
            env={**os.environ, "LECTERN_RUNS": runs},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        address = f"http://localhost:{port}"
        try:
            end = time.monotonic() + START_LIMIT
            while not healthy(address):
                if started.poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    text = log.read().decode(errors="replace").strip().splitlines()
                    raise RuntimeError(
                        f"the dashboard did not start: {text[-1] if text else 'try `lab app`'}"
                    )
                time.sleep(0.1)
            yield Served(address, started.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGTERM)  # the command and what it has started are one group
            try:
                started.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
