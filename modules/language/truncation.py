"""From logits to the next token: temperature, top-k, top-p and min-p, over the full vocabulary.

    p = softmax(logits / temperature)
    kept = first k by rank ∩ smallest set with mass ≥ p_top ∩ {w : p(w) ≥ p_min · max p}
    drawn from p restricted to the kept tokens and divided by their mass.

All cuts look at the same full distribution. (Cutting to k first and taking the nucleus of what is
left is a known mistake: its mass is then measured on the wrong total.)

References: Fan et al. 2018, arXiv:1805.04833 (top-k); Holtzman et al. 2019, arXiv:1904.09751 (top-p);
Nguyen et al. 2024, arXiv:2407.01082 (min-p); [UDL] §12.7.3.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cut:
    """The next-token distribution, before and after the knobs.

    Attributes:
        before: (..., V), softmax of the logits as they are.
        tempered: (..., V), after temperature.
        after: (..., V), what is drawn from: 0 at tokens cut away, sums to 1.
        kept: (..., V) bool.
        mass: (...), of the kept tokens under `tempered`.
    """

    before: Tensor
    tempered: Tensor
    after: Tensor
    kept: Tensor
    mass: Tensor


def check_knobs(
    temperature: float, top_k: int | None, top_p: float | None, min_p: float | None = None
) -> None:
    """Raises ValueError, one sentence, for a knob out of range."""
    if not temperature >= 0 or temperature == float("inf"):
        raise ValueError(f"temperature is {temperature}: it must be 0 (greedy) or a positive number.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}: keep at least 1 token.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}: it must be above 0 and at most 1.")
    if min_p is not None and not 0 <= min_p <= 1:
        raise ValueError(f"min_p is {min_p}: it must be from 0 to 1.")


def temper(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / temperature); temperature 0 is all mass on the first largest logit."""
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    if temperature == 1:
        return logits.softmax(-1)
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)  # no overflow near 0


def keep(
    p: Tensor, top_k: int | None = None, top_p: float | None = None, min_p: float | None = None
) -> Tensor:
    """Which tokens stay: (..., V) probabilities -> (..., V) bool.

    Exactly k tokens for top-k, ties by the lower id; for top-p the smallest set of most probable
    tokens whose mass reaches p; for min-p those at least min_p times as probable as the first. The
    most probable token always stays.
    """
    ranked, order = p.sort(dim=-1, descending=True, stable=True)
    stays = torch.ones_like(ranked, dtype=torch.bool)
    if top_k is not None:
        stays[..., top_k:] = False
    if top_p is not None and top_p < 1:
        # a token stays while the mass of those before it has not reached p; the first one always does
        stays[..., 1:] &= ranked.cumsum(-1)[..., :-1] < top_p
    if min_p is not None:
        stays &= ranked >= min_p * ranked[..., :1]
    return torch.zeros_like(stays).scatter(-1, order, stays)


def cut(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Cut:
    """The whole story of one draw: logits (..., V) -> `Cut`."""
    check_knobs(temperature, top_k, top_p, min_p)
    tempered = temper(logits, temperature)
    kept = keep(tempered, top_k, top_p, min_p)
    mass = (tempered * kept).sum(-1)
    return Cut(logits.softmax(-1), tempered, tempered * kept / mass[..., None], kept, mass)


def probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """Only what is drawn from: logits (..., V) -> (..., V). Equal to `cut(...).after`."""
    p = temper(logits, temperature)
    if top_k is None and (top_p is None or top_p == 1) and not min_p:
        return p
    p = p * keep(p, top_k, top_p, min_p)
    return p / p.sum(-1, keepdim=True)
