"""Runs of a bench in a file, one a line: appended as soon as they have ended, so that none is done twice."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
RESULTS = Path(__file__).parent / "results"


def read(path: Path, kind: type[T]) -> list[T]:
    """The runs of a file, each a dataclass `kind`, in the order in which they ended; none without a file."""
    if not path.is_file():
        return []
    return [kind(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def append(run: "DataclassInstance", path: Path) -> None:
    """Write a run behind the others."""
    fields: dict[str, Any] = asdict(run)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")
