r"""Linear flows: x = β + Ω z, with Ω in forms whose inverse and determinant are cheap.

    dense         any Ω              inverse, determinant O(D³)     ladj = log |det Ω|
    diagonal      scales alone       O(D)                           Σ log |s_d|
    triangular    substitution       O(D²)                          Σ log |diag|
    orthogonal    product of Householder reflections H = I − 2 v vᵀ/‖v‖², inverse = transpose:   0
    permutation   drawn once, kept with the weights:                                             0
    LU            Ω = P L (U + D), L unit lower, U strictly upper triangular:    Σ log |D_dd|
    QR            Ω = Q R, Q orthogonal, R upper triangular; no permutation:     Σ log |r_dd|

N(μ, Σ) becomes N(β + Ωμ, ΩΣΩᵀ): a stack of any number of them stays Gaussian.
[UDL] 16.3.1 says that the log-determinant of LU sums over D: that needs a unit diagonal of L, else those
entries count as well. Ω as rows: x_i = β_i + Σ_j Ω_ij z_j. Shapes: (..., D).

References: Kingma & Dhariwal 2018, arXiv:1807.03039 (LU); Tomczak & Welling 2016, arXiv:1611.09630
(Householder); Hoogeboom et al. 2019, arXiv:1901.11137 (QR); [UDL] 16.3.1; [GM] 3.12.3; [BB] Thm 5.3.
"""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from modules.base import require
from modules.flow.layer import FlowLayer, ValueAndLogDet


