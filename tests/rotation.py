"""Whose turn a long look is at LEVEL=all: rooms that changed of late, and a third of the others.

There are about two hundred rooms, and time for a few long looks at each commit. What a room may break by
itself is looked at when its files change; what all share is seen in a third of them as well as in all, in
another third with each commit. `make soak` looks at all of them.
"""

import subprocess
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

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
    """The number of commits so far; 0 where git is silent."""
    return int("".join(asked("rev-list", "--count", "HEAD")) or 0)


def changed(since: str) -> set[str]:
    """Rooms, "flow/coupling", of which a file is another than then or is new; none where git is silent."""
    files = asked("diff", "--name-only", since) + asked("ls-files", "--others", "--exclude-standard")
    return {"/".join(parts[1:3]) for file in files if (parts := file.split("/"))[0] == "pages"}


@cache
def of_late() -> set[str]:
    return changed(f"HEAD~{OF_LATE}")


def due(room: str, turn: int) -> bool:
    """Whether a room is in the third whose turn it is."""
    return (zlib.crc32(room.encode()) + turn) % THIRDS == 0


def in_turn(room: str) -> bool:
    """Whether a room, "flow/coupling", is looked at for long now."""
    return due(room, turn()) or room in of_late()
