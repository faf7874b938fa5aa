r"""More monotone maps: a mixture of logistics, the nonlinear square, sums of squares, integrals of a network.

    mixture of logistics   y = logit Σ_k π_k σ((h − μ_k)/s_k),  then e^a y + b            3 K + 2 numbers
    nonlinear squared      a h + b + c / (1 + (d h + g)²),  |c| < 8√3 a / (9 d)           5 numbers
    sum of squares         b + ∫_0^h Σ_k (Σ_l a_kl u^l)² du, a polynomial                 K (r + 1) + 1
    unconstrained          b + ∫_0^h e^{n(u; θ)} du, n by chords between fixed knots      3 K + 2

The mixture reaches all of R, so its density integrates to 1; maps that stop short of it report likelihoods
that are too high. Each `generate` is the closed form and its inverse is solved: `InverseMonotone(…)` puts
the closed form on the way from data to noise.

References: Ho et al. 2019, arXiv:1902.00275 (Flow++); Ziegler & Rush 2019, arXiv:1901.10548; Jaini et al.
2019, arXiv:1905.02325; Wehenkel & Louppe 2019, arXiv:1908.05164; [UDL] notes to chapter 16.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.flow.bins import pick
from modules.flow.layer import ValueAndLogDet
from modules.flow.monotone import Monotone, soft_clamp

STEEPEST = 8 * math.sqrt(3) / 9  # |c| d / a at which the nonlinear square is flat somewhere
WIDEST = 2.0  # logarithm of a component's scale, at most; the narrowest is its inverse


class LogisticMixture(Monotone):
    """The distribution function of K logistics, made a map of R onto R by the logit.

    The components start apart, at −1 … 1, else all would learn the same; for K = 1 it is affine and
    starts as the identity.
    """

    starts: Tensor

    def __init__(self, components: int = 4) -> None:
        super().__init__()
        require(1, components=components)
        self.components, self.num_params = components, 3 * components + 2
        self.register_buffer("starts", torch.linspace(-1, 1, components + 2)[1:-1], persistent=False)

    def extra_repr(self) -> str:
        return f"components={self.components}"

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        logits, means, log_sigmas, last = theta.split([self.components] * 3 + [2], -1)
        # scales are bounded: far out a conditioner's answers are large, and e to them no number any more; and
        # between components much narrower than their distance F is flat to the last digit: no way back
        y, slope = logistic_mixture(
            z, logits.log_softmax(-1), means + self.starts, soft_clamp(log_sigmas, WIDEST)
        )
        shift, log_scale = last[..., 0], soft_clamp(last[..., 1], WIDEST)
        return y * log_scale.exp() + shift, slope + log_scale


def logistic_mixture(h: Tensor, log_pi: Tensor, means: Tensor, log_sigmas: Tensor) -> ValueAndLogDet:
    """h (...) -> logit F(h) and its log slope, F the mixture's distribution function."""
    u = (h[..., None] - means) * (-log_sigmas).exp()
    up, down = F.logsigmoid(u), F.logsigmoid(-u)
    log_below, log_above = (log_pi + up).logsumexp(-1), (log_pi + down).logsumexp(-1)
    log_density = (log_pi + up + down - log_sigmas).logsumexp(-1)
    return log_below - log_above, log_density - log_below - log_above


class NonlinearSquared(Monotone):
    """A line with one bump: five numbers, kept within the bound that makes it increase. θ = 0: identity."""

    num_params = 5

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        raw_a, b, raw_c, raw_d, g = theta.unbind(-1)
        a, d = raw_a.exp(), raw_d.exp()
        c = 0.95 * STEEPEST * raw_c.tanh() * a / d
        value, slope = nonlinear_squared(z, a, b, c, d, g)
        return value, slope.log()


def nonlinear_squared(
    h: Tensor, a: Tensor | float, b: Tensor | float, c: Tensor | float, d: Tensor | float, g: Tensor | float
) -> ValueAndLogDet:
    """Value and slope (not its logarithm: it is negative somewhere beyond the bound on c)."""
    u = d * h + g
    bump = 1 / (1 + u * u)
    return a * h + b + c * bump, a - 2 * c * d * u * bump * bump


