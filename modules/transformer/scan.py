"""Scan of a linear recurrence: by a loop, by doubling, or by chunks; all give the same.

    h_t = a_t ⊙ h_{t−1} + b_t
    (a, b) ∘ (a', b') = (a' a, a' b + b'),    first (a, b), then (a', b')

A step is an affine map of the state, and ∘ composes two of them. It is associative, so that T steps can be
joined in any order of brackets; it is not commutative. Doubling (Hillis–Steele) joins every element with the
one 2^r places before it in round r = 0, 1, …: ⌈log₂ T⌉ rounds, T log T operations. Chunks of about √T steps
are looped over side by side, then their ends one after the other: 2√T steps, 3T operations. The loop has T
steps and T operations.

The gradient is a scan too, from the end: with g_t = ∂L/∂h_t without its later steps,

    db_t = g_t + a_{t+1} ⊙ db_{t+1},    da_t = db_t ⊙ h_{t−1}

Shapes: a, b and h (B, T, ...), real.

References: Hillis, Steele 1986, Data parallel algorithms; Blelloch 1990, Prefix sums and their applications;
Gu, Dao 2023, arXiv:2312.00752 (in Mamba); [LLM] part 4.
"""

import math
from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import require_one_of

Method = Literal["loop", "doubling", "chunked"]
Pair = tuple[Tensor, Tensor]


def combine(first: Pair, then: Pair) -> Pair:
    """(a, b) ∘ (a', b') = (a' a, a' b + b'): the map h -> a h + b, and after it h -> a' h + b'."""
    (a, b), (a_then, b_then) = first, then
    return a_then * a, a_then * b + b_then


def rounds(a: Tensor, b: Tensor) -> Iterator[Pair]:
    """Elements (B, T, ...) after each of the ⌈log₂ T⌉ rounds of doubling: after round r, element t is the
    composition of the steps t − 2^{r+1} + 1 to t, as far as there are any."""
    reach = 1
    while reach < a.shape[1]:
        joined = combine((a[:, :-reach], b[:, :-reach]), (a[:, reach:], b[:, reach:]))
        a, b = (torch.cat([old[:, :reach], new], 1) for old, new in zip((a, b), joined, strict=True))
        yield a, b
        reach *= 2


def by_loop(a: Tensor, b: Tensor) -> Tensor:
    """T steps, one after the other."""
    h = torch.empty_like(b)
    state = torch.zeros_like(b[:, 0])
    for t in range(b.shape[1]):
        state = torch.addcmul(b[:, t], a[:, t], state)
        h[:, t] = state
    return h


def by_doubling(a: Tensor, b: Tensor) -> Tensor:
    """⌈log₂ T⌉ rounds, all steps at once."""
    for a, b in rounds(a, b):  # noqa: B007, B020  # the last round is the result
        pass
    return b


def by_chunks(a: Tensor, b: Tensor, chunk: int | None = None) -> Tensor:
    """Chunks side by side, then their ends: about √T + √T steps."""
    length = b.shape[1]
    size = chunk or max(1, math.isqrt(length))
    spare = -length % size
    if spare:  # steps behind the last, which nobody reads
        a, b = (torch.cat([x, x.new_zeros(len(x), spare, *x.shape[2:])], 1) for x in (a, b))
    a, b = (x.unflatten(1, (-1, size)) for x in (a, b))  # (B, T, ...) -> (B, chunks, size, ...)
    inside, decay = torch.empty_like(b), torch.empty_like(a)
    h, product = torch.zeros_like(b[:, :, 0]), torch.ones_like(a[:, :, 0])
    for t in range(size):
        h, product = torch.addcmul(b[:, :, t], a[:, :, t], h), product * a[:, :, t]
        inside[:, :, t], decay[:, :, t] = h, product
    ends = by_loop(decay[:, :, -1], inside[:, :, -1])  # (B, chunks, ...): the state after each chunk
    before = torch.cat([torch.zeros_like(ends[:, :1]), ends[:, :-1]], 1)
    return torch.addcmul(inside, decay, before[:, :, None]).flatten(1, 2)[:, :length]


ALGORITHMS = {"loop": by_loop, "doubling": by_doubling, "chunked": by_chunks}


class LinearScan(torch.autograd.Function):
    """The scan with its gradient, which is a scan from the end by the same method."""

    @staticmethod
    def forward(a: Tensor, b: Tensor, method: Method) -> Tensor:
        return ALGORITHMS[method](a, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Method], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0], output)
        ctx.method = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        a, h = ctx.saved_tensors
        (grad,) = grads
        nothing = torch.zeros_like(a[:, :1])
        after = torch.cat([a[:, 1:], nothing], 1)  # a_{t+1}
        db = LinearScan.apply(after.flip(1), grad.flip(1), ctx.method).flip(1)  # type: ignore[no-untyped-call]
        return db * torch.cat([nothing, h[:, :-1]], 1), db, None


SHORT, WIDE = 2**14, 2048  # numbers in all, and in one step, where a CPU changes the method: `lab bench scan`


def fastest(length: int, width: int, device: str = "cpu") -> Method:
    """The method that takes least time, of T steps of `width` numbers each, all rows of a batch together.

    A CPU is bound by calls where there is little to compute (doubling has the fewest) and by arithmetic where
    there is much (the loop has the least): wide states are looped over. Other devices compute a whole round
    at once; chunks read the numbers fewer times than the many rounds of a long sequence.
    """
    if device != "cpu":
        return "doubling" if length <= 64 else "chunked"
    if length * width <= SHORT:
        return "doubling"
    return "chunked" if width < WIDE else "loop"


def scan(a: Tensor, b: Tensor, initial: Tensor | None = None, method: Method | None = None) -> Tensor:
    """States h_1 … h_T of h_t = a_t ⊙ h_{t−1} + b_t, (B, T, ...).

    Args:
        a, b: (B, T, ...), or shapes that broadcast to one.
        initial: h_0 (B, ...); None is 0.
        method: "loop", "doubling" or "chunked"; None takes what `fastest` says.

    Raises:
        ValueError: there is no such method.

    Example:
        >>> scan(torch.full((1, 4), 0.5), torch.ones(1, 4))
        tensor([[1.0000, 1.5000, 1.7500, 1.8750]])
    """
    a, b = torch.broadcast_tensors(a, b)
    if method is None:
        method = fastest(b.shape[1], b[:, :1].numel(), b.device.type)
    require_one_of(Method, method=method)
    if initial is not None:
        b = torch.cat([b[:, :1] + a[:, :1] * initial[:, None], b[:, 1:]], 1)
    if b.shape[1] < 2:
        return b
    return LinearScan.apply(a, b, method)  # type: ignore[no-untyped-call, no-any-return]
