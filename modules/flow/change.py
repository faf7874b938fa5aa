r"""Change of variables in one dimension: a fixed monotone curve x = f(z) and what it does to a density.

    p_X(x) = p_Z(f⁻¹(x)) |∂f⁻¹/∂x| = p_Z(z) / |∂f/∂z|

Where the curve is steep the mass is spread out and the density falls; where it is flat it rises. The
curve F⁻¹ ∘ Φ makes any density with distribution function F out of a standard Gaussian.

    Power(2)       x = z^2 on z > 0     from U[0,1]:  p(x) = 1 / (2 √x)
    Exp            x = e^z              from N(0,1):  the log-normal
    Sigmoid        x = 1 / (1 + e^−z)   from N(0,1):  exp(−½ logit²x) / (√(2π) x (1 − x))
    Exponential    x = −log(1 − z) / λ  from U[0,1]:  λ e^{−λx}
    Quantile       x = F⁻¹(Φ(z))        from N(0,1):  any mixture of Gaussians

Each acts on every coordinate alone. Shapes: (..., D).
References: [UDL] 16.1, problems 16.1-16.2; [GM] 3.10, 3.12.1, problem 3.15(d); [BB] 5.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.flow.layer import FlowLayer, ValueAndLogDet, increasing_root

LOG_2PI = math.log(2 * math.pi)


class Power(FlowLayer):
    """x = z^a for z > 0."""

    def __init__(self, exponent: float = 2.0) -> None:
        super().__init__()
        require(1e-3, exponent=exponent)
        self.exponent = exponent

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        slope = math.log(self.exponent) + (self.exponent - 1) * z.log()
        return z**self.exponent, slope.sum(-1)

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return x ** (1 / self.exponent)


class Exp(FlowLayer):
    """x = e^z."""

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return z.exp(), z.sum(-1)

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return x.log()


class Sigmoid(FlowLayer):
    """x = 1 / (1 + e^−z)."""

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return z.sigmoid(), (F.logsigmoid(z) + F.logsigmoid(-z)).sum(-1)

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return x.log() - (-x).log1p()


class Exponential(FlowLayer):
    """x = −log(1 − z) / λ for z in [0, 1): the distribution function of Exp(λ), inverted."""

    def __init__(self, rate: float = 1.0) -> None:
        super().__init__()
        require(1e-6, rate=rate)
        self.rate = rate

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x = -(-z).log1p() / self.rate
        return x, (self.rate * x - math.log(self.rate)).sum(-1)

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return -torch.expm1(-self.rate * x)


class Quantile(FlowLayer):
    """x = F⁻¹(Φ(z)), F of a mixture of Gaussians: turns N(0, 1) into it exactly.

    The slope is p_Z(z) / p_X(x). Between two far modes it is huge, never infinite: no smooth bijection
    of the line gives a density of exactly 0 between them ([GM] 3.12.4).

    Args:
        weights, means, sigmas: of the mixture, each a list of K numbers.
    """

    weights: Tensor
    means: Tensor
    sigmas: Tensor

    def __init__(self, weights: Sequence[float], means: Sequence[float], sigmas: Sequence[float]) -> None:
        super().__init__()
        require(1e-12, weights=weights, sigmas=sigmas)
        for name, values in (("weights", weights), ("means", means), ("sigmas", sigmas)):
            self.register_buffer(name, torch.tensor(values, dtype=torch.float64))
        self.weights /= self.weights.sum()

    def log_density(self, x: Tensor) -> Tensor:
        """log p_X of every coordinate."""
        u = (x[..., None] - self.means) / self.sigmas
        return (self.weights.log() - 0.5 * u**2 - self.sigmas.log() - 0.5 * LOG_2PI).logsumexp(-1)

    def scores(self, x: Tensor) -> ValueAndLogDet:
        """z = Φ⁻¹(F(x)) of every coordinate, and its log slope.

        By log F, and above the median by log(1 − F): far quantiles would round to 0 and 1.
        """
        u, log_weights = (x[..., None] - self.means) / self.sigmas, self.weights.log()
        below = (log_weights + torch.special.log_ndtr(u)).logsumexp(-1)
        above = (log_weights + torch.special.log_ndtr(-u)).logsumexp(-1)
        lower = log_ndtri(torch.minimum(below, above))  # ≤ 0
        z = torch.where(below < above, lower, -lower)
        return z, self.log_density(x) + 0.5 * z**2 + 0.5 * LOG_2PI

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x = increasing_root(self.scores, z)
        return x, -self.scores(x)[1].sum(-1)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        z, slope = self.scores(x)
        return z, slope.sum(-1)


def log_ndtri(log_p: Tensor) -> Tensor:
    """The z ≤ 0 with log Φ(z) = log p, for log p ≤ log ½, to the last digits however far out.

    Newton's steps for log Φ, which is concave: from below they come nearer each time.
    """

    def slope(z: Tensor) -> Tensor:
        return (-0.5 * z.square() - 0.5 * LOG_2PI - torch.special.log_ndtr(z)).exp()

    with torch.no_grad():
        z = -(-2 * log_p).clamp(min=0).sqrt()
        for _ in range(8):
            z = z - (torch.special.log_ndtr(z) - log_p) / slope(z)
    step = (torch.special.log_ndtr(z) - log_p) / slope(z)  # once more, for its gradient in log p
    return (z - step).clamp(max=0)
