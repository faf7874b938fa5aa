"""Runs of a bench in a file, one a line: appended as soon as they have ended, so that none is done twice.

A plan lists trainings by the first fields of their runs, such as (data, network, seed).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
P = TypeVar("P", bound=tuple[Any, ...])
D = TypeVar("D", bound="DataclassInstance")
RESULTS = Path(__file__).parent / "results"


def read(path: Path, kind: Callable[..., T]) -> list[T]:
    """The runs of a file, each a dataclass `kind`, in the order in which they ended; none without a file."""
    if not path.is_file():
        return []
    return [kind(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def append(run: "DataclassInstance", path: Path) -> None:
    """Write a run behind the others."""
    fields: dict[str, Any] = asdict(run)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def kept(plan: Sequence[tuple[Any, ...]], path: Path, kind: Callable[..., D]) -> list[D]:
    """The runs of a file in the order of a plan."""
    places = {entry: place for place, entry in enumerate(plan)}
    size = len(plan[0])
    return sorted(read(path, kind), key=lambda run: places[astuple(run)[:size]])


def missing(plan: Sequence[P], path: Path, kind: Callable[..., "DataclassInstance"]) -> list[P]:
    """What of a plan the file does not have."""
    there = {astuple(run)[: len(plan[0])] for run in read(path, kind)}
    return [entry for entry in plan if entry not in there]
