"""Games that were played before, look by look: a scene of a lecture waits for nobody.

A recording is a file of tensors (F, …), one for each field of the looks, or for each entry of the frames of
`lab.lenses.rewind`. Points, surfaces and arrows are kept in half precision, as they are drawn; counts and
measures in full. On another processor a game of two networks takes another course, so that what a page says
of a recording is computed from the recording.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from lab import tensorfile
from lab.lenses import rewind

FILMS = Path(__file__).parents[1] / "films"
L = TypeVar("L")


def save(name: str, looks: Sequence[Any]) -> Path:
    """Write the looks of a game, all of one dataclass, under a name."""
    return write(name, {f.name: column(looks, f.name) for f in fields(looks[0])})


def save_frames(name: str, frames: Sequence[rewind.Frame]) -> Path:
    """Write the frames of a training that can be wound back under a name."""
    columns = {key: torch.from_numpy(rewind.stacked(frames, key)) for key in frames[0]}
    return write(name, {key: v.half() if v.ndim > 2 and v.is_floating_point() else v
                        for key, v in columns.items()})  # fmt: skip


def write(name: str, columns: Mapping[str, Tensor]) -> Path:
    place = FILMS / f"{name}.safetensors"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(tensorfile.save(columns))
    return place


def column(looks: Sequence[Any], name: str) -> Tensor:
    """One field of all looks."""
    values = [getattr(one, name) for one in looks]
    if isinstance(values[0], Tensor):
        return torch.stack(values).half()
    return torch.tensor(values, dtype=torch.int64 if isinstance(values[0], int) else torch.float64)


def load(name: str, kind: type[L]) -> list[L]:
    """The looks that were saved under a name."""
    columns = read(name)
    rows = zip(*(columns[f.name] for f in fields(kind)), strict=True)  # type: ignore[arg-type]
    return [kind(*(v.item() if v.ndim == 0 else v.float() for v in row)) for row in rows]


def load_frames(name: str) -> list[rewind.Frame]:
    """The frames that were saved under a name."""
    columns = {key: (v.float() if v.dtype == torch.half else v).numpy() for key, v in read(name).items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def read(name: str) -> Mapping[str, Tensor]:
    return tensorfile.load((FILMS / f"{name}.safetensors").read_bytes())