class Linear(FlowLayer):
    """Dense: D² + D numbers. Starts as the identity."""

    def __init__(self, features: int) -> None:
        super().__init__()
        require(1, features=features)
        self.features = features
        self.weight = nn.Parameter(torch.eye(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def extra_repr(self) -> str:
        return str(self.features)

    def matrix(self) -> Tensor:
        """Ω, (D, D)."""
        return self.weight

    def log_det(self) -> Tensor:
        """log |det Ω|, a scalar."""
        return torch.linalg.slogdet(self.weight).logabsdet

    def solve(self, h: Tensor) -> Tensor:
        """Ω⁻¹ h of every row: h (..., D)."""
        return torch.linalg.solve(self.matrix(), h[..., None])[..., 0]

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.bias + z @ self.matrix().T, self.expand_ladj(z, self.log_det())

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.solve(x - self.bias), self.expand_ladj(x, -self.log_det())


class Diagonal(Linear):
    """x = β + s ⊙ z, s = sign · exp(log s): 2 D numbers. The signs are buffers: they cannot be learned."""

    sign: Tensor

    def __init__(self, features: int) -> None:
        nn.Module.__init__(self)
        require(1, features=features)
        self.features = features
        self.log_scale = nn.Parameter(torch.zeros(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("sign", torch.ones(features))

    @property
    def scale(self) -> Tensor:
        return self.sign * self.log_scale.exp()

    def matrix(self) -> Tensor:
        return self.scale.diag()

    def log_det(self) -> Tensor:
        return self.log_scale.sum()

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.bias + self.scale * z, self.expand_ladj(z, self.log_det())

    def solve(self, h: Tensor) -> Tensor:
        return h / self.scale


class ContextAffine(FlowLayer):
    """x = β(c) + exp(s(c)) ⊙ z, β and s linear in the context c. Starts as the identity."""

    def __init__(self, features: int, context: int) -> None:
        super().__init__()
        require(1, features=features, context=context)
        self.theta = nn.Linear(context, 2 * features)
        for end in self.theta.parameters():
            nn.init.zeros_(end)

    def parts(self, context: Tensor | None) -> tuple[Tensor, Tensor]:
        """s and β, (..., D) each."""
        if context is None:
            raise ValueError("This flow is conditional: give it a context.")
        log_scale, bias = self.theta(context).chunk(2, -1)
        return log_scale, bias

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        log_scale, bias = self.parts(context)
        return bias + log_scale.exp() * z, log_scale.sum(-1).expand(z.shape[:-1])

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        log_scale, bias = self.parts(context)
        return (x - bias) * (-log_scale).exp(), -log_scale.sum(-1).expand(x.shape[:-1])


class Triangular(Diagonal):
    """Ω lower triangular: the scales on its diagonal, free numbers below (above with `upper`)."""

    def __init__(self, features: int, upper: bool = False) -> None:
        super().__init__(features)
        self.upper = upper
        self.entries = nn.Parameter(torch.zeros(features * (features - 1) // 2))

    def extra_repr(self) -> str:
        return f"{self.features}, upper={self.upper}"

    def matrix(self) -> Tensor:
        return self.scale.diag() + strict(self.entries, len(self.bias), self.upper)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return Linear.generate(self, z, context)

    def solve(self, h: Tensor) -> Tensor:
        return substitute(self.matrix(), h, self.upper)


class Orthogonal(FlowLayer):
    """Product of Householder reflections H_1 H_2 … H_n: keeps lengths, ladj 0.

    `reflections` defaults to D, which reaches every orthogonal matrix of determinant (−1)^D.
    """

    def __init__(self, features: int, reflections: int | None = None) -> None:
        super().__init__()
        reflections = features if reflections is None else reflections
        require(1, features=features, reflections=reflections)
        self.vectors = nn.Parameter(torch.randn(reflections, features))

    def extra_repr(self) -> str:
        return f"{self.vectors.shape[1]}, reflections={len(self.vectors)}"

    def matrix(self) -> Tensor:
        """(D, D)"""
        return self.generate(torch.eye(self.vectors.shape[1]).to(self.vectors))[0].T

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        for v in self.vectors.flip(0):
            z = reflect(z, v)
        return z, self.zero_ladj(z)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        for v in self.vectors:
            x = reflect(x, v)
        return x, self.zero_ladj(x)


class Permutation(FlowLayer):
    """x_i = z_{order[i]}. A buffer: drawn once from the seed, never learned, kept with the weights."""

    order: Tensor

    def __init__(self, features: int, seed: int = 0, reverse: bool = False) -> None:
        super().__init__()
        require(1, features=features)
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randperm(features, generator=generator, device="cpu")
        self.register_buffer("order", torch.arange(features, device="cpu").flip(0) if reverse else drawn)

    def extra_repr(self) -> str:
        return f"order={abridged(self.order.tolist())}"

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return z.index_select(-1, self.order), self.zero_ladj(z)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return torch.empty_like(x).index_copy(-1, self.order, x), self.zero_ladj(x)


class LU(Diagonal):
    """Ω = P L (U + D): D² + D numbers, P a frozen permutation, L with a unit diagonal."""

    order: Tensor

    def __init__(self, features: int, seed: int = 0) -> None:
        super().__init__(features)
        half = features * (features - 1) // 2
        self.lower = nn.Parameter(torch.zeros(half))
        self.upper = nn.Parameter(torch.zeros(half))
        generator = torch.Generator().manual_seed(seed)
        self.register_buffer("order", torch.randperm(features, generator=generator, device="cpu"))

    def extra_repr(self) -> str:
        return f"{self.features}, order={abridged(self.order.tolist())}"

    def factors(self) -> tuple[Tensor, Tensor]:
        """L and U + D, each (D, D)."""
        n = len(self.log_scale)
        lower = strict(self.lower, n, upper=False) + torch.eye(n).to(self.bias)
        return lower, strict(self.upper, n, upper=True) + self.scale.diag()

    def matrix(self) -> Tensor:
        lower, upper = self.factors()
        return (lower @ upper)[self.order]

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return Linear.generate(self, z, context)

    def solve(self, h: Tensor) -> Tensor:
        lower, upper = self.factors()
        h = torch.empty_like(h).index_copy(-1, self.order, h)
        return substitute(upper, substitute(lower, h, upper=False), upper=True)


class QR(Triangular):
    """Ω = Q R: reflections after an upper triangular matrix; needs no fixed permutation."""

    def __init__(self, features: int, reflections: int | None = None) -> None:
        super().__init__(features, upper=True)
        self.rotation = Orthogonal(features, reflections)

    def matrix(self) -> Tensor:
        return self.rotation.matrix() @ super().matrix()

    def solve(self, h: Tensor) -> Tensor:
        return substitute(super().matrix(), self.rotation.normalize(h)[0], upper=True)


def abridged(order: Sequence[int], longest: int = 8) -> str:
    """An order as it prints: whole, or its beginning and end."""
    if len(order) <= longest:
        return str(list(order))
    return f"[{', '.join(map(str, order[:3]))}, …, {order[-1]}]"


def strict(entries: Tensor, n: int, upper: bool) -> Tensor:
    """(n (n − 1) / 2,) numbers as a strictly triangular matrix (n, n), row by row."""
    ones = torch.ones(n, n, dtype=torch.bool, device=entries.device)
    place = ones.triu(1) if upper else ones.tril(-1)
    return entries.new_zeros(n, n).masked_scatter(place, entries)


def substitute(matrix: Tensor, h: Tensor, upper: bool) -> Tensor:
    """Solve a triangular system for every row of h (..., D)."""
    rows = h.reshape(-1, h.shape[-1]).T  # (D, N)
    return cast(Tensor, torch.linalg.solve_triangular(matrix, rows, upper=upper)).T.reshape(h.shape)


def reflect(h: Tensor, v: Tensor) -> Tensor:
    """h (..., D) mirrored at the plane through 0 that v (D,) is normal to."""
    return h - (2 / v.square().sum()) * (h @ v)[..., None] * v
