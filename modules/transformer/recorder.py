"""What attention layers report to a lens: the weights that they used, and heads that are switched off.

When nobody records, a layer asks `current_recorder` once and stores nothing.

Shapes: `B` batch, `H` heads, `T` queries, `S` keys, `D` features of a query and of a key, `E` of a value.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from torch import Tensor, nn


@dataclass(frozen=True)
class AttentionRecord:
    """Record of one call of an attention layer.

    Attributes:
        weights: (B, H, T, S), exactly those that mixed the values.
        queries, keys, values: (B, H, T or S, D or E) as they met (rotated, where positions rotate; keys and
            values repeated, where heads share them); None where a layer has none.
        scale: what multiplied q·k.
        bias: what was added to the scores, broadcastable to (B, H, T, S).
    """

    weights: Tensor
    queries: Tensor | None = None
    keys: Tensor | None = None
    values: Tensor | None = None
    scale: float = 1.0
    bias: Tensor | None = None


@dataclass
class AttentionRecorder:
    """Records attention layers, and may switch heads off.

    Attributes:
        heads: layer -> (H,) or (B, H) factors on the heads' outputs; 0 switches a head off.
        store: keep what the layers used; one entry per call, in order.
    """

    heads: Mapping[nn.Module, Tensor] = field(default_factory=dict)
    store: bool = True
    calls: dict[nn.Module, list[AttentionRecord]] = field(default_factory=dict)

    def record(self, layer: nn.Module, attention_record: AttentionRecord) -> None:
        """Called by a layer at each call."""
        if self.store:
            self.calls.setdefault(layer, []).append(attention_record)


# One variable per thread: a model shared by several viewers is recorded by each of them alone.
_RECORDER: ContextVar[AttentionRecorder | None] = ContextVar("recorder", default=None)


def current_recorder() -> AttentionRecorder | None:
    """Recorder of attention in this thread, if there is one."""
    return _RECORDER.get()


@contextmanager
def record_attention(
    heads: Mapping[nn.Module, Tensor] | None = None, store: bool = True
) -> Iterator[AttentionRecorder]:
    """Within this block every attention layer reports what it used.

    Example:
        >>> import torch
        >>> from modules.transformer.attention import Attention
        >>> layer = Attention(8, heads=2)
        >>> with record_attention() as seen:
        ...     y = layer(torch.randn(1, 5, 8), causal=True)
        >>> seen.calls[layer][0].weights.shape
        torch.Size([1, 2, 5, 5])
    """
    recorder = AttentionRecorder(heads or {}, store)
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


def switched(layer: nn.Module, y: Tensor) -> Tensor:
    """Heads' outputs (B, H, T, E) times the factors that a recorder has for them; 0 switches a head off."""
    recorder = current_recorder()
    if recorder is None or layer not in recorder.heads:
        return y
    return y * recorder.heads[layer].to(y)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
