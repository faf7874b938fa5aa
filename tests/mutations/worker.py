"""A process that runs tests again and again, each time in a fork, so that libraries are imported once.

    python tests/mutations/worker.py torch lightning …

imports the libraries that are named, then reads requests, a JSON object a line: {"tests": node ids, "first":
whether to stop at the first failure, "seconds": limit}. Each is answered by a line: {"code": pytest's exit
code or null for a run beyond the limit, "passed": count, "failed": node ids, "broken": what could not be
collected, "cpu": processor seconds, "tail": the end of the output}. It works in the folder that it is started
in, whose code it imports in the forks alone.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


class Outcome:
    """A plugin of pytest that keeps what passed, what failed and what could not be collected."""

    def __init__(self) -> None:
        self.passed, self.failed, self.broken = 0, list[str](), list[str]()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1


def child(request: dict[str, Any], output: Path, answer: Path) -> None:
    """Run the tests in this process, a fork, and end it."""
    os.setsid()  # a group of its own, that can be ended as one
    with open(output, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    import pytest

    outcome = Outcome()
    stop = ["-x"] if request["first"] else []
    code = pytest.main(["-q", "-p", "no:cacheprovider", *stop, *request["tests"]], plugins=[outcome])
    answer.write_text(json.dumps({"code": int(code), **vars(outcome)}), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


def run(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run the tests in a fork and wait for them."""
    output, answer = folder / "output.txt", folder / "answer.json"
    answer.unlink(missing_ok=True)
    pid = os.fork()
    if not pid:
        try:
            child(request, output, answer)
        finally:
            os._exit(1)
    end = time.monotonic() + request["seconds"]
    ended, _, usage = os.wait4(pid, os.WNOHANG)
    while not ended and time.monotonic() < end:
        time.sleep(0.05)
        ended, _, usage = os.wait4(pid, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # and what its tests have left behind
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        _, _, usage = os.wait4(pid, 0)
    result: dict[str, Any] = {"code": None, "passed": 0, "failed": [], "broken": []}
    if ended and answer.is_file():
        result = json.loads(answer.read_text(encoding="utf-8"))
    elif ended:
        result["code"] = -1  # the process itself has died
    tail = output.read_text(encoding="utf-8", errors="replace")[-2000:] if output.is_file() else ""
    return result | {"cpu": round(usage.ru_utime + usage.ru_stime, 2), "tail": tail}


def main(libraries: list[str]) -> None:
    sys.path[0] = os.getcwd()  # in place of this file's folder
    for name in libraries:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what anybody prints is no answer
    with tempfile.TemporaryDirectory() as folder:
        for line in requests:
            print(json.dumps(run(json.loads(line), Path(folder))), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
