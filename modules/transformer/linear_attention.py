"""Linear attention: a feature map for the exponential, so that keys and values can be summed up first.

    y_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t,     S_t = S_{t−1} + φ(k_t) v_tᵀ,     z_t = z_{t−1} + φ(k_t)

    elu         φ(x) = elu(x) + 1
    positive    φ(x) = ψ(x D^{−1/4}), ψ positive random features: φ(q)·φ(k) is e^{q·k/√D} on average
    hyperbolic  the same with pairs ±ω

elu + 1 approximates nothing: it is another similarity. The random features are those of the Performer; [BB]
shows them for e^{q·k}, and without D^{−1/4} on both sides they would stand for attention without 1/√D.

The state (S, z) has a size that no length changes. A step costs H·M·D multiply-adds; [LLM] has d² for all
heads together, which is one head of M = D = d. Many tokens go through in chunks: within a chunk all pairs,
the chunks before as their state; no tensor of T × T numbers is made.

Features are kept as φ̃ = φ e^{−c}, c the largest log φ of a key: e^c is common to the features of one key and
enters S and z relative to the largest c so far, so that no exponential overflows and no text of small
features vanishes. Of a query e^c cancels. Where vectors are so long that a query has no feature in common
with any key in the precision at hand, its output is 0; random features stand for nothing there.

Shapes: `B` batch, `H` heads, `T` queries, `S` keys, `D` features of a head, `M` values of φ, `C` = H·D.

References: Katharopoulos et al. 2020, arXiv:2006.16236; Choromanski et al. 2020, arXiv:2009.14794;
[LLM] part 4; [BB] 4.1 (which writes ⊥ for ᵀ); [UDL] notes of chapter 12.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from modules.base import require, require_one_of
from modules.transformer.attention import attention_mask
from modules.transformer.heads import Heads
from modules.transformer.random_features import draws, log_features
from modules.transformer.recorder import AttentionRecord, current_recorder

FeatureMap = Literal["elu", "positive", "hyperbolic"]


def elu_features(x: Tensor) -> tuple[Tensor, Tensor]:
    """φ̃ (..., D) and c (...) of elu(x) + 1, which is x + 1 above 0 and e^x below."""
    c = x.detach().amax(-1).clamp(max=0.0)
    return torch.where(x > 0, x + 1, (x.clamp(max=0.0) - c[..., None]).exp()), c


def random_features(x: Tensor, omega: Tensor, kind: FeatureMap) -> tuple[Tensor, Tensor]:
    """φ̃ (..., M or 2M) and c (...) of x (..., D) for the draws ω (M, D)."""
    log = log_features(x * x.shape[-1] ** -0.25, omega, kind)  # type: ignore[arg-type]  # elu has no draws
    c = log.detach().amax(-1)
    return (log - c[..., None]).exp(), c


@dataclass
class LinearState:
    """State of linear attention: what it keeps of all tokens before.

    Attributes:
        S: (B, H, M, D). z: (B, H, M). Both are times e^{−c}.
        c: (B, H), the largest log φ of a key so far.
        length: tokens that were read.
    """

    S: Tensor
    z: Tensor
    c: Tensor
    length: int = 0

    @property
    def nbytes(self) -> int:
        """Memory in bytes: no length changes it."""
        return self.S.nbytes + self.z.nbytes + self.c.nbytes

    def select(self, rows: Tensor) -> "LinearState":
        """A state of its own for these rows (B',) of the batch."""
        return LinearState(self.S[rows], self.z[rows], self.c[rows], self.length)


def empty_state(v: Tensor, M: int) -> LinearState:
    """State before any token, for values v (B, H, S, D)."""
    B, H, _, D = v.shape
    lowest = torch.finfo(v.dtype).min / 4  # finite: a difference of two is no NaN
    return LinearState(v.new_zeros(B, H, M, D), v.new_zeros(B, H, M), v.new_full((B, H), lowest))


def divided(total: Tensor, weight: Tensor) -> Tensor:
    """total (..., D) / weight (...); 0 where nothing has weight."""
    return total / torch.where(weight > 0, weight, torch.ones_like(weight))[..., None]


def added(state: LinearState, k: Tensor, v: Tensor, c: Tensor) -> LinearState:
    """State after keys φ̃ (B, H, S, M) with their c (B, H, S) and values (B, H, S, D)."""
    most = torch.maximum(state.c, c.amax(-1))  # (B, H)
    k = k * (c - most[..., None]).exp()[..., None]
    before = (state.c - most).exp()
    S = state.S * before[..., None, None] + k.mT @ v
    z = state.z * before[..., None] + k.sum(2)
    return LinearState(S, z, most, state.length + k.shape[2])


def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, c: Tensor, state: LinearState | None = None, causal: bool = False,
    chunk: int = 64,
) -> tuple[Tensor, LinearState]:  # fmt: skip
    """Outputs y (B, H, T, D), and the state after all keys; no tensor of T × S numbers is made.

    Args:
        q: φ̃ of the queries (B, H, T, M). k: of the keys (B, H, S, M). v: (B, H, S, D).
        c: (B, H, S) of the keys.
        state: what came before; None is nothing.
        causal: query t sees keys up to t; T = S.
        chunk: tokens that are mixed as pairs; 1 is the recurrence as it stands.
    """
    state = empty_state(v, k.shape[-1]) if state is None else state
    if not causal:
        state = added(state, k, v, c) if k.shape[2] else state
        return divided(q @ state.S, (q @ state.z[..., None])[..., 0]), state
    parts = [v[:, :, :0]]
    for start in range(0, q.shape[2], chunk):
        within = slice(start, start + chunk)
        q_, k_, v_, c_ = q[:, :, within], k[:, :, within], v[:, :, within], c[:, :, within]
        most = torch.maximum(c_.cummax(-1).values, state.c[..., None])  # (B, H, N), N tokens of the chunk
        later = torch.ones(q_.shape[2], q_.shape[2], dtype=torch.bool, device=q.device).triu(1)
        scale = (c_[..., None, :] - most[..., None]).masked_fill(later, -torch.inf).exp()
        pairs = (q_ @ k_.mT) * scale  # (B, H, N, N)
        before = (state.c[..., None] - most).exp()
        weight = pairs.sum(-1) + before * (q_ @ state.z[..., None])[..., 0]
        parts.append(divided(pairs @ v_ + before[..., None] * (q_ @ state.S), weight))
        state = added(state, k_, v_, c_)
    return torch.cat(parts, dim=2), state


