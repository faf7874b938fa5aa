r"""Forward–backward and Viterbi: sums and maxima over all K^T paths of a hidden chain in O(T K²).

    α_t(k) = p(x_1..t, z_t = k) = b_t(k) Σ_j α_{t−1}(j) A_jk,     α_1 = π b_1,     p(x) = Σ_k α_T(k)
    β_t(k) = p(x_{t+1}..T | z_t = k) = Σ_j A_kj b_{t+1}(j) β_{t+1}(j),             β_T = 1
    γ_t(k) = p(z_t = k | x) ∝ α_t β_t,    ξ_t(j, k) = α_{t−1}(j) A_jk b_t(k) β_t(k) / p(x)

b_t(k) = p(x_t | z_t = k). α falls like e^{−T}: after some hundred steps it is exactly 0. Two ways round:

- scaled: every α_t is divided by its sum c_t, and log p(x) = Σ log c_t. Fast; every frame's b may be divided
  by its largest entry first.
- log domain: sums become logsumexp. Slower; right also where the state that a frame likes best cannot be
  reached and all others underflow. `posterior` falls back on it where a c_t is 0.

One long sequence is cut into blocks whose K×K transfer matrices are multiplied side by side (a parallel scan
with two levels); then all blocks run at once from their exact first states.

A frame that is missing has b = 1 for every state: so sequences of unequal length are padded.

Shapes: log b (B, T, K), π (K,), A (K, K); α, β, γ (B, T, K); log p (B,), nats.

References: Baum, Petrie, Soules, Weiss 1970; Rabiner 1989; Viterbi 1967; [GM] §3.2.3.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

LONG = 1000  # steps from which few sequences are cut into blocks
FEW = 16


class Posterior(NamedTuple):
    """What the observations say of the states.

    Attributes:
        filtered: (B, T, K) p(z_t | x_1..t).
        backward: (B, T, K) β_t, scaled so that filtered · backward = smoothed.
        smoothed: (B, T, K) γ, p(z_t | x).
        transitions: (B, K, K) Σ_t ξ_t, the expected number of each transition within the sequence.
        log_steps: (B, T) log p(x_t | x_1..t−1).
    """

    filtered: Tensor
    backward: Tensor
    smoothed: Tensor
    transitions: Tensor
    log_steps: Tensor

    @property
    def log_prob(self) -> Tensor:
        """log p(x), (B,)."""
        return self.log_steps.sum(1)


def posterior(start: Tensor, transition: Tensor, log_b: Tensor, inside: Tensor | None = None) -> Posterior:
    """All of it, scaled; in the log domain where that underflows.

    Args:
        inside: (B, T), which frames are of the sequence and not padding behind its end: transitions are
            counted up to its last frame. None takes all.
    """
    found = scaled(start, transition, log_b, inside)
    if bool(found.log_steps.isfinite().all()):
        return found
    return in_logs(start, transition, log_b, inside)


def forward(start: Tensor, transition: Tensor, log_b: Tensor) -> tuple[Tensor, Tensor]:
    """The forward pass alone: p(z_t | x_1..t) (B, T, K) and log p(x_t | x_1..t−1) (B, T)."""
    peak, b = frames(log_b)
    alpha, c = forward_from(start, transition, b)
    log_steps = c.log().T + peak
    if bool(log_steps.isfinite().all()):
        return alpha.transpose(0, 1), log_steps
    log_alpha = log_forward(start, transition, log_b)
    return normalised(log_alpha)


# --- scaled ---------------------------------------------------------------------------------------


def frames(log_b: Tensor) -> tuple[Tensor, Tensor]:
    """The largest log b of each frame (B, T), and b over it, time first: (T, B, K)."""
    peak = log_b.amax(-1)
    peak = torch.where(peak.isfinite(), peak, 0.0)  # nobody can emit this
    return peak, (log_b - peak[..., None]).exp_().transpose(0, 1).contiguous()


def forward_sweep(before: Tensor, transition: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Scaled α (T, B, K) and c (T, B) over frames b (T, B, K), from the filtered states (B, K) of the frame
    before the first."""
    alpha, c = torch.empty_like(b), b.new_empty(b.shape[:2])
    for t in range(len(b)):
        now, total = alpha[t], c[t]
        torch.mm(before, transition, out=now).mul_(b[t])
        torch.sum(now, 1, out=total)
        now.div_(total[:, None])
        before = now
    return alpha, c


