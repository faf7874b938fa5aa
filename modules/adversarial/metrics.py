r"""Metrics of samples: how good are they, and how much of the data do they cover?

    inception score   exp mean KL(p(y|x) ‖ p̄(y)) = exp(H(p̄) − mean H(p(y|x))), from 1 to the number of classes
    Fréchet           ‖μ₁ − μ₂‖² + tr(S₁ + S₂ − 2 (S₁S₂)^½), the squared 2-Wasserstein distance of Gaussians
    precision         share of samples within the data's manifold: balls that reach to the k-th neighbour
    recall            share of data within the samples' manifold
    modes             of a mixture that is known: nearest mode; high quality within 3 σ of it
    birthday          n draws of N equally likely things: P(two are the same) = 1 − Π (1 − i/N)

[UDL] fig. 14.5's caption swaps precision and recall; its text has them right. [UDL] §15's notes: more than
half duplicates among 400 draws speak of N ≤ 115,260, not of 400,000, where the chance is 18 %. [UDL] 14's
notes let both scores use the pooled layer: the inception score uses class probabilities.

The features decide: name the network beside every number. Metrics are torchmetrics, whose Fréchet distance
takes any network.

Shapes: features (N, D); class probabilities (N, C).

References: Salimans et al. 2016 (inception score), arXiv:1606.03498; Heusel et al. 2017 (Fréchet),
arXiv:1706.08500; Kynkäänniemi et al. 2019 (precision, recall), arXiv:1904.06991; Arora & Zhang 2017
(birthday), arXiv:1706.08224; Srivastava et al. 2017 (modes), arXiv:1705.07761; [UDL] §14.3, §15 notes. Only
mentioned: a Fréchet distance of earlier, spatial features (Nash et al. 2021, arXiv:2103.03841); what is wrong
with such scores (Barratt & Sharma 2018, arXiv:1801.01973; Borji 2018, arXiv:1802.03446).
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.image.fid import FrechetInceptionDistance
from torchmetrics.utilities import dim_zero_cat

from modules.adversarial.transport import assignment
from modules.base import require
from modules.latent.information import entropy, kl
from modules.latent.scores import distances


def inception_score(probabilities: Tensor) -> Tensor:
    """exp(H(p̄) − mean H(p(y|x))) of probabilities (N, C), a scalar from 1 to C."""
    return (entropy(probabilities.mean(0)) - entropy(probabilities).mean()).exp()


def frechet_distance(mean: Tensor, covariance: Tensor, mean2: Tensor, covariance2: Tensor) -> Tensor:
    """The squared distance of two Gaussians, a scalar; covariances (D, D) may be singular.

    tr (S₁S₂)^½ is the sum of the roots of S₁S₂'s eigenvalues, which are those of S₁^½ S₂ S₁^½, real and ≥ 0.
    """
    values, vectors = torch.linalg.eigh(covariance)
    root = (vectors * values.clamp(min=0).sqrt()) @ vectors.T
    both = torch.linalg.eigvalsh(root @ covariance2 @ root).clamp(min=0).sqrt().sum()
    return (mean - mean2).square().sum() + covariance.trace() + covariance2.trace() - 2 * both


def frechet(x: Tensor, y: Tensor) -> Tensor:
    """`frechet_distance` of two samples' moments, (N, D) each, in float64.

    Biased upwards by about 1/N: between two samples of one distribution it is not 0.
    """
    x, y = x.double(), y.double()
    return frechet_distance(x.mean(0), torch.atleast_2d(x.T.cov()), y.mean(0), torch.atleast_2d(y.T.cov()))


def radii(distance: Tensor, k: int) -> Tensor:
    """Distances between points (N, N) -> of each to its nearest k, itself left out, (k, N)."""
    require(1, below=len(distance), k=k)
    return distance.topk(k + 1, largest=False).values[:, 1:].T  # the nearest of all is the point itself


def share_within(distance: Tensor, radius: Tensor) -> Tensor:
    """BatchShard of points in at least one ball: distances to the centres (M, N), radii (k, N) -> (k,)."""
    return (distance <= radius[:, None]).any(2).double().mean(1)


def precision_recall(data: Tensor, samples: Tensor, k: int = 3) -> tuple[Tensor, Tensor]:
    """BatchShard of samples in the data's manifold, and of data in the samples': balls reach to the k-th
    neighbour."""
    of_data, of_samples = (radii(distances(x, x), k)[-1:] for x in (data, samples))
    between = distances(data, samples)
    return share_within(between.T, of_data)[0], share_within(between, of_samples)[0]


# --- Duplicates -------------------------------------------------------------------------------------


def duplicate_probability(draws: int, support: float) -> float:
    """P(two of `draws` are the same) of `support` equally likely things; not uniform: 1/Σp² of them."""
    if draws > support:
        return 1.0
    return -math.expm1(sum(math.log1p(-i / support) for i in range(draws)))


def draws_until(support: float, probability: float = 0.5) -> int:
    """Smallest number of draws with duplicates of at least this probability."""
    require(0, below=1, probability=probability)
    missing, n = 1.0, 0
    while 1 - missing < probability:
        missing *= 1 - n / support
        n += 1
    return n


def largest_support(draws: int, probability: float = 0.5) -> float:
    """Largest number of equally likely things of which `draws` repeat with at least this probability."""
    require(2, draws=draws)
    low, high = float(draws), float(draws)
    while duplicate_probability(draws, high) > probability:
        high *= 2
    for _ in range(100):  # bisection: the probability falls with the support
        middle = (low + high) / 2
        low, high = (middle, high) if duplicate_probability(draws, middle) > probability else (low, middle)
    return low


def nearest_pairs(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` closest pairs of (N, D): their places (count, 2), nearest first, and distances (count,)."""
    row, column = torch.triu_indices(len(x), len(x), 1)
    distance = nn.functional.pdist(x)  # in the same order
    best = distance.topk(min(count, len(distance)), largest=False)
    return torch.stack([row[best.indices], column[best.indices]], 1), best.values


