r"""Probabilistic PCA: a plane with the same noise in every direction.

    x ~ N(μ, W Wᵀ + σ² I),    σ² = mean of the D − K least eigenvalues,    W = U_K (Λ_K − σ² I)^½ R

U_K, Λ_K: the leading eigenvectors and eigenvalues of the covariance; R is any rotation, so the columns of W
tend to principal components only up to R and the shrunken lengths ([GM] §3.2.1 leaves both out). The
posterior mean gives scaled coordinates, and W E[z|x] shrinks x − μ by (λ − σ²)/λ in each direction; as σ² → 0
it becomes PCA's projection. EM gets there too, and it can leave out what is missing.

Shapes: see `modules.latent.linear_gaussian`.

References: Tipping, Bishop 1999; Roweis 1998; [GM] §3.2.1.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modules.latent.em import Stats
from modules.latent.linear_gaussian import LinearGaussian
from modules.latent.pca import scatter, spectrum


class PPCA(LinearGaussian):
    """Args:
    closed_form: one epoch, by the eigenvectors; else EM, which takes missing entries (NaN).
    event_shape, factors, floor, training: see `LinearGaussian`.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (3,),
        factors: int = 1,
        floor: float = 1e-6,
        closed_form: bool = False,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, factors, floor, **training)
        self.closed_form = closed_form

    @property
    def num_parameters(self) -> int:
        """Free numbers: W up to a rotation, σ² and μ."""
        d, k = self.n, self.factors
        return d * k - k * (k - 1) // 2 + 1 + d

    def new_noise(self, left: Tensor, seen: Tensor) -> Tensor:
        return (left.sum() / seen.sum()).clamp(min=self.floor).expand(self.n)

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        super().initialize(x, generator)
        self.noise.fill_(self.noise.mean())

    def e_step(self, x: Tensor) -> Stats:
        if not self.closed_form:
            return super().e_step(x)
        flat = self._flatten(x)
        if flat.isnan().any():
            raise ValueError("x has missing entries: set closed_form to false, EM can leave them out.")
        return {"loglik": self.log_prob(x).sum(), **scatter(flat, self.mean)}

    def m_step(self, stats: Stats) -> None:
        if not self.closed_form:
            return super().m_step(stats)
        mean, values, vectors = spectrum(stats, self.mean)
        rest = values[self.factors :]
        noise = (rest.mean() if len(rest) else values.new_zeros(())).clamp(min=self.floor)
        lengths = (values[: self.factors] - noise).clamp(min=0).sqrt()
        self.set_parameters(vectors[:, : self.factors] * lengths, noise, mean)
