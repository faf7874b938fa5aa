"""Choose the number of Gaussians: mixtures of several sizes, by Bayes' information criterion and on points
held out."""

import warnings
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.latent.em import CollapseWarning, compare_sizes
from modules.latent.gaussians import Covariance
from modules.latent.mixture import GaussianMixture
from pages.latent.mixture.lens import ellipses


class Choice(NamedTuple):
    """Mixtures of several sizes fitted to the same points.

    Attributes:
        models: K -> the mixture; train, held_out, bic: nats per point by K, BIC / 2N.
        x, other: the points that were fitted, and those held out.
    """

    models: dict[int, GaussianMixture]
    train: list[float]
    held_out: list[float]
    bic: list[float]
    x: Tensor
    other: Tensor

    def best(self, costs: list[float]) -> int:
        """The K of the least cost."""
        return list(self.models)[costs.index(min(costs))]


def choosing(x: Tensor, other: Tensor, covariance: Covariance, floor: float, most: int = 8) -> Choice:
    """K = 1, …, `most`, each the best of two starts, held against `other`."""
    sizes = range(1, min(most, len(x)) + 1)
    models = {k: GaussianMixture((2,), k, covariance, floor, restarts=2, trial_steps=5) for k in sizes}
    for model in models.values():
        model.initialize_best(x, torch.Generator().manual_seed(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        rows = compare_sizes(models, x, other, steps=40)
    bic = [row["bic"] / (2 * len(x)) for row in rows]
    return Choice(models, [row["nll"] for row in rows], [row["held_out"] for row in rows], bic, x, other)


def padded(result: Choice) -> tuple[Tensor, Tensor]:
    """Ellipses (S, K, M, 2) and means (S, K, 2) of every size, NaN where a size has no such component."""
    most = max(result.models)
    rounds, means = [], []
    for k, model in result.models.items():
        g = model.gaussians
        rounds.append(F.pad(ellipses(g.means, g.matrices), (0, 0, 0, 0, 0, most - k), value=float("nan")))
        means.append(F.pad(g.means, (0, 0, 0, most - k), value=float("nan")))
    return torch.stack(rounds), torch.stack(means)