def forward_from(start: Tensor, transition: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The same from p(z_1) = π."""
    first = start * b[0]
    total = first.sum(1)
    first = first / total[:, None]
    alpha, c = forward_sweep(first, transition, b[1:])
    return torch.cat([first[None], alpha]), torch.cat([total[None], c])


def backward_sweep(last: Tensor, transition: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Scaled β (T, B, K), given that of the last frame (B, K)."""
    beta, weighted = torch.empty_like(b), b / c[..., None]
    beta[-1] = last
    back = transition.T.contiguous()
    carried = torch.empty_like(last)
    for t in range(len(b) - 1, 0, -1):
        torch.mul(weighted[t], beta[t], out=carried)
        torch.mm(carried, back, out=beta[t - 1])
    return beta


def scaled(start: Tensor, transition: Tensor, log_b: Tensor, inside: Tensor | None = None) -> Posterior:
    """Forward and backward with every α_t scaled to sum 1; NaN or −inf where all underflows."""
    length, batch = log_b.shape[1], len(log_b)
    peak, b = frames(log_b)
    if length >= LONG and batch <= FEW:
        alpha, beta, c = blocked(start, transition, b)
    else:
        alpha, c = forward_from(start, transition, b)
        beta = backward_sweep(torch.ones_like(b[0]), transition, b, c)
    # Σ_t ξ_t = A ∘ Σ_t α_{t−1} (b_t β_t / c_t)ᵀ, of each sequence
    arriving = (b[1:] * beta[1:]).div_(c[1:, :, None])
    if inside is not None:
        arriving *= inside.T[1:, :, None]
    pairs = torch.bmm(alpha[:-1].permute(1, 2, 0), arriving.transpose(0, 1))
    return Posterior(
        alpha.transpose(0, 1), beta.transpose(0, 1), (alpha * beta).transpose(0, 1),
        pairs * transition, c.log().T + peak,
    )  # fmt: skip


def blocked(start: Tensor, transition: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """α, β (T, B, K) and c (T, B), as the sweeps give them, by about 4 √T steps instead of 2 T.

    A block of L frames takes α before it to α after it by the matrix P = Π_t A diag(b_t), row j of which is
    kept as e^{s_j} times numbers that sum to 1.
    """
    length, batch, states = b.shape
    size = max(2, math.isqrt(length))
    blocks = -(-(length - 1) // size)
    rest = torch.cat([b[1:], b.new_ones(blocks * size - (length - 1), batch, states)])
    rest = rest.reshape(blocks, size, batch, states).transpose(0, 1)  # (L, blocks, B, K)
    product = torch.eye(states).to(b).expand(blocks * batch, states, states).contiguous()
    scale = b.new_zeros(blocks * batch, states)
    for frame in rest.reshape(size, blocks * batch, 1, states):
        product = (product @ transition) * frame
        total = product.sum(-1)
        product = torch.where(total[..., None] > 0, product / total[..., None], 0.0)
        scale += total.log()
    product, scale = product.reshape(blocks, batch, states, states), scale.reshape(blocks, batch, states)

    first, c_first = forward_from(start, transition, b[:1])
    heads = [first[0]]  # filtered states before each block
    for block in range(blocks):
        log_weights = heads[-1].log() + scale[block]
        weights = (log_weights - log_weights.amax(1, keepdim=True)).exp()
        after = (weights[:, None] @ product[block])[:, 0]
        heads.append(after / after.sum(1, keepdim=True))
    flat = rest.reshape(size, blocks * batch, states).contiguous()
    inner, c_inner = forward_sweep(torch.cat(heads[:-1]), transition, flat)

    tails = [torch.ones_like(heads[0])]  # β at the last frame of each block, from the last block
    for block in range(blocks - 1, 0, -1):
        log_beta = scale[block] + (product[block] @ tails[-1][..., None])[..., 0].log()
        beta = (log_beta - log_beta.amax(1, keepdim=True)).exp()
        tails.append(beta / (beta * heads[block]).sum(1, keepdim=True))
    last = torch.cat(tails[::-1])
    last = last / (last * inner[-1]).sum(1, keepdim=True)
    beta_inner = backward_sweep(last, transition, flat, c_inner)

    def in_time(x: Tensor) -> Tensor:  # (L, blocks · B, …) -> (T − 1, B, …)
        x = x.reshape(size, blocks, batch, *x.shape[2:]).transpose(0, 1)
        return x.reshape(blocks * size, *x.shape[2:])[: length - 1]

    alpha = torch.cat([first, in_time(inner)])
    c = torch.cat([c_first, in_time(c_inner)])
    beta = in_time(beta_inner)
    beta_first = (b[1] * beta[0] / c[1][:, None]) @ transition.T
    return alpha, torch.cat([beta_first[None], beta]), c


# --- log domain -----------------------------------------------------------------------------------


def log_forward(start: Tensor, transition: Tensor, log_b: Tensor) -> Tensor:
    """log α, (B, T, K), not scaled."""
    log_a = transition.log()
    rows = [start.log() + log_b[:, 0]]
    for t in range(1, log_b.shape[1]):
        rows.append(log_b[:, t] + (rows[-1][:, :, None] + log_a).logsumexp(1))
    return torch.stack(rows, 1)


def log_backward(transition: Tensor, log_b: Tensor) -> Tensor:
    """log β, (B, T, K), not scaled."""
    log_a = transition.log()
    rows = [torch.zeros_like(log_b[:, 0])]
    for t in range(log_b.shape[1] - 1, 0, -1):
        rows.append((log_a + (log_b[:, t] + rows[-1])[:, None, :]).logsumexp(2))
    return torch.stack(rows[::-1], 1)


def normalised(log_alpha: Tensor) -> tuple[Tensor, Tensor]:
    """p(z_t | x_1..t) and log p(x_t | x_1..t−1) from log α."""
    totals = log_alpha.logsumexp(2)  # log p(x_1..t)
    steps = torch.cat([totals[:, :1], totals.diff(dim=1)], 1)
    return (log_alpha - totals[..., None]).exp(), steps


def in_logs(start: Tensor, transition: Tensor, log_b: Tensor, inside: Tensor | None = None) -> Posterior:
    """The same by logsumexp. What has probability 0 has log p = −inf, and no posterior (NaN)."""
    log_alpha, log_beta = log_forward(start, transition, log_b), log_backward(transition, log_b)
    filtered, log_steps = normalised(log_alpha)
    log_p = log_alpha[:, -1].logsumexp(1)[:, None, None]
    smoothed = (log_alpha + log_beta - log_p).exp()
    pairs = expected_transitions(log_alpha, log_beta, transition, log_b, log_p)
    if inside is not None:
        pairs = pairs * inside[:, 1:, None, None]
    backward = (log_alpha.logsumexp(2, keepdim=True) + log_beta - log_p).exp()
    return Posterior(filtered, backward, smoothed, pairs.sum(1), log_steps)


def expected_transitions(
    log_alpha: Tensor, log_beta: Tensor, transition: Tensor, log_b: Tensor, log_p: Tensor
) -> Tensor:
    """ξ (B, T − 1, K, K); its t-th entry is of the step to frame t + 2."""
    arriving = (log_b + log_beta)[:, 1:, None, :]
    return (log_alpha[:, :-1, :, None] + transition.log() + arriving - log_p[..., None]).exp()


# --- the likeliest path ---------------------------------------------------------------------------


def viterbi(start: Tensor, transition: Tensor, log_b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The path with the highest p(x, z): (B, T) int64, its log p(x, z) (B,), and all δ (B, T, K).

    δ_t(k) = log b_t(k) + max_j (δ_{t−1}(j) + log A_jk). It need not go through the likeliest state of every
    single frame (the largest γ): these can even be states that no transition joins.
    """
    log_a = transition.log()
    delta = [start.log() + log_b[:, 0]]
    pointers = []
    for t in range(1, log_b.shape[1]):
        best, arg = (delta[-1][:, :, None] + log_a).max(1)
        delta.append(log_b[:, t] + best)
        pointers.append(arg)
    log_p, state = delta[-1].max(1)
    path = [state]
    for arg in reversed(pointers):
        path.append(arg.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], 1), log_p, torch.stack(delta, 1)
