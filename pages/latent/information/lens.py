"""Surprise of a few symbols under two beliefs, and Jensen's inequality for the logarithm.

Q goes from P itself (λ = 0) to what is typed (λ = 1): Q_λ = (1 − λ) P + λ Q. As KL is convex,
KL(P ‖ Q_λ) ≤ (1 − λ) KL(P ‖ P) + λ KL(P ‖ Q) = λ KL(P ‖ Q).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from modules.latent.information import cross_entropy, entropy, jensen_gap, kl

SYMBOLS = 8
SHARES = [round(0.05 * i, 2) for i in range(21)]  # λ
SPREADS = [round(0.05 * i, 2) for i in range(21)]  # t
LAWS = ("die", "uniform", "lognormal", "own")


# --- Surprise ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bars:
    """P (K,), Q_λ (F, K), and for every λ (F,): H(P), H(P, Q), H(Q), H(Q, P), nats; may be infinite."""

    p: Tensor
    q: Tensor
    h_p: Tensor
    h_pq: Tensor
    h_q: Tensor
    h_qp: Tensor

    @property
    def forward(self) -> Tensor:
        """KL(P ‖ Q_λ), (F,)."""
        return kl(self.p, self.q)

    @property
    def backward(self) -> Tensor:
        """KL(Q_λ ‖ P), (F,)."""
        return kl(self.q, self.p)


def evened(p: Sequence[float], q: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Both over as many symbols; what one does not name has probability 0 there."""
    pairs = torch.tensor(list(zip_longest(p, q, fillvalue=0.0)), dtype=torch.float64)
    return pairs[:, 0], pairs[:, 1]


def bars(p: Tensor, q: Tensor) -> Bars:
    """(K,) and (K,)"""
    share = torch.tensor(SHARES, dtype=torch.float64)[:, None]
    mixed = (1 - share) * p + share * q
    mixed[0], mixed[-1] = p, q  # exactly, zeros included
    alike = p.expand_as(mixed)
    return Bars(p, mixed, entropy(alike), cross_entropy(p, mixed), entropy(mixed), cross_entropy(mixed, p))


def surprises(p: Tensor, top: float) -> Tensor:
    """−log p, at most `top`."""
    return (-p.log()).clamp(max=top)


def spelled(value: float) -> str:
    return r"\infty" if value == math.inf else f"{value:.3f}"


def captions(result: Bars) -> list[str]:
    """A sentence for every λ."""
    texts = []
    for share, q, forward in zip(SHARES, result.q, result.forward.tolist(), strict=True):
        missing = ((q == 0) & (result.p > 0)).nonzero().flatten()
        if len(missing):
            texts.append(
                f"Q rules out symbol {int(missing[0]) + 1}, which P draws: the surprise is infinite."
            )
        elif share == 0:
            texts.append("Q is P: nothing is paid beyond the entropy.")
        else:
            texts.append(f"Who believes Q where P is true pays {forward:.3f} nats per symbol too much.")
    return texts


def equations(result: Bars) -> list[str]:
    """KL both ways, LaTeX, for every λ."""
    return [
        rf"\mathrm{{KL}}(P\|Q)=H(P,Q)-H(P)={spelled(pq)}-{spelled(p)}={spelled(forward)}"
        rf"\qquad\mathrm{{KL}}(Q\|P)={spelled(backward)}"
        for pq, p, forward, backward in zip(
            result.h_pq.tolist(), result.h_p.tolist(), result.forward.tolist(), result.backward.tolist(),
            strict=True,
        )
    ]  # fmt: skip


def convexity(result: Bars, at: int) -> str:
    """KL at λ, the bound that convexity gives, and the one that [BB] lemma 6.2(4) prints, LaTeX."""
    here, whole = float(result.forward[at]), float(result.forward[-1])
    bound = 0.0 if SHARES[at] == 0 else SHARES[at] * whole
    return (
        rf"\mathrm{{KL}}(P\|Q_\lambda)={spelled(here)}\le\lambda\,\mathrm{{KL}}(P\|Q)={spelled(bound)}"
        rf"\qquad\text{{printed: }}\le\mathrm{{KL}}(P\|P)=0"
    )


# --- Jensen -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Jensen:
    """Equally likely positive values, for every spread t: y (F, N), their mean (F,), log E y and E log y
    (F,), and the gap (F,)."""

    y: Tensor
    mean: Tensor
    log_mean: Tensor
    mean_log: Tensor
    gap: Tensor


def values(name: str, own: Sequence[float], sigma: float = 1.0) -> Tensor:
    """Equally likely values (N,): those of a die, quantiles of a distribution, or the reader's own."""
    if name == "die":
        return torch.arange(1.0, 7.0, dtype=torch.float64)
    if name == "own":
        return torch.tensor(own, dtype=torch.float64)
    u = (torch.arange(2000, dtype=torch.float64) + 0.5) / 2000
    return u if name == "uniform" else (sigma * torch.special.ndtri(u)).exp()


def jensen(y: Tensor) -> Jensen:
    """The values drawn together towards their mean: y_t = E y + t (y − E y)."""
    t = torch.tensor(SPREADS, dtype=torch.float64)[:, None]
    drawn = y.mean() + t * (y - y.mean())
    gap = jensen_gap(drawn, torch.full_like(drawn, 1 / len(y)))
    log_mean = drawn.mean(1).log()
    return Jensen(drawn, drawn.mean(1), log_mean, log_mean - gap, gap)


def jensen_equations(result: Jensen) -> list[str]:
    """LaTeX, for every spread."""
    return [
        rf"\log E\,y-E\log y={a:.4f}-({b:.4f})={abs(g):.4f}\ge 0"
        for a, b, g in zip(
            result.log_mean.tolist(), result.mean_log.tolist(), result.gap.tolist(), strict=True
        )
    ]
