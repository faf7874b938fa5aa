"""Trace: the run of an algorithm as a sequence of steps that can be played, scrubbed and replayed.

A step has a caption, the values to draw, and the equation with this step's numbers in it.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Step:
    """Step of an algorithm.

    Attributes:
        caption: one sentence, what happens here.
        values: name -> tensor, number or text; what a figure draws.
        equation: LaTeX with this step's numbers in it; "" where there is none.
    """

    caption: str
    values: Mapping[str, Any]
    equation: str = ""


@dataclass(frozen=True)
class Trace:
    """A finished run.

    Attributes:
        steps: in order of time.
        result: what the algorithm returns.
    """

    steps: list[Step] = field(default_factory=list)
    result: Any = None

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Step:
        return self.steps[index]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def digest(self) -> str:
        """SHA-256 over captions, equations and the bits of all values: equal iff the runs were."""
        sha = hashlib.sha256()
        for step in self.steps:
            sha.update(f"{step.caption}\0{step.equation}\0".encode())
            for name in sorted(step.values):
                value = step.values[name]
                if isinstance(value, torch.Tensor):
                    data = value.detach().cpu().contiguous()
                    sha.update(f"{name}:{data.dtype}:{tuple(data.shape)}\0".encode())
                    sha.update(data.numpy().tobytes())
                else:
                    sha.update(f"{name}={value!r}\0".encode())
        return sha.hexdigest()
