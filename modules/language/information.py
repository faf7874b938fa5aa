"""Information measures of finite distributions: what a probability costs, in nats.

    surprisal     -log P(x)
    entropy       H(P)    = -Σ_x P(x) log P(x)
    cross-entropy H(P, Q) = -Σ_x P(x) log Q(x) = H(P) + KL(P‖Q)
    divergence    KL(P‖Q) =  Σ_x P(x) log P(x)/Q(x) ≥ 0, zero only for P = Q
    variation     TV(P,Q) =  sup_A |P(A) - Q(A)| = ½ Σ_x |P(x) - Q(x)|
    perplexity    PP = e^Ĥ = (Π_t Q(x_t | x_<t))^(-1/T),  Ĥ the mean surprisal of T tokens in nats

0·log 0 = 0, and what is infinite is infinite: a token of probability 0 makes Ĥ and PP ∞, without a
small constant that would hide it. In H(P, Q) the data or the target stands in the place of P.

[LLM] (perplexity slide) says that Q = P has perplexity 1: it has 2^H(P), H in bits, which is 1 only where
P is certain; and PP ≥ 2^H(P) holds for the expectation over texts, not for every finite text. [BB] 1.4
takes natural logarithms and calls the unit bits: these are nats, `bits` converts. Perplexity is per token,
so it compares only models of the same tokenizer; bits per character or byte compare all.

Shapes: distributions lie along the last dimension, (..., V) -> (...). Nothing is normalised for you.

References: Shannon 1948; Cover and Thomas 2006, ch. 2; [LLM] eq. 1.4-1.10; [GM] 3.4.2; [BB] 1.4, 2.1.
"""

import math

import torch
from torch import Tensor

LN2 = math.log(2)


def surprisal(p: Tensor) -> Tensor:
    """-log p, elementwise; ∞ where p is 0."""
    return -p.log() + 0.0  # + 0.0: a certain event costs 0, not -0


def entropy(p: Tensor) -> Tensor:
    """H(P), (..., V) -> (...)."""
    return torch.special.entr(p).sum(-1)  # entr(p) = -p log p, and 0 at 0


def cross_entropy(p: Tensor, q: Tensor) -> Tensor:
    """H(P, Q); ∞ where Q forbids what P allows.

    Shapes:
        p, q: (..., V), broadcast -> (...)
    """
    return torch.special.xlogy(p, q).sum(-1).neg() + 0.0  # xlogy(p, q) = p log q, and 0 where p = 0


def kl(p: Tensor, q: Tensor) -> Tensor:
    """KL(P‖Q) = Σ P log(P / Q); not symmetric, no triangle inequality; ∞ where P > 0 = Q."""
    terms = torch.where(p > 0, torch.special.xlogy(p, p) - torch.special.xlogy(p, q), 0.0)
    return terms.sum(-1)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """TV(P, Q) = ½ Σ |P - Q|: the largest difference of the probability of any event."""
    return lp_distance(p, q, 1) / 2


def lp_distance(p: Tensor, q: Tensor, order: float) -> Tensor:
    """(Σ |P - Q|^order)^(1/order); order may be `math.inf`."""
    return torch.linalg.vector_norm(p - q, order, dim=-1)


def distinguishing_event(p: Tensor, q: Tensor) -> Tensor:
    """The event A on which P(A) - Q(A) = TV(P, Q): all x with P(x) > Q(x), as (..., V) bool."""
    return p > q


def perplexity(nats: Tensor) -> Tensor:
    """e^Ĥ of per-token surprisals (..., T) in nats -> (...); ∞ if one of them is."""
    return nats.mean(-1).exp()


def perplexity_per(nats: Tensor, units: Tensor) -> Tensor:
    """e^(Σ nats / Σ units) of texts, both (N,): per word, or per token, of all of them together.

    An end counts as a unit where its surprisal is in the nats. Per word, models whose tokens differ compare.
    """
    return (nats.sum() / units.sum()).exp()


def bits(nats: Tensor) -> Tensor:
    """The same amount of information in bits."""
    return nats / LN2


def bits_per(nats: Tensor, units: int) -> Tensor:
    """Bits per character (or byte, or word) of a text whose surprisals (..., T) are in nats.

    Raises:
        ValueError: there are no units to share them out over.
    """
    if units < 1:
        raise ValueError(f"{units} units: a text has at least one.")
    return bits(nats.sum(-1)) / units
