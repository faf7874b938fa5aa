r"""Stochastic hard attention: a location is drawn at every step, and the state goes on from what is there.

    p(γ̂_ti = 1 | γ̂_<t, y_<t, x) = γ_ti,    ĉ_t = Σ_i γ̂_ti z_i        soft: c_t = Σ_i γ_ti z_i = E ĉ_t

The state is advanced by the drawn ĉ_t, so γ_t depends on the draws before it. With q(c | x) = Π_t γ_{t,c_t}
of a whole path c, Jensen's inequality bounds the likelihood of a caption y:

    𝓛 = Σ_c q(c | x) log p(y | c, x)  ≤  𝓛_K = E log (1/K) Σ_k p(y | c^k, x)  ≤  log Σ_c q p = log p(y | x)

This is an ELBO whose posterior is its prior, and so it has no KL term; with q ∝ q(c | x) p(y | c, x) instead
it would be log p(y | x). Its gradient has two terms, and weights on which q and p both depend are in both:
not only those of the encoder ([DGM] writes ψ), but the attention's, the LSTM's and the embeddings'.

    ∂𝓛 = Σ_c q [∂ log p(y | c, x) + log p(y | c, x) ∂ log q(c | x)]
       ≈ (1/M) Σ_m Σ_t [∂ log p(y_t | c^m_≤t) + (R^m_t − b_t) ∂ log γ_{t,c_t}],    c^m ~ q: no Markov chain

R_t is the whole log p(y | c), or its reward-to-go Σ_{t'≥t} log p(y_t'), since draw t has no part in the words
before it. Any b_t that does not depend on draw t leaves the mean as it is: b(s_{t−1}) may be learned, while
b(s_t) would bias it, as s_t was advanced by ĉ_t. An entropy bonus λ_e Σ_t H(γ_t) is a reward too: H(γ_t')
with t' > t depends on draw t.

Shapes: locations and paths are int64, (B, T); log p, log q, rewards (B, T); γ (B, L); z (B, L, D); nats.

References: Xu et al. 2015, Show, attend and tell, arXiv:1502.03044, section 4.1; Williams 1992 (REINFORCE);
Burda, Grosse, Salakhutdinov 2016, arXiv:1509.00519 (𝓛_K); [DGM] deck 2.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from modules.noise import pick, uniform
from modules.recurrent.context import Context, Memory, SoftAttention

MOST_PATHS = 4096  # that are enumerated
DECAY = 0.9  # of the moving average

# --- The draw ------------------------------------------------------------------------------------------


def look(z: Tensor, location: Tensor) -> Tensor:
    """ĉ = z at a location of each row: z (B, L, D), location (B,) -> (B, D)."""
    return z[torch.arange(len(z), device=z.device), location]


class HardContext(Context):
    """Hard attention, by the weights of a soft one, with which it shares everything: ĉ and one-hot γ̂.

    Args:
        soft: gives E ĉ and γ.
        location: "sample" draws from γ, "argmax" takes the heaviest.
        generator: source of the draws; None is torch's own.

    Raises:
        ValueError: an unknown `location`.
    """

    def __init__(
        self,
        soft: SoftAttention,
        location: Literal["sample", "argmax"] = "sample",
        generator: torch.Generator | None = None,
    ) -> None:
        if location not in ("sample", "argmax"):
            raise ValueError(f"location is {location!r}: it must be sample or argmax.")
        super().__init__()
        self.soft, self.location, self.generator, self.width = soft, location, generator, soft.width

    def remember(self, z: Tensor, mask: Tensor) -> Memory:
        return self.soft.remember(z, mask)

    def forward(self, state: Tensor, memory: Memory, mask: Tensor) -> tuple[Tensor, Tensor]:
        _, gamma = self.soft(state, memory, mask)
        if self.location == "sample":
            location = pick(gamma, uniform(len(gamma), like=gamma, generator=self.generator))
        else:
            location = gamma.argmax(-1)
        return look(memory[-1], location), nn.functional.one_hot(location, gamma.shape[1]).to(gamma)


# --- Exact: by all paths -------------------------------------------------------------------------------


def all_paths(locations: int, steps: int) -> Tensor:
    """Every path of T draws among L locations, (L^T, T), in lexicographic order.

    Raises:
        ValueError: there are more than 4096 of them.
    """
    if locations**steps > MOST_PATHS:
        raise ValueError(
            f"{locations} locations in {steps} steps are {locations**steps} paths: "
            f"{MOST_PATHS} can be enumerated."
        )
    rows = torch.arange(locations**steps)[:, None]
    return rows // locations ** torch.arange(steps - 1, -1, -1) % locations


def lower_bound(log_q: Tensor, log_p: Tensor) -> Tensor:
    """𝓛 = Σ_c q log p over all paths, log_q and log_p (N, ...) -> (...); autograd finds both terms in it.

    A path of probability 0 counts nothing, whatever its caption's log p.
    """
    q = log_q.exp()
    return (q * log_p.masked_fill(q == 0, 0)).sum(0)


def log_marginal(log_q: Tensor, log_p: Tensor) -> Tensor:
    """log p(y | x) = log Σ_c q p over all paths, (N, ...) -> (...)."""
    return (log_q + log_p).logsumexp(0)


def tighter_bound(log_q: Tensor, log_p: Tensor, draws: int) -> Tensor:
    """𝓛_K = E log (1/K) Σ_k p(y | c^k, x) over all K-tuples of paths, (N,) -> a scalar.

    Raises:
        ValueError: these are more than a million.
    """
    if len(log_q) ** draws > 1_000_000:
        raise ValueError(
            f"{len(log_q)} paths make {len(log_q) ** draws} tuples of {draws}: take fewer draws."
        )
    rows = torch.arange(len(log_q) ** draws)[:, None]
    tuples = rows // len(log_q) ** torch.arange(draws) % len(log_q)  # (N^K, K)
    return lower_bound(log_q[tuples].sum(1), log_p[tuples].logsumexp(1) - math.log(draws))


# --- By sampling ---------------------------------------------------------------------------------------


def reward(
    log_p: Tensor, to_go: bool = True, entropy: Tensor | None = None, entropy_weight: float = 0.0
) -> Tensor:
    """R_t of every draw, (..., T), without gradient.

    Args:
        log_p: log p(y_t | c_≤t, y_<t), (..., T), 0 where there is no word.
        to_go: leave out the words before the draw.
        entropy: H(γ_t), (..., T), whose sum is rewarded by `entropy_weight`; that of γ_t itself is no
            consequence of draw t.
    """
    bonus = torch.zeros_like(log_p) if entropy is None else entropy_weight * entropy
    value = (log_p + bonus).detach()
    if not to_go:
        return value.sum(-1, keepdim=True).expand_as(value)
    return value.flip(-1).cumsum(-1).flip(-1) - bonus.detach()


def surrogate(
    log_p: Tensor,
    log_q: Tensor,
    baseline: Tensor | float = 0.0,
    to_go: bool = True,
    entropy: Tensor | None = None,
    entropy_weight: float = 0.0,
) -> Tensor:
    """Σ_t [log p(y_t) + (R_t − b_t) log γ_{t,c_t} + λ_e H(γ_t)], (...): its gradient is the estimate of ∂𝓛.

    R_t and b_t are held fixed, so its value is not that of 𝓛. The draws follow γ.

    Args:
        log_p, log_q: (..., T), 0 where there is no word.
        baseline: b_t, broadcastable to (..., T), no function of draw t.
        to_go, entropy, entropy_weight: see `reward`.
    """
    if isinstance(baseline, Tensor):
        baseline = baseline.detach()
    result = log_p + (reward(log_p, to_go, entropy, entropy_weight) - baseline) * log_q
    if entropy is not None:
        result = result + entropy_weight * entropy
    return result.sum(-1)


class MovingAverage(nn.Module):
    """Baseline b_t: a moving average of the reward of one word, times the number of words rewarded.

        average ← 0.9 average + 0.1 (mean reward of a word in this batch);    0 at the start

    The words of a gold caption are known before any draw, so captions of unequal length may share it.
    """

    average: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("average", torch.zeros(()))

    def forward(self, words: Tensor, to_go: bool = True) -> Tensor:
        """words (..., T), True where there is one -> b_t (..., T)."""
        return self.average * reward(words.to(self.average), to_go)

    def update(self, mean: Tensor) -> None:
        """Take in the mean reward of a word."""
        self.average.lerp_(mean.detach().to(self.average), 1 - DECAY)
