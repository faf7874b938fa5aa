r"""Invertible residual networks: h + f(h) is a bijection if f is a contraction.

    z = x + f(x),   Lip f < 1;      inverse: x_{k+1} = z − f(x_k), the error falls by Lip f per step
    log det (I + J) = tr log (I + J) = Σ_{k≥1} (−1)^{k−1} tr(J^k) / k

[UDL] eq. 16.22 lacks the 1/k (and writes trace[·]^k, which reads as a power of the trace): for
J = diag(.5, .3) that is .564103, the truth .667829. Truncated at n terms the bias is at most
D Σ_{k>n} L^k/k. tr(J^k) is exact, or estimated by Hutchinson's εᵀ J^k ε, or, with a random number N of terms
weighted by 1/P(N ≥ k), unbiased (Russian roulette; its variance is finite if ρ(J)² < 1 − p).

What trains on estimates is no exact likelihood; here `eval` mode is exact (D tangents).
Shapes: (..., D). Normalizing is the closed form, as data are scored in training.
References: Behrmann et al. 2019, arXiv:1811.00995; Chen et al. 2019, arXiv:1906.02735; [UDL] 16.3.7.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require, require_one_of
from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.linear import Diagonal
from modules.flow.tangent import Push, TangentMLP, probes, unit_vectors

Estimator = Literal["exact", "series", "hutchinson", "roulette"]


class NotConverged(ValueError):
    """A fixed point was not reached: the map is no contraction."""


def fixed_point(
    f: Callable[[Tensor], Tensor], start: Tensor, tolerance: float = 1e-12, most: int = 1000
) -> tuple[Tensor, int]:
    """h with h = f(h) by iteration from `start`, and the number of steps.

    Raises:
        NotConverged: after `most` steps it still moves, or it has left the numbers.
    """
    h = start
    for steps in range(1, most + 1):
        new = f(h)
        moved = (new - h).abs().max().item()
        h = new
        if moved <= tolerance * (1 + h.abs().max().item()):
            return h, steps
        if not moved < 1e12:
            break
    raise NotConverged(f"The iteration did not settle in {steps} steps: is the slope below 1?")


# --- log det (I + J) ------------------------------------------------------------------------------


def log_det(push: Push, h: Tensor) -> Tensor:
    """log |det (I + J)|, exact: D tangents and one determinant per example."""
    eye = unit_vectors(h)
    return torch.linalg.slogdet(eye + push(eye)).logabsdet  # rows are J e_i: the transpose, same determinant


def series(push: Push, v: Tensor, terms: int, weights: Sequence[float] | None = None) -> Tensor:
    """Σ_k w_k (−1)^{k−1} vᵀ J^k v / k for every tangent v (..., n, D) -> (..., n), w_k = 1 without weights.

    With the unit vectors, summed over n, this is the truncated series of traces.
    """
    pushed, total = v, torch.zeros_like(v[..., 0])
    for k in range(1, terms + 1):
        pushed = push(pushed)
        weight = 1.0 if weights is None else weights[k - 1]
        total = total + weight * (-1) ** (k - 1) / k * (pushed * v).sum(-1)
    return total


def roulette(terms: int, p: float) -> list[float]:
    """1 / P(N ≥ k) for k = 1 … `terms`, N geometric with stop probability p: P(N ≥ k) = (1 − p)^{k−1}."""
    return [(1 - p) ** (1 - k) for k in range(1, terms + 1)]


class Residual(FlowLayer):
    """z = x + f(x), f of spectral norm at most `coefficient` < 1.

    Args:
        features: D.
        hidden: widths of f.
        coefficient: c of every weight.
        estimator: of the log-determinant in training; evaluation is exact.
        terms, probes: of the series, and random vectors of its traces.
        stop: p of the roulette.
        context: E; f reads it beside x, within the same bound.
    """

    def __init__(
        self,
        features: int,
        hidden: Sequence[int] = (64, 64, 64),
        coefficient: float = 0.9,
        estimator: Estimator = "exact",
        terms: int = 8,
        probes: int = 1,
        stop: float = 0.5,
        context: int = 0,
    ) -> None:
        super().__init__()
        require_one_of(Estimator, estimator=estimator)
        require(1, features=features, terms=terms, probes=probes)
        require(1e-6, below=1, stop=stop)
        require(0, context=context)
        self.f = TangentMLP([features + context, *hidden, features], coefficient, "elu")
        self.estimator, self.terms, self.probes, self.stop = estimator, terms, probes, stop

    def extra_repr(self) -> str:
        return f"estimator={self.estimator!r}, terms={self.terms}, probes={self.probes}, stop={self.stop}"

    def ladj(self, h: Tensor, push: Push) -> Tensor:
        """log |det (I + J)| at h, (...)."""
        kind = self.estimator if self.training else "exact"
        if kind == "exact":
            return log_det(push, h)
        if kind == "series":
            return series(push, unit_vectors(h), self.terms).sum(-1)
        v, terms, weights = probes(h, self.probes, "rademacher"), self.terms, None
        if kind == "roulette":
            terms = int(torch.empty(()).geometric_(self.stop))  # 1, 2, …
            weights = roulette(terms, self.stop)
        return series(push, v, terms, weights).mean(-1)

    def linearise(
        self, h: Tensor, context: Tensor | None, matrices: list[tuple[Tensor, Tensor]] | None = None
    ) -> tuple[Tensor, Push]:
        """f(h, c) and the map v → J v, the context held."""
        if context is None:
            return self.f.linearise(h, matrices)
        value, push = self.f.linearise(torch.cat([h, context.expand(*h.shape[:-1], -1)], -1), matrices)
        return value, lambda v: push(F.pad(v, (0, context.shape[-1])))

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        value, push = self.linearise(x, context)
        return x + value, self.ladj(x, push)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        kept = self.f.matrices()  # once: in training each use would go on with the power iteration
        with torch.no_grad():
            tolerance = 20 * torch.finfo(z.dtype).eps
            x, _ = fixed_point(lambda h: z - self.linearise(h, context, kept)[0], z, tolerance)
        value, push = self.linearise(x, context, kept)
        if torch.is_grad_enabled():
            # one step of Newton: it moves nothing, and has the implicit gradient (I + J)⁻¹ (dz − ∂_θ f)
            eye = unit_vectors(x)
            slope = (eye + push(eye)).transpose(-1, -2).detach()
            x = x + torch.linalg.solve(slope, (z - value - x)[..., None])[..., 0]
            _, push = self.linearise(x, context, kept)
        return x, -self.ladj(x, push)


class IResNet(Flow):
    """Residual blocks and one scaling next to the data. See `Residual` for the arguments of a block.

    Args:
        blocks: how many.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        blocks: int = 10,
        hidden: Sequence[int] = (64, 64, 64),
        coefficient: float = 0.9,
        estimator: Estimator = "exact",
        terms: int = 8,
        probes: int = 1,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, **training)
        require(1, blocks=blocks)
        residuals: list[FlowLayer] = [
            Residual(
                self.event_dim, hidden, coefficient, estimator, terms, probes, context=self.context_features
            )
            for _ in range(blocks)
        ]
        self.stack = FlowStack([*residuals, Diagonal(self.event_dim)])
