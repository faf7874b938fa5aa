"""Interaction matrices: pairs of a pattern, and the fewest layers through which each token hears of each.

    A_ij = 1 where token i looks at token j;   after L layers i has heard of j where (A^L)_ij > 0

A token carries what it has heard of on to the next layer (the residual stream), also where its pattern leaves
itself out. Of cross-attention the columns are another text, of which one layer hears all.

Shapes: N tokens, or N queries and M tokens of the source.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lab.errors import UserError
from modules.transformer import sparse
from pages.transformer.interaction_matrices.room import (
    BLOCKS,
    CROSS,
    DECODER,
    ENCODER,
    GLOBAL,
    OWN,
    PREFIX,
    RANDOM,
    SELECTED,
    STRIDED,
)

SOURCE = 8  # queries of cross-attention
OPTIONS = ["of all that are there", "of half or more, but not of all", "of fewer than half"]


@dataclass(frozen=True)
class Study:
    """
    Attributes:
        pattern: (T, S) bool.
        needed: (T, S), fewest layers until a row hears of a column; NaN where it never does.
        there: tokens (columns) that are no padding.
        depth: layers until another one adds nothing.
    """

    pattern: np.ndarray
    needed: np.ndarray
    there: int
    depth: int

    def heard(self, layers: int) -> np.ndarray:
        """(T, S) bool, after so many layers."""
        return np.nan_to_num(self.needed, nan=np.inf) <= layers

    @property
    def last(self) -> int:
        """The last row that is no padding."""
        rows = np.flatnonzero(self.pattern.any(1))
        return int(rows[-1]) if len(rows) else 0

    def of_last(self, layers: int) -> int:
        """Tokens that it has heard of after so many layers."""
        return int(self.heard(layers)[self.last].sum())


def read_taps(text: str) -> tuple[int, ...]:
    """Offsets of a text.

    Raises:
        UserError: a word is no whole number, or there is none.
    """
    words = re.split(r"[\s,;]+", text.strip().replace("−", "-"))
    try:
        taps = tuple(dict.fromkeys(int(word) for word in words))
    except ValueError:
        wrong = next((word for word in words if not re.fullmatch(r"[+-]?\d{1,9}", word)), "")
        said = f"“{wrong}” is no whole number" if wrong else "There is no tap"
        raise UserError(f"{said}: write offsets such as 0 -1 -5.") from None
    if max(map(abs, taps)) > 99:
        raise UserError("A tap lies beyond 99 tokens: write offsets such as 0 -1 -5.")
    return taps


def matrix(
    pattern: str, n: int, causal: bool, radius: int, dilation: int, number: int, taps: Sequence[int],
    seed: int = 0,
) -> Tensor:  # fmt: skip
    """The pattern without padding: (N, N), of cross-attention (SOURCE, N)."""
    if pattern == ENCODER:
        return sparse.full(n)
    if pattern == DECODER:
        return sparse.causal(n)
    if pattern == PREFIX:
        return sparse.prefix(n, min(number, n))
    if pattern == CROSS:
        return sparse.full(n)[:SOURCE]
    if pattern == BLOCKS:
        found = sparse.blocks(n, number)
    elif pattern == OWN:
        found = torch.stack([sparse.offsets(n) == -tap for tap in taps]).any(0)
    else:
        found = sparse.window(n, radius, dilation)
        if pattern == SELECTED:
            found = found | sparse.selected(n, number)
        elif pattern == GLOBAL:
            found = found | sparse.hub(n, number)
        elif pattern == STRIDED:
            found = found | sparse.strided(n, number)
        elif pattern == RANDOM:
            generator = torch.Generator().manual_seed(seed)
            found = found | sparse.random(n, min(number, n), generator)
    return found & sparse.causal(n) if causal else found


def study(
    pattern: str, n: int, causal: bool, radius: int, dilation: int, number: int, padding: int,
    taps: Sequence[int], seed: int,
) -> Study:  # fmt: skip
    """Pairs and reach; the last `padding` tokens are looked at by nobody, and look at nobody."""
    A = matrix(pattern, n, causal, radius, dilation, number, taps, seed)
    A[:, n - padding :] = False
    if pattern == CROSS:
        return Study(A.numpy(), np.where(A.numpy(), 1.0, np.nan), n - padding, 1)
    A[n - padding :] = False
    there = torch.arange(n) < n - padding
    own = torch.eye(n, dtype=torch.bool) & there
    step = (A | own).float()
    needed, heard, layers = torch.full((n, n), torch.nan), own, 0
    needed[own] = 0.0
    while not torch.equal(after := (heard.float() @ step) > 0, heard):
        layers += 1
        needed[after & ~heard] = float(layers)
        heard = after
    return Study(A.numpy(), needed.numpy(), n - padding, max(layers, 1))


def captions(one: Study) -> list[str]:
    """What the last token has heard of after each number of layers."""
    who = f"token {one.last + 1}"
    return [
        f"After {L} layer{'s' * (L != 1)} {who} has heard of {one.of_last(L)} of {one.there} tokens"
        + (": another layer adds nothing." if one.depth == L else ".")
        for L in range(one.depth + 1)
    ]


def equations(one: Study) -> list[str]:
    """Counts of pairs after each number of layers, LaTeX."""
    T, S = one.pattern.shape
    pairs, of = int(one.pattern.sum()), "N^2" if T == S else "N M"
    share = f"{100 * pairs / (T * S):.0f}"
    return [
        rf"\#\{{A_{{ij}} = 1\}} = {pairs} = {share}\% \cdot {of},"
        rf"\quad \#\{{(A^{{L}})_{{ij}} > 0\}} = {int(one.heard(L).sum())} \;\; (L = {L})"
        for L in range(one.depth + 1)
    ]


def answer(one: Study) -> str:
    """The one of OPTIONS that is so."""
    share = one.of_last(one.depth) / max(one.there, 1)
    return OPTIONS[0] if share == 1 else OPTIONS[1] if share >= 0.5 else OPTIONS[2]
