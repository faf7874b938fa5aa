"""Processes of their own for the price of a fork: what they run was imported once, by the server of all.

A start of `python -m lab` takes seconds, nearly all of them for imports; a fork of a process that has
imported everything and trained nothing can be killed, and be one of several, as well as a program.
"""

import importlib
import multiprocessing
import os
import socket
import sys
import types
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    [__name__, "lab.training.run", "datamodules.digits", "modules.autoregressive.made"]
)


def target(function: str, args: tuple, environment: dict[str, str], log: str) -> None:
    """`module:name` with its output in a file; what it returns is the exit status."""
    with open(log, "a") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.environ.update(environment)
    module, name = function.split(":")
    called: Callable[..., Any] = getattr(importlib.import_module(module), name)
    status = called(*args)
    sys.stdout.flush()
    sys.exit(status)


def start(function: str, *args: Any, log: Path, **environment: str) -> multiprocessing.process.BaseProcess:
    """A function of a module ("module:name") in a process of its own, with some variables of its own."""
    process = SERVER.Process(target=target, args=(function, args, environment, str(log)))
    # a page that a test has opened stands as __main__, and would be run again in the new process
    with unittest.mock.patch.dict(sys.modules, {"__main__": types.ModuleType("__main__")}):
        process.start()
    return process


def lab(*args: str, runs: Path) -> multiprocessing.process.BaseProcess:
    """`lab …`; its output is in `<runs>.log`."""
    return start("lab.__main__:main", list(args), log=runs.with_suffix(".log"), LECTERN_RUNS=str(runs))


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def ranks(count: int, *args: str, runs: Path) -> list[int | None]:
    """`lab …` as each of `count` processes that know of each other, and their exit statuses; None of one that
    hangs, which is killed."""
    job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "TORCHELASTIC_RUN_ID": "one"}
    job |= {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "GROUP_RANK": "0"}
    processes = [
        start("lab.__main__:main", list(args), log=runs.with_suffix(f".{rank}.log"),
              LECTERN_RUNS=str(runs), RANK=str(rank), LOCAL_RANK=str(rank), **job)
        for rank in range(count)
    ]  # fmt: skip
    for process in processes:
        process.join(900)  # on a busy machine all take their time
    done = [process.exitcode for process in processes]
    for process in processes:
        process.kill()
    return done
