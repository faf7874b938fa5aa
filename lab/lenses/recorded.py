"""Games that were played before, look by look: a scene of a lecture waits for nobody.

A recording is a file of tensors (F, …), one for each field of the looks. Points, surfaces and arrows are
kept in half precision, as they are drawn; counts and measures in double. On another processor a game of two
networks takes another course, so that what a page says of a recording is computed from the recording.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from lab import tensorfile

FILMS = Path(__file__).parents[1] / "films"
L = TypeVar("L")


def save(name: str, looks: Sequence[Any]) -> Path:
    """Write the looks of a game, all of one dataclass, under a name."""
    place = FILMS / f"{name}.safetensors"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(tensorfile.save({f.name: column(looks, f.name) for f in fields(looks[0])}))
    return place


def column(looks: Sequence[Any], name: str) -> Tensor:
    """One field of all looks."""
    values = [getattr(one, name) for one in looks]
    if isinstance(values[0], Tensor):
        return torch.stack(values).half()
    return torch.tensor(values, dtype=torch.int64 if isinstance(values[0], int) else torch.float64)


def load(name: str, kind: type[L]) -> list[L]:
    """The looks that were saved under a name."""
    columns: Mapping[str, Tensor] = tensorfile.load((FILMS / f"{name}.safetensors").read_bytes())
    rows = zip(*(columns[f.name] for f in fields(kind)), strict=True)  # type: ignore[arg-type]
    return [kind(*(v.item() if v.ndim == 0 else v.float() for v in row)) for row in rows]
