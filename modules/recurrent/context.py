"""Context: what a decoder is told of its source at step t, by one interface.

    c_t, γ_t = context(s_{t−1}, memory, mask),    c_t = Σ_j γ_tj z_j,    j = 1 … S

    fixed      γ the same at every step: on the last state, on both ends, uniform, learned
    soft       γ_tj = softmax_j score(s_{t−1}, z_j)

The state is that before the step: c_t enters s_t, so it cannot depend on it ([DGM] has c_t depend on s_t on
one slide; its sum index is i under terms in j, and its states z_0 to z_S are attended from 1 on). Uniform
attention is a fixed context, the mean. `memory` is what depends on the source alone, computed once.

Shapes: states s (B, H); source states z (B, S, Z); mask (B, S), True where there is a z_j; contexts c (B, W);
weights γ (B, S), at least 0, with sum 1, exactly 0 where the mask is False.

References: Sutskever, Vinyals, Le 2014, arXiv:1409.3215 (fixed, the last state); Cho et al. 2014,
arXiv:1406.1078 (fixed, at every step); Bahdanau, Cho, Bengio 2015, arXiv:1409.0473 (soft); [DGM] deck 1,
time-dependent context; [GM] 1.6.3.
"""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.attention import masked_softmax
from modules.transformer.source_attention import SourceAttention

Memory = tuple[Tensor, ...]  # each with a row for each source: memory[k][rows] is that of those rows

Score = Literal["additive", "dot", "scaled"]
Pooling = Literal["last", "first", "ends", "mean", "max", "learned"]
SCORES: tuple[Score, ...] = get_args(Score)
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


class Context(nn.Module):
    """Base of the contexts.

    Attributes:
        width: W, of c.
    """

    width: int

    def remember(self, z: Tensor, mask: Tensor) -> Memory:
        """What is kept of source states z (B, S, Z) for all steps."""
        raise NotImplementedError

    def forward(self, state: Tensor, memory: Memory, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Context and weights of a step, (B, W) and (B, S), by the state before it (B, H)."""
        raise NotImplementedError


class FixedContext(Context):
    """Fixed context c = h(z_1 … z_S): the same at every step, whatever the state is.

    Args:
        width: Z. pooling:
            "last": z_S; "first": z_1, which is read last where the source is read backwards;
            "ends": the state at the end of either way, [h→_S ; h←_1];
            "mean": Σ_j z_j / S, uniform attention;
            "max": of each component, γ_j being the share of components whose largest is that of z_j;
            "learned": γ = softmax_j(wᵀ z_j).

    Raises:
        ValueError: the pooling is none of these, or "ends" is asked of an odd width.
    """

    def __init__(self, width: int, pooling: Pooling = "last") -> None:
        require(1, width=width)
        if pooling not in POOLINGS:
            raise ValueError(f"pooling is {pooling!r}: it must be {', '.join(POOLINGS)}.")
        if pooling == "ends" and width % 2:
            raise ValueError(f"width is {width}: both ends want two halves of it.")
        super().__init__()
        self.width, self.pooling = width, pooling
        self.score = nn.Linear(width, 1, bias=False) if pooling == "learned" else None

    def extra_repr(self) -> str:
        return f"{self.width}, pooling={self.pooling}"

    def shares(self, z: Tensor, mask: Tensor) -> Tensor:
        """Share of z_j in each component of c: (B, S, Z), or (B, S, 1) where it is that of all."""
        if self.score is not None:
            return masked_softmax(self.score(z).mT, mask[:, None]).mT
        if self.pooling == "mean":
            return (mask.to(z) / mask.sum(1, keepdim=True))[..., None]
        if self.pooling == "max":
            place = z.masked_fill(~mask[..., None], -torch.inf).argmax(1, keepdim=True)
            return torch.zeros_like(z).scatter(1, place, 1.0)
        j = torch.arange(z.shape[1], device=z.device)
        first = (j == 0).expand_as(mask)
        last = j == mask.sum(1, keepdim=True) - 1
        if self.pooling == "ends":
            half = self.width // 2
            return torch.stack([last, first], -1).repeat_interleave(half, -1).to(z)
        return (last if self.pooling == "last" else first).to(z)[..., None]

    def remember(self, z: Tensor, mask: Tensor) -> Memory:
        """c (B, Z), γ (B, S)."""
        shares = self.shares(z, mask)
        return (shares * z.masked_fill(~mask[..., None], 0.0)).sum(1), shares.mean(-1)

    def forward(self, state: Tensor, memory: Memory, mask: Tensor) -> tuple[Tensor, Tensor]:
        context, gamma = memory
        return context, gamma


class SoftAttention(Context):
    """Soft attention: the expectation of z_j, j drawn from γ_t; of scaled scores, of W_V z_j.

    Args:
        states: H. width: Z. score: "additive", "scaled", or "dot", of U z where the widths differ.
        score_width: A, of the hidden layer of "additive", of queries, keys and values of "scaled"; None is H.

    Raises:
        ValueError: the score is none of these, or a width is given for "dot", which has none.
    """

    def __init__(
        self, states: int, width: int, score: Score = "additive", score_width: int | None = None
    ) -> None:
        require(1, states=states, width=width)
        super().__init__()
        self.project: nn.Linear | None = None
        if score == "dot" and width != states:
            self.project = nn.Linear(width, states, bias=False)  # U of e = sᵀ U z
        self.attention = SourceAttention(states, states if self.project else width, score, score_width)
        self.width = width
        if score == "scaled":
            self.width = states if score_width is None else score_width

    def remember(self, z: Tensor, mask: Tensor) -> Memory:
        """Keys (B, S, A), of the additive score U z; values (B, S, W)."""
        if self.project is not None:
            return self.project(z), z
        return self.attention.keys_and_values(z)

    def forward(self, state: Tensor, memory: Memory, mask: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = memory
        context, gamma = self.attention(state[:, None], keys, values, ~mask)
        return context[:, 0], gamma[:, 0]
