"""Blockwise attention: the softmax of all keys from blocks of them, exactly, with a running maximum and sum.

    m' = max(m, max_j s_j),   l' = l e^{m − m'} + Σ_j e^{s_j − m'},   o' = o e^{m − m'} + Σ_j e^{s_j − m'} v_j

over the keys j of a block; in the end y = o/l. It is softmax(q kᵀ/√D) v, not an approximation of it: only the
order of the sums differs. The largest tensor has (block of queries) × (block of keys) scores.

Shapes: `B` batch, `H` heads, `T` queries, `S` keys, `D` features of a head.

References: Milakov & Gimelshein 2018, arXiv:1805.02867 (online softmax); Dao et al. 2022, arXiv:2205.14135
(FlashAttention); [LLM] part 4.
"""

import torch
from torch import Tensor

from modules.base import require


def blockwise_attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, padding: Tensor | None = None,
    block: int = 64, scale: float | None = None,
) -> Tensor:  # fmt: skip
    """softmax(q kᵀ/√D + M) v: (B, H, T, D).

    Args:
        q: (B, H, T, D). k, v: (B, H, S, D).
        causal: the queries are the last T of the S tokens, and see themselves and those before.
        padding: (B, S), True at keys nobody may look at.
        block: queries, and keys, that are looked at together. scale: instead of 1/√D.

    Returns:
        0 where a query looks nowhere.

    Raises:
        ValueError: a block below 1.
    """
    require(1, block=block)
    T, S = q.shape[2], k.shape[2]
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    parts = [v[:, :, :0]]
    for first in range(0, T, block):
        query = q[:, :, first : first + block] * scale
        places = torch.arange(first, first + query.shape[2], device=q.device) + S - T
        m = query.new_full(query.shape[:3], -torch.inf)  # running maximum
        l = torch.zeros_like(m)  # running sum
        o = v.new_zeros(*query.shape[:3], v.shape[-1])
        for start in range(0, min(S, int(places[-1]) + 1) if causal else S, block):
            keys = slice(start, start + block)
            s = query @ k[:, :, keys].mT  # (B, H, block, block)
            if causal:
                at = torch.arange(start, start + s.shape[-1], device=q.device)
                s = s.masked_fill(at > places[:, None], -torch.inf)
            if padding is not None:
                s = s.masked_fill(padding[:, None, None, keys], -torch.inf)
            most = torch.maximum(m, s.detach().amax(-1))
            finite = most.clamp(min=torch.finfo(s.dtype).min)  # −∞ − −∞ where nothing was seen is no number
            raised = (s - finite[..., None]).exp()
            before = (m - finite).exp()
            l = l * before + raised.sum(-1)
            o = o * before[..., None] + raised @ v[:, :, keys]
            m = most
        parts.append(o / torch.where(l > 0, l, torch.ones_like(l))[..., None])
    return torch.cat(parts, dim=2)
