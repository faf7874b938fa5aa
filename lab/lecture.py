"""Lectures: scenes across pages in order, with notes and minutes; one YAML each in `lab/lectures`.

    title: Statistics of language
    scenes:
      - page: language-ngrams
        scene: Five characters     # a scene of that page, by its name; none is the page as it opens
        state: {n: 5}              # controls by key, on top of the scene
        says: What the lecturer says here.
        minutes: 3

A link names the lecture and the place in it (`?lecture=language&at=3`); the page takes its state from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from lab.errors import UserError

LECTURES = Path(__file__).parent / "lectures"
FIELDS = {"page", "scene", "state", "says", "minutes"}


@dataclass(frozen=True)
class Entry:
    """One scene of a lecture: `page` is its address, `scene` its name there, `state` what differs from it."""

    page: str
    says: str
    minutes: float
    scene: str | None = None
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Lecture:
    name: str
    title: str
    entries: tuple[Entry, ...]

    @property
    def minutes(self) -> float:
        return sum(entry.minutes for entry in self.entries)

    def link(self, at: int) -> str:
        """The address of the entry `at`, below the dashboard's."""
        return f"{self.entries[at].page}?lecture={self.name}&at={at + 1}"


def pages() -> set[str]:
    """The addresses of all pages that scenes may stand on."""
    result = (Path(__file__).parents[1] / "pages").glob("*/*/page.py")
    return {f"{path.parts[-3]}-{path.parts[-2]}".replace("_", "-") for path in result}


def names() -> list[str]:
    """All lectures, by name."""
    return sorted(path.stem for path in LECTURES.glob("*.yaml"))


def read(name: str) -> Lecture:
    """The lecture of this name.

    Raises:
        UserError: there is none, or its file is wrong; the sentence names the file and the entry.
    """
    if name not in names():
        raise UserError(f"There is no lecture {name[:40]!r}: choose one of {', '.join(names())}.")
    path = LECTURES / f"{name}.yaml"
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, stamp: int) -> Lecture:
    try:
        text = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise UserError(f"{path.name} is no YAML: {error}") from None
    if not isinstance(text, dict) or not isinstance(text.get("scenes"), list) or not text["scenes"]:
        raise UserError(f"{path.name} needs a title and a list of scenes.")
    entries = tuple(entry(path.name, number, item) for number, item in enumerate(text["scenes"], 1))
    return Lecture(path.stem, str(text.get("title") or path.stem), entries)


def entry(file: str, number: int, said: Any) -> Entry:
    """An entry as its file says it.

    Raises:
        UserError: something is missing, unknown, or of another kind.
    """
    where = f"{file}, scene {number}"
    if not isinstance(said, dict):
        raise UserError(f"{where}: write page, scene, says and minutes.")
    if unknown := set(said) - FIELDS:
        raise UserError(
            f"{where}: {', '.join(sorted(map(str, unknown)))} is none of {', '.join(sorted(FIELDS))}."
        )
    state, minutes = said.get("state") or {}, said.get("minutes")
    if not isinstance(said.get("page"), str) or not isinstance(said.get("says"), str):
        raise UserError(f"{where}: page and says are texts.")
    if not isinstance(state, dict):
        raise UserError(f"{where}: state names controls and their values.")
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= 60:
        raise UserError(f"{where}: minutes is a number above 0, at most 60.")
    scene = said.get("scene")
    return Entry(said["page"], said["says"].strip(), minutes, None if scene is None else str(scene), state)