# --- Modes ------------------------------------------------------------------------------------------


def missed_modes(modes: int, draws: int) -> float:
    """Mean number of equally likely modes that a perfect sampler misses: K (1 − 1/K)ⁿ."""
    return float(modes * (1 - 1 / modes) ** draws)


def nearest_modes(x: Tensor, modes: Tensor) -> tuple[Tensor, Tensor]:
    """Each sample's nearest mode (N,) and the distance to it (N,): x (N, D), modes (K, D)."""
    distance, mode = torch.cdist(x, modes, compute_mode="donot_use_mm_for_euclid_dist").min(1)
    return mode, distance


Measure = Literal["modes", "quality", "kl"]


class ModeCoverage(Metric):
    """Coverage of the modes of a known mixture, and the quality of samples beside them.

    Args:
        modes: (K, D); sd: of every mode.
        measure: "modes" that have this `share` of all samples within 3 sd, "quality", the share of samples
            within 3 sd of some mode, or "kl" of the nearest modes' histogram from uniform, 0 to log K nats.
    """

    count: Tensor
    near: Tensor
    modes: Tensor

    def __init__(
        self,
        modes: Sequence[Sequence[float]],
        sd: float,
        measure: Measure,
        share: float = 0.008,
    ) -> None:
        super().__init__()
        require(0, sd=sd, share=share)
        self.sd, self.measure, self.share = sd, measure, share
        self.register_buffer("modes", torch.tensor(modes, dtype=torch.float32), persistent=False)
        self.add_state("count", torch.zeros(len(modes), dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("near", torch.zeros(len(modes), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, x: Tensor) -> None:
        mode, distance = nearest_modes(x.flatten(1), self.modes.to(x))
        self.count += mode.bincount(minlength=len(self.modes))
        self.near += mode[distance <= 3 * self.sd].bincount(minlength=len(self.modes))

    def compute(self) -> Tensor:
        return self.value(self.measure)

    def value(self, measure: Measure) -> Tensor:
        """Any of the measures of the samples so far."""
        total = self.count.sum()
        if measure == "modes":
            return (self.near >= self.share * total).sum().float()
        if measure == "quality":
            return self.near.sum() / total
        histogram = self.count.double() / total
        return kl(histogram, torch.full_like(histogram, 1 / len(histogram))).float()


class Wasserstein1(Metric):
    """W₁ between as many data as samples, at most `most` of each, by the best assignment."""

    data: list[Tensor]
    samples: list[Tensor]

    def __init__(self, most: int = 500) -> None:
        super().__init__()
        require(1, most=most)
        self.most = most
        self.add_state("data", [], dist_reduce_fx="cat")
        self.add_state("samples", [], dist_reduce_fx="cat")

    def update(self, x: Tensor, fake: Tensor) -> None:
        if sum(map(len, self.data)) < self.most:
            self.data.append(x.flatten(1))
            self.samples.append(fake.flatten(1))

    def compute(self) -> Tensor:
        x, fake = (dim_zero_cat(part)[: self.most].cpu() for part in (self.data, self.samples))
        return assignment(x, fake)[1].float()


class Pixels(nn.Module):
    """Features that are the pixels themselves."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.num_features = num_features

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)


class PixelFrechet(FrechetInceptionDistance):
    """torchmetrics' Fréchet distance of the pixels themselves, without a network."""

    def __init__(self, num_features: int) -> None:
        super().__init__(feature=Pixels(num_features))

    def update(self, x: Tensor, fake: Tensor) -> None:  # type: ignore[override]
        super().update(x, real=True)
        super().update(fake, real=False)


def sample_metrics(
    event_shape: Sequence[int], modes: Sequence[Sequence[float]] | None, mode_sd: float | None
) -> dict[str, Metric]:
    """Metrics of samples: of points W₁ and, where the modes are known, those; of pictures Fréchet's."""
    size = int(torch.Size(event_shape).numel())
    if modes is not None and (size > 2 or mode_sd is None):
        raise ValueError("Modes are counted among points of one number or two, with mode_sd beside them.")
    if size > 2:
        return {"fd": PixelFrechet(size)}
    metrics: dict[str, Metric] = {"w1": Wasserstein1()}
    if modes is not None and mode_sd is not None:
        for name in ("modes", "quality", "kl"):
            metrics[name] = ModeCoverage(modes, mode_sd, name)  # type: ignore[arg-type]
    return metrics
