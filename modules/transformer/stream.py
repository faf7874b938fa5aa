"""The residual stream as a lens sees it: what each sublayer adds, and what lies between two blocks.

    x_out = x_in + Σ over the block's sublayers of what they add

Within `record_stream` every block reports these tensors by name, and may be told to put another in place of
one of them: a patch. The blocks of all models report in the same words, whatever mixes their tokens:

    "in"            the stream as it enters the block
    "mixer"         what attention, or what stands for it, adds; "after mixer" is the stream behind it
    "cross"         what attention to a source adds; "after cross"
    "feedforward"   what the feed-forward layer adds; "after feedforward"
    "out"           the stream as it leaves the block

Shapes: `B` batch, `T` time, `C` channels; every tensor is (B, T, C).

References: Elhage et al. 2021, A mathematical framework for transformer circuits; Meng et al. 2022,
arXiv:2202.05262 (patching); [GM] §1.6.4, [LLM] part 4.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from torch import Tensor, nn

Point = tuple[nn.Module, str]  # a block, and the name of a tensor in it


@dataclass
class StreamRecorder:
    """Records the residual stream, and may edit it.

    Attributes:
        edits: point -> what is put in its place, computed of what was there.
        values: point -> what was there, after the edit.
    """

    edits: Mapping[Point, Callable[[Tensor], Tensor]]
    values: dict[Point, Tensor] = field(default_factory=dict)


# One variable per thread, as of attention.
_RECORDER: ContextVar[StreamRecorder | None] = ContextVar("stream", default=None)


@contextmanager
def record_stream(
    edits: Mapping[Point, Callable[[Tensor], Tensor]] | None = None,
) -> Iterator[StreamRecorder]:
    """Within this block of code every block of a model reports its stream."""
    recorder = StreamRecorder(edits or {})
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


def passed(block: nn.Module, name: str, x: Tensor) -> Tensor:
    """The tensor itself, or what a recorder puts in its place. Called by a block at each of its points."""
    recorder = _RECORDER.get()
    if recorder is None:
        return x
    edit = recorder.edits.get((block, name))
    if edit is not None:
        x = edit(x)
    recorder.values[block, name] = x
    return x
