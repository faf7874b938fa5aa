"""Whose turn a long look is at LEVEL=all: what changed of late, and a third of the rest.

There are two hundred rooms and three hundred experiments, and time for some long looks at each commit. What
one of them breaks by itself is seen when its files change; what all share is seen in a third of them as well
as in all, in another third with every twenty commits. `make soak` looks at all of them.
"""

import math
import subprocess
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
THIRDS, OF_LATE = 3, 20  # commits


def asked(*question: str) -> list[str]:
    """What git answers, line by line; nothing where it is silent."""
    with suppress(OSError, subprocess.CalledProcessError):
        answer = subprocess.run(["git", *question], cwd=ROOT, capture_output=True, text=True, check=True)
        return answer.stdout.splitlines()
    return []


@cache
def turn() -> int:
    """How many times twenty commits were begun so far; 0 where git is silent."""
    return math.ceil(int("".join(asked("rev-list", "--count", "HEAD")) or 0) / OF_LATE)


def changed(since: str) -> list[str]:
    """Files that are others than then, or new; none where git is silent."""
    return asked("diff", "--name-only", since) + asked("ls-files", "--others", "--exclude-standard")


@cache
def of_late() -> list[str]:
    return changed(f"HEAD~{OF_LATE}")


def due(name: str, turn: int) -> bool:
    """Whether it is in the third whose turn it is."""
    return (zlib.crc32(name.encode()) + turn) % THIRDS == 0


def within(path: str, files: Iterable[str]) -> bool:
    """Whether one of the files is this one, with or without its ".py", or lies in this folder."""
    return any(file == f"{path}.py" or f"{file}/".startswith(f"{path}/") for file in files)


def in_turn(*paths: str) -> bool:
    """Whether what lies in these files and folders is looked at for long now; the first one names it."""
    return due(paths[0], turn()) or any(within(path, of_late()) for path in paths)


def in_turns(names: Iterable[str], path: Callable[[str], str]) -> list[Any]:
    """Parameters of a test: those whose turn it is not are left to the soak."""
    return [pytest.param(name, marks=[] if in_turn(path(name)) else pytest.mark.soak) for name in names]
