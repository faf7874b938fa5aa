r"""Forward–backward and Viterbi: sums and maxima over all K^T paths of a hidden chain in O(T K²).

    α_t(k) = p(x_1..t, z_t = k) = b_t(k) Σ_j α_{t−1}(j) A_jk,     α_1 = π b_1,     p(x) = Σ_k α_T(k)
    β_t(k) = p(x_{t+1}..T | z_t = k) = Σ_j A_kj b_{t+1}(j) β_{t+1}(j),             β_T = 1
    γ_t(k) = p(z_t = k | x) ∝ α_t β_t,    ξ_t(j, k) = α_{t−1}(j) A_jk b_t(k) β_t(k) / p(x)

b_t(k) = p(x_t | z_t = k). α falls like e^{−T}: after some hundred steps it is exactly 0. Two ways round:

- scaled: every α_t is divided by its sum c_t, and log p(x) = Σ log c_t. Fast; every frame's b may be divided
  by its largest entry first.
- log domain: sums become logsumexp. Slower; right also where scaling is not: a state's share of α underflows,
  no transition brings it back, and later frames like that state alone. `posterior` falls back on it wherever
  a state that can be reached has left the range of numbers, and transitions do not refill it.

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
PAIRS = 2**22  # entries of ξ that the log domain looks at in one go


class Posterior(NamedTuple):
    """Posterior of the states given the observations.

    Attributes:
        filtered: (B, T, K) p(z_t | x_1..t).
        backward: (B, T, K) β_t, scaled so that filtered · backward = smoothed.
        smoothed: (B, T, K) γ, p(z_t | x).
        transitions: (K, K) Σ ξ_t over all sequences and their steps: expected numbers of transitions.
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


def posterior(start: Tensor, transition: Tensor, log_b: Tensor, mask: Tensor | None = None) -> Posterior:
    """Forward and backward, scaled; in the log domain where that loses precision.

    Args:
        mask: (B, T), True for frames of the sequence, False for padding behind its end: transitions are
            counted up to its last frame. None takes all.
    """
    result, kept = try_scaled(start, transition, log_b, mask)
    return result if kept else log_domain(start, transition, log_b, mask)


def forward(start: Tensor, transition: Tensor, log_b: Tensor) -> tuple[Tensor, Tensor]:
    """The forward pass alone: p(z_t | x_1..t) (B, T, K) and log p(x_t | x_1..t−1) (B, T)."""
    b, peak = frames(log_b)
    alpha, c = forward_sweep(b, transition, start)
    if precise(start, transition, log_b, alpha, c):
        return alpha.permute(2, 0, 1), c.log().T + peak
    return normalised(log_forward(start, transition, log_b))


# --- scaled ---------------------------------------------------------------------------------------
# Here sequences stand in the last axis, (T, K, B): a step is one matrix product and sums of long rows.

SAFE = -200.0, 40.0  # log b within these is left as it is: see `precise`


def frames(log_b: Tensor) -> tuple[Tensor, Tensor]:
    """b (T, K, B) and what log b of each frame was lowered by, (B, T): its largest entry, where some log b is
    far from 0, else 0."""
    low, high = log_b.aminmax() if log_b.numel() else log_b.new_zeros(2)
    b = log_b.permute(1, 2, 0)
    if low > SAFE[0] and high < SAFE[1]:
        return b.exp().contiguous(), log_b.new_zeros(log_b.shape[:2])
    peak = log_b.amax(-1)
    peak = torch.where(peak.isfinite(), peak, 0.0)  # nobody can emit this
    return (b - peak.T[:, None]).exp_().contiguous(), peak


