r"""Principal component analysis: the plane of K dimensions that is nearest to the data.

    z = U_Kᵀ (x − μ),    x̂ = μ + U_K z,    mean ‖x − x̂‖² = Σ_{j>K} λ_j

U_K: the eigenvectors of the covariance with the K largest eigenvalues λ. There is a code and a
reconstruction, and no density; `ppca` has one. A linear autoencoder finds the same plane and no more than
that: its weights are free up to an invertible map ([UDL], notes, says "is PCA").

Shapes: x (B, *event_shape), flattened to (B, D); z (B, K); components (K, D).

References: Pearson 1901; Hotelling 1933; Turk, Pentland 1991 (eigenfaces); [GM] §3.2.1.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modules.base import Mean, Split, require
from modules.latent.em import EMModel, Stats, examples, flatten


def scatter(flat: Tensor, origin: Tensor) -> dict[str, Tensor]:
    """Sums over x (B, D) about `origin` (D,): `count` (), `sum` (D,) and `squares` (D, D)."""
    centred = flat - origin
    return {
        "count": centred.new_tensor(len(centred)),
        "sum": centred.sum(0),
        "squares": centred.T @ centred,
    }


def spectrum(sums: Stats, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean (D,), eigenvalues (D,) from the largest, and eigenvectors as columns (D, D) of the covariance
    (divided by N). Each vector's largest entry is positive, so that another machine finds the same."""
    shift = sums["sum"] / sums["count"]
    covariance = sums["squares"] / sums["count"] - shift[:, None] * shift
    values, vectors = torch.linalg.eigh(covariance)
    vectors = vectors.flip(1)
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    return origin + shift, values.flip(0).clamp(min=0), vectors * largest.sign()


class PCA(EMModel):
    """Args:
        event_shape: of one example.
        factors: K.
        training: metrics, ... of `modules.base.Module`.

    One epoch fits it. The metric is `mse`, the squared distance from the plane, summed over D.
    """

    mean: Tensor
    components: Tensor
    variances: Tensor

    def __init__(self, event_shape: Sequence[int] = (3,), factors: int = 1, **training: Any) -> None:
        super().__init__(_measures={"mse": Mean()}, **training)
        require(1, event_shape=event_shape, factors=factors)
        if (self.restarts, self.trial_steps) != (1, 10):
            raise ValueError("One closed form fits it: leave restarts and trial_steps out.")
        self.event_shape, self.factors = tuple(event_shape), factors
        self.n = math.prod(self.event_shape)
        if factors > self.n:
            raise ValueError(f"factors is {factors}: {self.n} numbers have at most as many.")
        self.register_buffer("mean", torch.zeros(self.n, dtype=torch.float64))
        self.register_buffer("components", torch.eye(factors, self.n, dtype=torch.float64))
        self.register_buffer("variances", torch.ones(self.n, dtype=torch.float64))  # all λ

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, factors={self.factors}"

    @property
    def num_parameters(self) -> int:
        return self.components.numel() + self.n

    def _flatten(self, x: Tensor) -> Tensor:
        return flatten(x, self.n).to(self.mean)

    def encode(self, x: Tensor) -> Tensor:
        """Coordinates in the plane, (B, K)."""
        return (self._flatten(x) - self.mean) @ self.components.T

    def decode(self, z: Tensor) -> Tensor:
        """z (..., K) -> (..., *event_shape)."""
        return (z.to(self.mean) @ self.components + self.mean).reshape(*z.shape[:-1], *self.event_shape)

    @property
    def residual(self) -> Tensor:
        """Σ_{j>K} λ_j: the mean squared distance of the training data from the plane."""
        return self.variances[self.factors :].sum()

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        self.mean.copy_(self._flatten(x).mean(0))  # sums are taken about it

    def e_step(self, x: Tensor) -> Stats:
        return {"loglik": -self.distances(x).sum(), **scatter(self._flatten(x), self.mean)}

    def m_step(self, stats: Stats) -> None:
        mean, values, vectors = spectrum(stats, self.mean)
        self.mean.copy_(mean)
        self.variances.copy_(values)
        self.components.copy_(vectors[:, : self.factors].T)

    def distances(self, x: Tensor) -> Tensor:
        """Squared distance from the plane, (B,): what is lost, and a score of how odd x is."""
        return (self._flatten(x) - self.encode(x) @ self.components - self.mean).square().sum(1)

    def step(self, batch: Any, split: Split) -> Tensor:
        distances = self.distances(examples(batch))
        self.log_metric(split, "mse", distances)
        return distances.mean()
