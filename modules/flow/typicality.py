r"""Anomalies by likelihood, and why that can fail: where a density is highest no sample lies.

    outlier if log p(x) < τ,   τ a quantile of log p on clean data that were held out
    typicality |−log p(x) − H|,   H the mean of −log p on clean data: far from it on either side is odd

In D dimensions N(0, I) has its peak D/2 nats above its average draw, and draws have lengths of about √D: the
mean of two of them, or a constant image, may score higher than any real one.

References: Nalisnick et al. 2019, arXiv:1810.09136 and arXiv:1906.02994; [UDL] 14.1, 16.5.1; [GM] 3.12.5.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.base import require


@dataclass(frozen=True)
class Detector:
    """Thresholds from clean data.

    Attributes:
        mean_nll: H, nats.
        threshold: τ, of log p.
        band: τ of typicality.
    """

    mean_nll: float
    threshold: float
    band: float

    @classmethod
    def from_clean(cls, log_prob: Tensor, quantile: float = 0.05) -> "Detector":
        """From log p (N,) of clean data that the model has not seen; `quantile` of them are to be flagged."""
        require(0, below=1, quantile=quantile)
        mean = float(-log_prob.mean())
        away = (-log_prob - mean).abs()
        return cls(mean, float(log_prob.quantile(quantile)), float(away.quantile(1 - quantile)))

    def typicality(self, log_prob: Tensor) -> Tensor:
        """|−log p − H|: 0 for the most ordinary."""
        return (-log_prob - self.mean_nll).abs()

    def improbable(self, log_prob: Tensor) -> Tensor:
        return log_prob < self.threshold

    def untypical(self, log_prob: Tensor) -> Tensor:
        return self.typicality(log_prob) > self.band


def bootstrap(clean: Tensor, odd: Tensor, draws: int = 500, seed: int = 0) -> float:
    """Standard error of `auroc`: its deviation over `draws` resamples of both sets, each drawn anew with
    replacement (Efron 1979). Of one pair of sets, (N,) and (M,), as they are: the model is not trained anew.
    """
    require(2, draws=draws)
    generator = torch.Generator().manual_seed(seed)
    over = (odd[None] > clean[:, None]).double() + 0.5 * (odd[None] == clean[:, None])  # (N, M)

    def counts(size: int) -> Tensor:
        """Number of times each example is drawn, (draws, size)."""
        chosen = torch.randint(size, (draws, size), generator=generator)
        return torch.zeros(draws, size, dtype=torch.float64).scatter_add_(
            1, chosen, torch.ones(draws, size, dtype=torch.float64)
        )

    areas = torch.einsum("bn,nm,bm->b", counts(len(clean)), over, counts(len(odd))) / over.numel()
    return float(areas.std())


def auroc(clean: Tensor, odd: Tensor) -> float:
    """P(score of an odd example > score of a clean one), ties count half: 1 separates, ½ guesses."""
    both = torch.cat([clean, odd]).double()
    order = both.unique(return_inverse=True, return_counts=True)
    _, place, counts = order
    ranks = counts.cumsum(0) - (counts - 1) / 2.0  # of ties, their mean
    total = ranks[place][len(clean) :].sum()
    return float((total - len(odd) * (len(odd) + 1) / 2) / (len(clean) * len(odd)))
