r"""Distances between the data's distribution p and the generator's q: what each kind of GAN minimises.

    D*(x)  = p / (p + q),  logit log p − log q              the best discriminator of a pair of means
    L*     = E_p −log D* + E_q −log(1 − D*) = 2 log 2 − 2 D_JS(q ‖ p)
    D_JS   = ½ KL(q ‖ m) + ½ KL(p ‖ m),  m = (p + q) / 2    quality + coverage, never above log 2
    D_f    = Σ q f(p/q) = max_T  E_p T − E_q f*(T),  the best T = f′(p/q)

Closed forms in the shift a for boxes [0, 1] → [a, a + 1] and for Gaussians: KL is ∞ as soon as boxes part,
Jensen–Shannon stops at log 2, and Wasserstein's go on growing: W₁ = |a|, W₂² = a².

Shapes: tables p, q (..., K), entries sum to 1; densities on a grid times its spacing are tables too. Shifts
and moments are float64 tensors of any one shape. Nats.

References: Goodfellow et al. 2014, arXiv:1406.2661; Arjovsky et al. 2017, arXiv:1701.07875; Nowozin et al.
2016 (f-GAN, the table), arXiv:1606.00709; Mao et al. 2017 (least squares), arXiv:1611.04076; [UDL] §15.2.1,
notes, problems 15.1–15.5.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.latent.information import kl

LOG2 = math.log(2)


# --- The optimal discriminator and what is left for the generator -------------------------------


def optimal_discriminator(p: Tensor, q: Tensor, real: float = 1.0, fake: float = 1.0) -> Tensor:
    """D* of every x: the probability that it is real.

    `real` and `fake` weigh the two terms: 1 and 1 where each is a mean, the numbers I and J of examples where
    both are sums ([UDL] eq. 15.7 asks for I = J: only its sums need it, the means of 15.6 do not).
    """
    return real * p / (real * p + fake * q)


def smoothed_discriminator(p: Tensor, q: Tensor, real: float, fake: float = 0.0) -> Tensor:
    """D* when the real label is `real` instead of 1 and the fake one `fake` instead of 0."""
    return (real * p + fake * q) / (p + q)


def game_value(p: Tensor, q: Tensor, discriminator: Tensor) -> Tensor:
    """−E_p log D − E_q log(1 − D), which the discriminator makes small: (...)."""
    # a bin that both leave empty has no D, and counts for nothing
    of_p, of_q = torch.where(p > 0, discriminator, 1.0), torch.where(q > 0, 1 - discriminator, 1.0)
    return -torch.xlogy(p, of_p).sum(-1) - torch.xlogy(q, of_q).sum(-1)


def jensen_shannon_parts(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """½ KL(q ‖ m), the quality of what is generated, and ½ KL(p ‖ m), the coverage of the data.

    [UDL] §15.2.1 says that coverage does not depend on the generator: true while D is held fixed. At the best
    D the gradient is that of both parts.
    """
    m = (p + q) / 2
    return kl(q, m) / 2, kl(p, m) / 2


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """D_JS, from 0 to log 2: (...)."""
    quality, coverage = jensen_shannon_parts(p, q)
    return quality + coverage


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """½ Σ |p − q|."""
    return (p - q).abs().sum(-1) / 2


def least_squares_discriminator(p: Tensor, q: Tensor, fake: float, real: float) -> Tensor:
    """The output that minimises ½ E_p (f − real)² + ½ E_q (f − fake)²."""
    return (real * p + fake * q) / (p + q)


# --- f-divergences ------------------------------------------------------------------------------


class FDivergence(NamedTuple):
    """One row of the table.

    Attributes:
        f: convex, f(1) = 0 but for the original GAN's.
        slope: f′, which turns the ratio p/q into the best T.
        conjugate: f*(t) = sup_u ut − f(u).
        activation: T(v), any real number into the domain of f*, rising: what a network's last layer needs.
        conjugate_activation: f*(T(v)) in closed form, for T(v) rounds to the end of the domain long before f*
            is large.
    """

    f: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]
    conjugate: Callable[[Tensor], Tensor]
    activation: Callable[[Tensor], Tensor]
    conjugate_activation: Callable[[Tensor], Tensor]

    def divergence(self, p: Tensor, q: Tensor) -> Tensor:
        """Σ q f(p/q) for q > 0, or both 0: (...)."""
        empty = (p == 0) & (q == 0)
        return torch.where(empty, 0.0, q * self.f(torch.where(empty, 1.0, p / q))).sum(-1)

    def bound(self, p: Tensor, q: Tensor, t: Tensor) -> Tensor:
        """E_p T − E_q f*(T), at most the divergence."""
        return (p * t - q * self.conjugate(t)).sum(-1)


# torch's softplus is cut off at 20, its logsigmoid is not: sp(v) is −logsigmoid(−v)
F_DIVERGENCES: dict[str, FDivergence] = {
    "KL": FDivergence(
        lambda u: torch.xlogy(u, u),
        lambda u: 1 + u.log(),
        lambda t: (t - 1).exp(),
        lambda v: v,
        lambda v: (v - 1).exp(),
    ),
    "reverse KL": FDivergence(
        lambda u: -u.log(),
        lambda u: -1 / u,
        lambda t: -1 - (-t).log(),
        lambda v: -(-v).exp(),
        lambda v: v - 1,
    ),
    "Pearson": FDivergence(
        lambda u: (u - 1).square(),
        lambda u: 2 * (u - 1),
        lambda t: t.square() / 4 + t,
        lambda v: v,
        lambda v: v.square() / 4 + v,
    ),
    "squared Hellinger": FDivergence(
        lambda u: (u.sqrt() - 1).square(),
        lambda u: 1 - u.rsqrt(),
        lambda t: t / (1 - t),
        lambda v: -(-v).expm1(),
        lambda v: v.expm1(),
    ),
    "JS": FDivergence(  # 2 D_JS
        lambda u: torch.xlogy(u, u) - (u + 1) * ((1 + u) / 2).log(),
        lambda u: (2 * u / (1 + u)).log(),
        lambda t: -(2 - t.exp()).log(),
        lambda v: LOG2 + F.logsigmoid(v),
        lambda v: -F.logsigmoid(-v) - LOG2,
    ),
    "GAN": FDivergence(  # 2 D_JS − 2 log 2
        lambda u: torch.xlogy(u, u) - (u + 1) * (1 + u).log(),
        lambda u: (u / (1 + u)).log(),
        lambda t: -(-t.expm1()).log(),
        F.logsigmoid,
        lambda v: -F.logsigmoid(-v),
    ),
}


# --- Against a shift, in closed form --------------------------------------------------------------


def box_divergences(shift: Tensor) -> dict[str, Tensor]:
    """Uniform on [0, 1] against uniform on [a, a + 1]: every measure, of the shape of `shift`.

    [UDL] §15.2.2 calls the measure behind the GAN's loss infinite for distributions that do not overlap:
    KL is, that measure is log 2, and flat.
    """
    far = shift.abs()
    infinite = torch.where(far > 0, math.inf, 0.0).to(shift)
    return {
        "KL": infinite,
        "reverse KL": infinite,
        "JS": LOG2 * far.clamp(max=1),
        "W1": far,
        "W2²": far.square(),
    }


def gaussian_kl(mean: Tensor, sd: Tensor, mean2: Tensor, sd2: Tensor) -> Tensor:
    """KL(N(mean, sd²) ‖ N(mean2, sd2²))."""
    return (sd2 / sd).log() + (sd.square() + (mean - mean2).square()) / (2 * sd2.square()) - 0.5


def gaussian_w1(mean: Tensor, sd: Tensor, mean2: Tensor, sd2: Tensor) -> Tensor:
    """W₁ of two Gaussians of the line: E |Δμ + Δσ Z|, the mean of a folded normal."""
    shift, spread = (mean - mean2).abs(), (sd - sd2).abs()
    ratio = shift / spread.clamp(min=torch.finfo(spread.dtype).tiny)
    folded = spread * math.sqrt(2 / math.pi) * (-ratio.square() / 2).exp() + shift * torch.erf(
        ratio / math.sqrt(2)
    )
    return torch.where(spread > 0, folded, shift)


def gaussian_w2_squared(mean: Tensor, sd: Tensor, mean2: Tensor, sd2: Tensor) -> Tensor:
    """W₂² = Δμ² + (σ₁ − σ₂)², the square of the distance.

    [UDL] eq. 15.21 ends in −2 √(σ₁σ₂), which is right by luck at σ₁σ₂ = 1: it must be −2 σ₁σ₂.
    """
    return (mean - mean2).square() + (sd - sd2).square()


def gaussian_js(
    mean: Tensor, sd: Tensor, mean2: Tensor, sd2: Tensor, cells: int = 4001, reach: float = 12.0
) -> Tensor:
    """D_JS of two Gaussians, which has no closed form: the rectangle rule over `reach` deviations of each,
    for its own half, so that the grid is as fine as what it is to see."""
    mean, sd, mean2, sd2 = (v[..., None] for v in torch.broadcast_tensors(
        *(v.double() for v in (mean, sd, mean2, sd2))
    ))  # fmt: skip
    t = torch.linspace(-reach, reach, cells, dtype=torch.float64)
    weights = (-0.5 * t.square()).exp()
    weights = weights / weights.sum()
    halves = []
    for m, s, m2, s2 in ((mean, sd, mean2, sd2), (mean2, sd2, mean, sd)):
        x = m + s * t
        gap = gaussian_log_density(x, m, s) - gaussian_log_density(x, m2, s2)
        # log p/m = log 2 − log(1 + q/p): nothing underflows where one density is 0
        halves.append((weights * (LOG2 + F.logsigmoid(gap))).sum(-1))
    return ((halves[0] + halves[1]) / 2).clamp(max=LOG2)


def gaussian_log_density(x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
    """log N(x; mean, sd²)."""
    return -0.5 * ((x - mean) / sd).square() - sd.log() - 0.5 * math.log(2 * math.pi)


def gaussian_divergences(shift: Tensor, sd: float = 1.0, sd2: float = 1.0) -> dict[str, Tensor]:
    """N(0, sd²) against N(a, sd2²): every measure, float64, of the shape of `shift`."""
    a = shift.double()
    left = torch.zeros_like(a), torch.full_like(a, sd)
    right = a, torch.full_like(a, sd2)
    return {
        "KL": gaussian_kl(*left, *right),
        "reverse KL": gaussian_kl(*right, *left),
        "JS": gaussian_js(*left, *right),
        "W1": gaussian_w1(*left, *right),
        "W2²": gaussian_w2_squared(*left, *right),
    }