def forward_sweep(
    b: Tensor, transition: Tensor, start: Tensor | None = None, before: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled α (T, K, B) and c (T, B) over frames b (T, K, B).

    Args:
        start: π (K,), or
        before: the filtered states (K, B) of the frame before the first.
    """
    alpha, c = torch.empty_like(b), b.new_empty(len(b), b.shape[2])
    forth = transition.T.contiguous()
    for frame, now, total in zip(b.unbind(), alpha.unbind(), c.unbind(), strict=True):
        if before is None:
            torch.mul(frame, start[:, None], out=now)  # type: ignore[index]
        else:
            torch.mm(forth, before, out=now).mul_(frame)
        torch.sum(now, 0, out=total)
        now.div_(total)
        before = now
    return alpha, c


def backward_sweep(last: Tensor, transition: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Scaled β (T, K, B), given that of the last frame (K, B); and b β / c, what a step arrives with."""
    beta, arriving = torch.empty_like(b), b / c[:, None]
    beta[-1] = last
    rows, moved = beta.unbind()[::-1], arriving.unbind()[::-1]
    for now, arrives, before in zip(rows, moved, (*rows[1:], None), strict=True):
        arrives.mul_(now)
        if before is not None:
            torch.mm(transition, arrives, out=before)
    return beta, arriving


def precise(start: Tensor, transition: Tensor, log_b: Tensor, alpha: Tensor, c: Tensor) -> bool:
    """True if scaled α (T, K, B) and c (T, B) have lost nothing that counts.

    A product b_t(k) Σ_j α_{t−1}(j) A_jk that falls below the least number with all its digits is lost. That
    is harmless if every transition refills every state, for then no state's β exceeds another's by more than
    1 / min A. If not, all paths through that state are gone, and later frames may like them alone. A state
    that no path reaches is 0 by right.
    """
    info = torch.finfo(alpha.dtype)
    least = info.tiny / info.eps**2  # with room for b up to e^SAFE
    if not bool(((c >= least) & c.isfinite()).all()):
        return False
    if float(transition.min()) >= math.sqrt(info.tiny):
        return True
    lost = alpha * c[:, None] < least
    if not bool(lost.any()):
        return True
    joined, shown = (transition.T > 0).to(alpha), log_b.permute(1, 2, 0) > -math.inf
    reached = shown[0] & (start > 0)[:, None]
    for t in range(len(alpha)):
        if t:
            reached = shown[t] & (joined @ reached.to(joined) > 0)
        if bool((reached & lost[t]).any()):
            return False
    return True


def scaled(start: Tensor, transition: Tensor, log_b: Tensor, mask: Tensor | None = None) -> Posterior:
    """Forward and backward with every α_t scaled to sum 1, whatever is lost by it."""
    return try_scaled(start, transition, log_b, mask)[0]


def try_scaled(
    start: Tensor, transition: Tensor, log_b: Tensor, mask: Tensor | None = None
) -> tuple[Posterior, bool]:
    """Forward and backward with every α_t scaled to sum 1, and whether that is right (`precise`)."""
    batch, length, _ = log_b.shape
    b, peak = frames(log_b)
    if length >= LONG and batch <= FEW:
        alpha, beta, arriving, c = blocked(start, transition, b)
    else:
        alpha, c = forward_sweep(b, transition, start)
        beta, arriving = backward_sweep(torch.ones_like(b[0]), transition, b, c)
    # Σ_t ξ_t = A ∘ Σ_t α_{t−1} (b_t β_t / c_t)ᵀ
    arriving = arriving[1:] if mask is None else arriving[1:] * mask.T[1:, None]
    pairs = torch.bmm(alpha[:-1], arriving.mT).sum(0)
    smooth, moves = alpha * beta, pairs * transition
    # β of a state that cannot be reached has no bound: where it overflows it takes the others with it
    kept = bool(smooth.isfinite().all() & moves.isfinite().all()) and precise(
        start, transition, log_b, alpha, c
    )
    filtered, backward, smoothed = (part.permute(2, 0, 1) for part in (alpha, beta, smooth))
    return Posterior(filtered, backward, smoothed, moves, c.log().T + peak), kept


def blocked(start: Tensor, transition: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """α, β, b β / c (T, K, B) and c (T, B), as the sweeps give them, by about 4 √T steps instead of 2 T.

    A block of L frames takes α before it to α after it by the matrix P = Π_t A diag(b_t), row j of which is
    kept as e^{s_j} times numbers that sum to 1.
    """
    length, states, batch = b.shape
    size = max(2, math.isqrt(length))
    blocks = -(-(length - 1) // size)
    rest = torch.cat([b[1:], b.new_ones(blocks * size - (length - 1), states, batch)])
    rest = rest.reshape(blocks, size, states, batch).permute(1, 2, 0, 3)  # (L, K, blocks, B)
    flat = rest.reshape(size, states, blocks * batch).contiguous()
    product = torch.eye(states).to(b).expand(blocks * batch, states, states).contiguous()
    scale = b.new_zeros(blocks * batch, states)
    for frame in flat.mT[:, :, None]:  # (blocks · B, 1, K)
        product = (product @ transition) * frame
        total = product.sum(-1)
        product = torch.where(total[..., None] > 0, product / total[..., None], 0.0)
        scale += total.log()
    product, scale = product.reshape(blocks, batch, states, states), scale.reshape(blocks, batch, states)

    first, c_first = forward_sweep(b[:1], transition, start)
    heads = [first[0].T]  # filtered states before each block, (B, K)
    for block in range(blocks):
        log_weights = heads[-1].log() + scale[block]
        weights = (log_weights - log_weights.amax(1, keepdim=True)).exp()
        after = (weights[:, None] @ product[block])[:, 0]
        heads.append(after / after.sum(1, keepdim=True))
    inner, c_inner = forward_sweep(flat, transition, before=torch.cat(heads[:-1]).T.contiguous())

    tails = [torch.ones_like(heads[0])]  # β at the last frame of each block, from the last block
    for block in range(blocks - 1, 0, -1):
        log_beta = scale[block] + (product[block] @ tails[-1][..., None])[..., 0].log()
        beta = (log_beta - log_beta.amax(1, keepdim=True)).exp()
        tails.append(beta / (beta * heads[block]).sum(1, keepdim=True))
    last = torch.cat(tails[::-1]).T
    last = last / (last * inner[-1]).sum(0)
    beta_inner, arriving_inner = backward_sweep(last, transition, flat, c_inner)

    def in_time(x: Tensor) -> Tensor:  # (L, K, blocks · B) -> (T − 1, K, B)
        x = x.reshape(size, -1, blocks, batch).permute(2, 0, 1, 3)
        return x.reshape(blocks * size, -1, batch)[: length - 1]

    alpha, c = torch.cat([first, in_time(inner)]), torch.cat([c_first, in_time(c_inner[:, None])[:, 0]])
    arriving = in_time(arriving_inner)
    beta = torch.cat([(transition @ arriving[0])[None], in_time(beta_inner)])
    arriving = torch.cat([(b[:1] * beta[:1] / c[:1, None]), arriving])
    return alpha, beta, arriving, c


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
    steps = torch.cat([totals[:, :1], totals.diff(dim=1)], 1).nan_to_num(nan=-math.inf, neginf=-math.inf)
    return (log_alpha - totals[..., None]).exp(), steps


def log_domain(start: Tensor, transition: Tensor, log_b: Tensor, mask: Tensor | None = None) -> Posterior:
    """The same by logsumexp. What has probability 0 has log p = −inf, and no posterior (NaN)."""
    log_alpha, log_beta = log_forward(start, transition, log_b), log_backward(transition, log_b)
    filtered, log_steps = normalised(log_alpha)
    log_p = log_alpha[:, -1].logsumexp(1)[:, None, None]
    smoothed = (log_alpha + log_beta - log_p).exp()
    backward = (log_alpha.logsumexp(2, keepdim=True) + log_beta - log_p).exp()
    moves = torch.zeros_like(transition)
    at_once = max(1, PAIRS // (len(log_b) * transition.numel()))
    for begin in range(0, log_b.shape[1] - 1, at_once):
        span = slice(begin, begin + at_once + 1)
        pairs = expected_transitions(log_alpha[:, span], log_beta[:, span], transition, log_b[:, span], log_p)
        if mask is not None:
            pairs = pairs * mask[:, span][:, 1:, None, None]
        moves += pairs.sum((0, 1))
    return Posterior(filtered, backward, smoothed, moves, log_steps)


def expected_transitions(
    log_alpha: Tensor, log_beta: Tensor, transition: Tensor, log_b: Tensor, log_p: Tensor
) -> Tensor:
    """ξ (B, T − 1, K, K); its t-th entry is of the step to frame t + 2."""
    arriving = (log_b + log_beta)[:, 1:, None, :]
    return (log_alpha[:, :-1, :, None] + transition.log() + arriving - log_p[..., None]).exp()


# --- the likeliest path ---------------------------------------------------------------------------


def viterbi(
    start: Tensor, transition: Tensor, log_b: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The path with the highest p(x, z): (B, T) int64, its log p(x, z) (B,), and all δ (B, T, K).

    δ_t(k) = log b_t(k) + max_j (δ_{t−1}(j) + log A_jk). It need not go through the likeliest state of every
    single frame (the largest γ): these can even be states that no transition joins.

    Args:
        mask: (B, T), True for frames of the sequence, False for padding behind its end, where the path stays
            in its last state and nothing is paid for it. None takes all.
    """
    log_a = transition.log()
    stay = torch.arange(len(transition), device=log_b.device)
    delta = [start.log() + log_b[:, 0]]
    pointers = []
    for t in range(1, log_b.shape[1]):
        best, arg = (delta[-1][:, :, None] + log_a).max(1)
        best = log_b[:, t] + best
        if mask is not None:
            here = mask[:, t, None]
            best, arg = torch.where(here, best, delta[-1]), torch.where(here, arg, stay)
        delta.append(best)
        pointers.append(arg)
    log_p, state = delta[-1].max(1)
    path = [state]
    for arg in reversed(pointers):
        path.append(arg.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], 1), log_p, torch.stack(delta, 1)
