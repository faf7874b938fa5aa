"""From logits to the next token: temperature, top-k, top-p and min-p, over the full vocabulary.

    p = softmax(logits / temperature)
    kept = first k by rank ∩ smallest set with mass ≥ p_top ∩ {w : p(w) ≥ p_min · max p}
    drawn from p restricted to the kept tokens and divided by their mass.

All truncations look at the same full distribution. (Cutting to k first and taking the nucleus of what is
left is a known mistake: its mass is then measured on the wrong total.)

References: Fan et al. 2018, arXiv:1805.04833 (top-k); Holtzman et al. 2019, arXiv:1904.09751 (top-p);
Nguyen et al. 2024, arXiv:2407.01082 (min-p); [UDL] §12.7.3.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Truncated:
    """The next-token distribution, before and after temperature and truncation.

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


@dataclass(frozen=True)
class SamplingParams:
    """Temperature and truncation of a draw of the next token; by default ancestral sampling.

    Attributes:
        temperature: divides the logits; 0 is greedy.
        top_k: keep exactly so many, the most probable. top_p: keep the smallest set with mass ≥ p.
        min_p: keep those at least so many times as probable as the first.

    Raises:
        ValueError: a parameter is out of range; one sentence.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self) -> None:
        if not self.temperature >= 0 or self.temperature == float("inf"):
            raise ValueError(
                f"temperature is {self.temperature}: it must be 0 (greedy) or a positive number."
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}: keep at least 1 token.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}: it must be above 0 and at most 1.")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p is {self.min_p}: it must be from 0 to 1.")

    @property
    def truncates(self) -> bool:
        """True if any token may be cut away."""
        return self.top_k is not None or (self.top_p is not None and self.top_p < 1) or bool(self.min_p)


PLAIN = SamplingParams()


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / temperature); temperature 0 is all mass on the first largest logit."""
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    if temperature == 1:
        return logits.softmax(-1)
    temperature = max(temperature, torch.finfo(logits.dtype).tiny)  # else 0 in this precision
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)  # no overflow near 0


ROUNDING = 1e-6  # a mass that misses top_p by less has reached it: single precision knows no better


def truncation_mask(
    p: Tensor, top_k: int | None = None, top_p: float | None = None, min_p: float | None = None
) -> Tensor:
    """Tokens that stay: (..., V) probabilities -> (..., V) bool.

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
        stays[..., 1:] &= ranked.double().cumsum(-1)[..., :-1] < top_p - ROUNDING
    if min_p is not None:
        stays &= ranked >= min_p * ranked[..., :1]
    return torch.zeros_like(stays).scatter(-1, order, stays)


def truncate(logits: Tensor, params: SamplingParams = PLAIN, **change: Any) -> Truncated:
    """Distributions of one draw: logits (..., V) -> `Truncated`. `change` sets single ones: `top_k=3`."""
    params = replace(params, **change)
    tempered = apply_temperature(logits, params.temperature)
    kept = truncation_mask(tempered, params.top_k, params.top_p, params.min_p)
    mass = (tempered * kept).sum(-1)
    return Truncated(logits.softmax(-1), tempered, tempered * kept / mass[..., None], kept, mass)


def probabilities(logits: Tensor, params: SamplingParams = PLAIN, **change: Any) -> Tensor:
    """Distribution that is drawn from: logits (..., V) -> (..., V). Equal to `truncate(...).after`."""
    params = replace(params, **change)
    p = apply_temperature(logits, params.temperature)
    if not params.truncates:
        return p
    p = p * truncation_mask(p, params.top_k, params.top_p, params.min_p)
    return p / p.sum(-1, keepdim=True)


def draw(logits: Tensor, params: SamplingParams = PLAIN, generator: torch.Generator | None = None) -> Tensor:
    """Draw one token each: logits (B, V) -> (B,). Greedy leaves the generator alone."""
    if params.temperature == 0:
        return logits.argmax(-1)
    p = probabilities(logits, params)
    if generator is not None:
        p = p.to(generator.device)  # a seed means the same everywhere
    return torch.multinomial(p, 1, generator=generator)[:, 0].to(logits.device)
