"""What state-space mixers share: the cache of a recurrence, and what they refuse.

A mixer stands where attention does in a block: `forward(x, source, causal, padding, cache)`, (B, T, C) ->
(B, T, C). The cache of a recurrence has one size however many tokens came before.
"""

from typing import Self

from torch import Tensor


class StateCache:
    """What a recurrence keeps of earlier tokens.

    Args:
        state: (B, ...), after the last token.
        tail: (B, ..., K − 1), last inputs of a convolution that stands before it; None without one.

    Attributes:
        length: tokens so far.
    """

    def __init__(self, state: Tensor, tail: Tensor | None = None, length: int = 0) -> None:
        self.state, self.tail, self.length = state, tail, length

    def advance(self, tokens: int, state: Tensor, tail: Tensor | None = None) -> None:
        """Keep what stands after that many more tokens."""
        self.state, self.tail, self.length = state, tail, self.length + tokens

    @property
    def nbytes(self) -> int:
        """Of memory, which does not grow."""
        return self.state.nbytes + (0 if self.tail is None else self.tail.nbytes)

    def select(self, rows: Tensor) -> Self:
        """A cache of its own for these rows (B',) of the batch; a row may be taken more than once."""
        tail = None if self.tail is None else self.tail[rows]
        return type(self)(self.state[rows], tail, self.length)


def require_causal(source: Tensor | None, causal: bool) -> None:
    """
    Raises:
        ValueError: a recurrence is asked for what it cannot do.
    """
    if source is not None:
        raise ValueError("A state-space mixer reads its own tokens: it takes no source.")
    if not causal:
        raise ValueError("A state-space mixer reads from the left: leave causal on.")


def tokens_alone(padding: Tensor, x: Tensor) -> Tensor:
    """Factors (B, T, 1) that are 0 at padding (B, S) and 1 at tokens, for the last T of the S positions."""
    behind = padding[:, padding.shape[1] - x.shape[1] :]
    return (~behind)[..., None].to(x.dtype)