def kernel_weights(q: Tensor, k: Tensor, c: Tensor, allowed: Tensor | None = None) -> Tensor:
    """φ(q)·φ(k) over its sum, written out: (B, H, T, S), for who wants to see them; arguments as above.

    Args:
        allowed: True where a query may look, broadcastable to (B, H, T, S).
    """
    raised = c[..., None, :].expand(*q.shape[:-1], k.shape[2])
    if not k.shape[2]:
        return raised
    if allowed is not None:
        raised = raised.masked_fill(~allowed, torch.finfo(c.dtype).min / 4)
    weights = (q @ k.mT) * (raised - raised.amax(-1, keepdim=True)).exp()
    if allowed is not None:
        weights = weights * allowed
    return divided(weights, weights.sum(-1))


class LinearAttention(Heads):
    """Linear attention with H heads, a mixer of tokens.

    Args:
        width: C. heads: H. bias: of all projections.
        features: φ, "elu", "positive" or "hyperbolic".
        count: M, draws ω of the random features; None is 4 D.
        orthogonal: draws at right angles, see `draws`.
        chunk: tokens that are mixed as pairs in the causal form; the result is the same for all.

    Raises:
        ValueError: another φ; draws for elu, which has none; a number below 1.
    """

    omega: Tensor

    def __init__(
        self,
        width: int,
        heads: int,
        bias: bool = True,
        features: FeatureMap = "elu",
        count: int | None = None,
        orthogonal: bool = False,
        chunk: int = 64,
    ) -> None:
        super().__init__(width, heads, bias)
        require_one_of(FeatureMap, features=features)
        if features == "elu" and (count is not None or orthogonal):
            raise ValueError("elu + 1 has no draws: leave count and orthogonal out, or choose positive.")
        require(1, chunk=chunk)
        self.features, self.chunk = features, chunk
        D = width // heads
        self.M = D
        if features != "elu":
            count = 4 * D if count is None else count
            self.register_buffer("omega", draws(count, D, orthogonal=orthogonal))
            self.M = count if features == "positive" else 2 * count

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, features={self.features}, M={self.M}"

    def phi(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """φ̃ (..., M) and c (...) of queries or keys (..., D)."""
        if self.features == "elu":
            return elu_features(x)
        return random_features(x, self.omega.to(x.dtype), self.features)

    def new_cache(
        self, batch: int, size: int = 0, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> LinearState:
        """State before any token; it holds texts of any length, so `size` asks nothing of it."""
        return empty_state(
            torch.empty(batch, self.heads, 0, self.width // self.heads, device=device, dtype=dtype), self.M
        )

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: LinearState | None = None,
    ) -> Tensor:
        """Mix x (B, T, C) with the source (B, S, C), or with itself: (B, T, C).

        Args:
            causal: token t sees tokens up to t, of `x` alone.
            padding: (B, S), True at tokens nobody may look at; with a cache its tokens come first.
            cache: what earlier tokens left; `x` are those after them, and it is brought up to date.

        Raises:
            ValueError: a causal mask over another source.
        """
        if causal and source is not None:
            raise ValueError("A source is seen as a whole: leave causal out.")
        q, k, v = self.split(x, source)
        (q, _), (k, c) = self.phi(q), self.phi(k)
        if padding is not None:
            hidden = padding[:, None, padding.shape[1] - k.shape[2] :]  # (B, 1, S)
            k = k.masked_fill(hidden[..., None], 0.0)
            c = c.masked_fill(hidden, torch.finfo(c.dtype).min / 4)
        recorder = current_recorder()
        if recorder is not None and cache is None:  # of a state the single keys are gone
            allowed = attention_mask(q.shape[2], k.shape[2], causal, padding, x.device)
            recorder.record(self, AttentionRecord(kernel_weights(q, k, c, allowed)))
        y, state = linear_attention(q, k, v, c, cache, causal, self.chunk)
        if cache is not None:
            cache.S, cache.z, cache.c, cache.length = state.S, state.z, state.c, state.length
        return self.join(y)
