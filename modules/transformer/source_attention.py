"""Attention of a decoder to its source: a state asks, all positions of the source answer by a score.

    e_tj = score(s_t, z_j),    γ_t = softmax_j(e_t) over the positions that are there,    c_t = Σ_j γ_tj v_j

    additive  e = vᵀ tanh(W s + U z)                                       values v_j = z_j
    dot       e = sᵀ z                                                     v_j = z_j
    scaled    e = q kᵀ / √D,   q = s W_Q, k = z W_K  (rows)                v_j = z_j W_V

What depends on the source alone (U z, or k and v) is computed once for all steps of a decoder: the score of
[GM] "cannot be parallelised" over t, as no score in a recurrent decoder can, but all j are one product.

Shapes: `B` sentences, `T` decoder states (1 where they come one by one), `S` source positions, `H` width of a
state, `Z` width of an annotation, `D` of the scores.

References: Bahdanau, Cho, Bengio 2015, arXiv:1409.0473 (additive); Luong, Pham, Manning 2015,
arXiv:1508.04025 (dot); Vaswani et al. 2017, arXiv:1706.03762 (scaled); [GM] §1.6.3-1.6.4 (which writes qᵀk
for rows, where it is q kᵀ); [UDL] notes of chapter 12; [DGM] align and translate.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.attention import masked_softmax
from modules.transformer.recorder import AttentionRecord, current_recorder


class SourceAttention(nn.Module):
    """Layer of soft attention that a lens can record, with one head.

    Args:
        state_width, source_width: H and Z.
        score: "additive", "dot" or "scaled".
        width: D, of the additive and the scaled score; for the latter also that of the context.

    Raises:
        ValueError: a dot product of states and annotations of different widths, or with a width of its own;
            another score; a width below 1.
    """

    def __init__(
        self,
        state_width: int,
        source_width: int,
        score: Literal["additive", "dot", "scaled"] = "additive",
        width: int | None = None,
    ) -> None:
        super().__init__()
        if score not in ("additive", "dot", "scaled"):
            raise ValueError(f"score is {score!r}: choose additive, dot or scaled.")
        if score == "dot" and (state_width != source_width or width is not None):
            raise ValueError(
                f"A dot product compares states of {state_width} with annotations of {source_width} as they "
                "are: give equal widths and no other, or take the scaled score."
            )
        width = state_width if width is None else width
        require(1, state_width=state_width, source_width=source_width, width=width)
        self.score = score
        if score != "dot":
            self.query = nn.Linear(state_width, width, bias=False)  # W, W_Q
            self.key = nn.Linear(source_width, width, bias=False)  # U, W_K
        if score == "additive":
            self.energy = nn.Linear(width, 1, bias=False)  # v
        if score == "scaled":
            self.value = nn.Linear(source_width, width, bias=False)  # W_V

    def extra_repr(self) -> str:
        return f"score={self.score}"

    def keys_and_values(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Keys (B, S, D) and values of annotations (B, S, Z), the same for all steps of a decoder."""
        keys = source if self.score == "dot" else self.key(source)
        return keys, self.value(source) if self.score == "scaled" else source

    def scores(self, state: Tensor, keys: Tensor) -> Tensor:
        """e of states (B, T, H) and keys (B, S, D): (B, T, S)."""
        if self.score == "additive":
            hidden = torch.tanh(self.query(state)[:, :, None] + keys[:, None])  # (B, T, S, D)
            return self.energy(hidden)[..., 0]
        if self.score == "dot":
            return state @ keys.mT
        return self.query(state) @ keys.mT * keys.shape[-1] ** -0.5

    def forward(
        self, state: Tensor, keys: Tensor, values: Tensor, padding: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from states to a source.

        Args:
            state: (B, T, H).
            keys, values: of `keys_and_values`.
            padding: (B, S), True at positions nobody may look at.

        Returns:
            Context (B, T, Z), of the scaled score (B, T, D), and γ (B, T, S): 0 at padding, rows sum to 1.
        """
        gamma = masked_softmax(self.scores(state, keys), None if padding is None else ~padding[:, None])
        recorder = current_recorder()
        if recorder is not None:
            recorder.record(self, AttentionRecord(gamma[:, None]))
        return gamma @ values, gamma


def joined(calls: list[AttentionRecord]) -> Tensor:
    """Weights of the calls of a layer that was asked step by step, below each other: (B, H, T, S)."""
    return torch.cat([call.weights for call in calls], dim=2)