class SumOfSquares(Monotone):
    """Integral of a sum of K squared polynomials of degree r, plus a least slope. θ = 0: identity."""

    LEAST = 1e-2

    def __init__(self, polynomials: int = 2, degree: int = 2) -> None:
        super().__init__()
        require(1, polynomials=polynomials, degree=degree)
        self.polynomials, self.degree = polynomials, degree
        self.num_params = polynomials * (degree + 1) + 1

    def extra_repr(self) -> str:
        return f"polynomials={self.polynomials}, degree={self.degree}"

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        a = theta[..., 1:].unflatten(-1, (self.polynomials, self.degree + 1))
        one = torch.zeros_like(a[..., :1, :])
        one[..., 0, 0] = math.sqrt(1 - self.LEAST)
        a = torch.cat([a[..., :1, :] + one, a[..., 1:, :]], -2)
        value, slope = sum_of_squares(z, a)
        return theta[..., 0] + self.LEAST * z + value, (slope + self.LEAST).log()


def sum_of_squares(h: Tensor, a: Tensor) -> ValueAndLogDet:
    """∫_0^h Σ_k (Σ_l a_kl u^l)² du and the integrand at h; h (...), a (..., K, r + 1)."""
    order = a.shape[-1]
    square = [
        sum((a[..., i] * a[..., n - i]).sum(-1) for i in range(max(0, n - order + 1), min(n, order - 1) + 1))
        for n in range(2 * order - 1)
    ]  # coefficients of the integrand
    value, slope = torch.zeros_like(h), torch.zeros_like(h)
    for n in reversed(range(len(square))):  # Horner's rule
        value, slope = value * h + square[n] / (n + 1), slope * h + square[n]
    return value * h, slope


class Integral(Monotone):
    """Integral of a positive network of one input, K hidden units; its weights are θ ("unconstrained").

    Its logarithm n is taken by chords between fixed knots, denser near 0, and is constant beyond them: each
    piece e^{chord} has a closed integral. So the slope is that of the map itself, and above 0 for any θ; a
    quadrature over [0, h] whose nodes move with h can fall where n' is large.

    Args:
        hidden: K.
        points: knots on either side of 0, which is one too.
    """

    BOUND = 5.0  # of n, soft_clamp
    knots: Tensor

    def __init__(self, hidden: int = 8, points: int = 16) -> None:
        super().__init__()
        require(1, hidden=hidden, points=points)
        self.hidden, self.num_params = hidden, 3 * hidden + 2
        even = torch.linspace(-1, 1, 2 * points + 1, dtype=torch.float64)
        self.register_buffer("knots", 8 * (3 * even).sinh() / math.sinh(3), persistent=False)

    def extra_repr(self) -> str:
        return f"hidden={self.hidden}, knots={len(self.knots)}"

    def log_integrand(self, u: Tensor, theta: Tensor) -> Tensor:
        """n(u), u (Q,), θ (..., k) -> (..., Q)."""
        _, bias, w, b, v = theta[..., None, :].split([1, 1, *[self.hidden] * 3], -1)
        unit = (w * u[:, None] + b).tanh()  # (..., Q, K)
        return soft_clamp((v * unit).sum(-1) + bias[..., 0], self.BOUND)

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        knots = self.knots.to(z)
        n = self.log_integrand(knots, theta)  # (..., Q)
        width, rise = knots.diff(), n.diff(dim=-1)
        areas = width * n[..., :-1].exp() * mean_exp(rise)
        reached = F.pad(areas.cumsum(-1), (1, 0))  # at each knot, from the first
        reached = reached - reached[..., len(knots) // 2, None]  # from 0
        cell = (torch.searchsorted(knots, z.detach().contiguous(), right=True) - 1).clamp(0, len(width) - 1)
        start, size = knots[cell], width[cell]
        inner = ((z - start) / size).clamp(0, 1)  # of its cell
        n_start, n_rise = pick(n, cell), pick(rise, cell)
        slope = n_start + n_rise * inner
        value = pick(reached, cell) + size * inner * n_start.exp() * mean_exp(n_rise * inner)
        beyond = z - start - size * inner  # outside of all knots the map goes on straight
        return theta[..., 0] + value + beyond * slope.exp(), slope


def mean_exp(d: Tensor) -> Tensor:
    """∫_0^1 e^{d t} dt = (e^d − 1)/d, 1 at 0."""
    small = d.abs() < 1e-3
    safe = torch.where(small, 1.0, d)
    return torch.where(small, 1 + d / 2 + d.square() / 6 + d**3 / 24, safe.expm1() / safe)
