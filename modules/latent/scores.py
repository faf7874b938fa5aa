r"""Scores of samples and of codes: how good, how varied, how disentangled.

    inception score   exp E KL(p(y|x) ‖ p(y))            of a classifier's answers: sharp and varied
    Fréchet distance  ‖μ₁ − μ₂‖² + tr(Σ₁ + Σ₂ − 2 (Σ₁Σ₂)^½)   of features, both sets taken as Gaussians
    precision         share of the samples inside the union of the data's k-nearest-neighbour balls
    recall            the converse ([UDL] fig. 14.5's caption swaps the two)
    MIG               mean over factors v of [I(z_(1); v) − I(z_(2); v)] / H(v), the two most telling codes

Shapes: predictions (N, C) probabilities; features (N, D); codes (N, K), factors (N, V) int64; nats.

References: Salimans et al. 2016, arXiv:1606.03498; Heusel et al. 2017, arXiv:1706.08500; Kynkäänniemi et al.
2019, arXiv:1904.06991; Chen et al. 2018, arXiv:1802.04942; [UDL] §14.3.
"""

import torch
from torch import Tensor

from modules.latent.information import entropy, kl, mutual_information


def inception_score(predictions: Tensor) -> Tensor:
    """Inception score, from 1, all answers alike, to C, each sure and all classes met."""
    return kl(predictions, predictions.mean(0)).mean().exp()


def frechet(mean: Tensor, covariance: Tensor, mean2: Tensor, covariance2: Tensor) -> Tensor:
    """The squared 2-Wasserstein distance of two Gaussians."""
    values, vectors = torch.linalg.eigh(covariance)
    root = (vectors * values.clamp(min=0).sqrt()) @ vectors.mT
    # tr (Σ₁Σ₂)^½ = tr (Σ₁^½ Σ₂ Σ₁^½)^½, which is symmetric
    cross = torch.linalg.eigvalsh(root @ covariance2 @ root).clamp(min=0).sqrt().sum()
    traces = covariance.diagonal().sum() + covariance2.diagonal().sum()
    return ((mean - mean2).square().sum() + traces - 2 * cross).clamp(min=0)


def frechet_distance(features: Tensor, features2: Tensor) -> Tensor:
    """Fréchet distance of two sets of features, in float64."""
    a, b = features.double(), features2.double()
    return frechet(a.mean(0), a.T.cov().reshape(a.shape[1], -1), b.mean(0), b.T.cov().reshape(b.shape[1], -1))


def distances(x: Tensor, y: Tensor) -> Tensor:
    """(M, D), (N, D) -> (M, N), from differences: squares of large numbers would lose what matters."""
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def neighbour_radii(features: Tensor, k: int) -> Tensor:
    """Distance of each point from its k-th nearest other point, (N,)."""
    if not 1 <= k < len(features):
        raise ValueError(f"k is {k}: it must be at least 1 and below the {len(features)} points.")
    return distances(features, features).kthvalue(k + 1, dim=1).values  # the nearest of all is itself


def covered(points: Tensor, features: Tensor, k: int) -> Tensor:
    """Share of the points that lie in the ball of at least one of the features."""
    return (distances(points, features) <= neighbour_radii(features, k)).any(1).double().mean()


def precision_recall(data: Tensor, samples: Tensor, k: int = 3) -> tuple[Tensor, Tensor]:
    """Share of the samples that look like data, and share of the data that the samples reach."""
    return covered(samples, data, k), covered(data, samples, k)


def information_table(codes: Tensor, factors: Tensor, bins: int = 20) -> Tensor:
    """I(z_j; v_f) (K, V): each code cut into `bins` of equally many points."""
    n = len(codes)
    ranks = codes.argsort(0).argsort(0)
    cells = (ranks * bins) // n  # (N, K)
    # equal values belong into one bin: that of the first of them
    for j in range(codes.shape[1]):
        _, inverse = codes[:, j].unique(return_inverse=True)
        first = torch.full((int(inverse.max()) + 1,), bins, dtype=cells.dtype)
        cells[:, j] = first.scatter_reduce(0, inverse, cells[:, j], "amin")[inverse]
    table = torch.zeros(codes.shape[1], factors.shape[1], dtype=torch.float64)
    for j in range(codes.shape[1]):
        for f in range(factors.shape[1]):
            values = int(factors[:, f].max()) + 1
            joint = torch.bincount(cells[:, j] * values + factors[:, f], minlength=bins * values)
            table[j, f] = mutual_information(joint.reshape(bins, values).double() / n)
    return table


def mutual_information_gap(codes: Tensor, factors: Tensor, bins: int = 20) -> Tensor:
    """MIG, from 0 to 1, over the factors that vary. Two codes that tell the same cost as much as none.

    Raises:
        ValueError: no factor varies.
    """
    table = information_table(codes, factors, bins)
    if len(table) < 2:
        table = torch.cat([table, torch.zeros_like(table)])
    best = table.topk(2, dim=0).values
    own = torch.stack([entropy(f.bincount().double() / len(f)) for f in factors.T])
    varies = own > 0
    if not bool(varies.any()):
        raise ValueError("No factor varies: there is nothing that a code could tell.")
    return ((best[0] - best[1]) / own)[varies].mean()
