"""One point's posterior under PPCA, as σ² goes to 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.latent.pca import PCA
from modules.latent.ppca import PPCA
from pages.latent.linear.lens import ppca

SHARES = [0.001, 0.01, 0.02, 0.04, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0]  # of σ²'s maximum of likelihood


@dataclass(frozen=True)
class Beliefs:
    """Beliefs of PPCA with a given σ² about one point.

    Attributes:
        variance: σ².
        mean, covariance: of p(z|x), (K,) and (K, K).
        answer: W E[z|x] + μ, (D,): the point, shrunk.
        spread: (P, D) two standard deviations of the posterior, in the plane of the data.
        model: p(x)'s covariance, (D, D).
        log_prob: of the table, nats per example.
    """

    variance: float
    mean: Tensor
    covariance: Tensor
    answer: Tensor
    spread: Tensor
    model: Tensor
    log_prob: float


def pca(x: Tensor, factors: int) -> PCA:
    model = PCA((x.shape[1],), factors)
    model.fit(x, 1, generator=torch.Generator().manual_seed(0))
    return model


def with_variance(x: Tensor, factors: int, variance: float) -> PPCA:
    """PPCA of a table with this σ²: W = U (Λ − σ²)^½, the best there is for it."""
    return put(PPCA((x.shape[1],), factors), pca(x, factors), variance)


def put(model: PPCA, plane: PCA, variance: float) -> PPCA:
    """The model at this σ², in the plane of its table."""
    lengths = (plane.variances[: model.factors] - variance).clamp(min=0).sqrt()
    model.set_parameters(plane.components.T * lengths, variance, plane.mean)
    return model


def beliefs(x: Tensor, factors: int, point: int) -> list[Beliefs]:
    """One row of the table under PPCA with σ² from near 0 to its maximum of likelihood."""
    model, plane = ppca(x, factors), pca(x, factors)
    best, result = float(model.noise[0]), []
    for share in SHARES:
        put(model, plane, share * best)
        posterior = model.posterior(x[point : point + 1])
        mean, covariance = posterior.mean[0], posterior.covariance_matrix[0]
        angle = torch.linspace(0, 2 * torch.pi, 49, dtype=torch.float64)
        circle = torch.stack([angle.cos(), angle.sin()], 1)[:, : min(2, factors)]
        around = mean.repeat(len(circle), 1)
        root = torch.linalg.cholesky(covariance[:2, :2])
        around[:, : circle.shape[1]] += 2 * circle @ root.T
        result.append(
            Beliefs(
                share * best,
                mean,
                covariance,
                model.decode(mean),
                model.decode(around),
                model.covariance(),
                float(model.log_prob(x).mean()),
            )
        )
    return result


def nearest(x: Tensor, pair: Sequence[int], place: Mapping[str, float] | None) -> int:
    """The row (of N) nearest to a place in two columns; without one, the row that has most of the first."""
    if place is None:
        return int(x[:, 0].argmax())
    return int((x[:, list(pair)] - torch.tensor([place["x"], place["y"]])).square().sum(1).argmin())


def spelled(z: Tensor) -> str:
    """Numbers in LaTeX, parted by commas."""
    return ",\\ ".join(f"{v:.3f}" for v in z.tolist())
