"""Word vectors from counts: rows of the co-occurrence matrix, made short by a truncated SVD.

    C ≈ C_d = U_d Σ_d V_dᵀ          word vector = row of U_d Σ_d^power

C_d is the best approximation of rank d (Eckart & Young): ‖C − C_d‖_F = √(Σ_{i>d} σ_i²). With
`ppmi` the counts are first weighed by how far they exceed chance:

    PPMI_ij = max(0, log (C_ij ΣC / (C_i· C_·j)))

([GM] §1.6.1 says that count vectors cannot be updated with new text. Counts add; only the SVD is done
again.)

References:
    Eckart & Young 1936; Deerwester et al. 1990 (latent semantic analysis); Bullinaria & Levy 2007
    (PPMI, and the power of Σ); [GM] §1.6.1.
"""

from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from modules.base import CountModel, Split, require

EXACT = 1000  # words up to which all singular values are found


def ppmi(counts: Tensor) -> Tensor:
    """Positive pointwise mutual information of counts (V, V) in nats; 0 where nothing was counted."""
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / counts.sum()
    return torch.where(counts > 0, counts / expected, 1.0).log().clamp(min=0)


class RelativeError(Metric):
    """√(Σ residual² / Σ value²) over a split."""

    residual: Tensor
    value: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("residual", torch.tensor(0.0), dist_reduce_fx="sum")
        self.add_state("value", torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, residual: Tensor, value: Tensor) -> None:
        self.residual += residual.square().sum()
        self.value += value.square().sum()

    def compute(self) -> Tensor:
        return (self.residual / self.value).sqrt()


class CountSVD(CountModel):
    """Truncated SVD of a co-occurrence matrix, with or without PPMI.

    Args:
        vocab_size: V.
        dim: d ≤ V.
        weighting: "counts" or "ppmi".
        power: of the singular values in the word vectors; 1, or ½ for less weight on the first.

    Raises:
        ValueError: an argument is out of range.
    """

    counts: Tensor
    left: Tensor
    right: Tensor
    spectrum: Tensor

    def __init__(
        self, vocab_size: int, dim: int = 64, weighting: str = "ppmi", power: float = 0.5, **training: Any
    ) -> None:
        super().__init__(_measures={"error": RelativeError()}, **training)
        require(0, power=power)
        if not 1 <= dim <= vocab_size:
            raise ValueError(f"dim is {dim}: it must be from 1 to the {vocab_size} words.")
        if weighting not in ("counts", "ppmi"):
            raise ValueError(f"weighting is {weighting!r}: choose counts or ppmi.")
        self.vocab_size, self.dim, self.weighting, self.power = vocab_size, dim, weighting, power
        self.register_buffer("counts", torch.zeros(vocab_size, vocab_size), persistent=False)
        self.register_buffer("left", torch.zeros(vocab_size, dim))  # U_d
        self.register_buffer("right", torch.zeros(vocab_size, dim))  # V_d
        self.register_buffer("spectrum", torch.zeros(vocab_size))  # Σ, in a large matrix its beginning

    @property
    def vectors(self) -> Tensor:
        """(V, d)."""
        return self.left * self.spectrum[: self.dim] ** self.power

    def reset_counts(self) -> None:
        self.counts.zero_()

    def count(self, batch: tuple[Tensor]) -> None:
        """Add a matrix of counts, (V, V), and decompose their sum."""
        if batch[0].shape != self.counts.shape:
            raise ValueError("A matrix of counts is decomposed: take data that give it (examples: matrix).")
        self.counts += batch[0]
        self.fit(self.counts)

    def fit(self, counts: Tensor) -> "CountSVD":
        """Decompose counts (V, V)."""
        M = self.weighted(counts)
        if self.vocab_size <= EXACT:
            U, S, Vh = torch.linalg.svd(M)
            V = Vh.T
        else:  # the first directions only, by random projections (Halko et al. 2011): seconds, not minutes
            U, S, V = torch.svd_lowrank(M, q=min(self.dim + 32, self.vocab_size), niter=4)
        self.left.copy_(U[:, : self.dim])
        self.right.copy_(V[:, : self.dim])
        self.spectrum.zero_()[: len(S)] = S
        return self

    def weighted(self, counts: Tensor) -> Tensor:
        """Matrix that is decomposed: the counts, or their PPMI."""
        return ppmi(counts) if self.weighting == "ppmi" else counts

    def step(self, batch: tuple[Tensor], split: Split) -> Tensor:
        """Part of a matrix that is lost by projecting its rows on the d directions: ‖M − M V_d V_dᵀ‖/‖M‖."""
        M = self.weighted(batch[0])
        residual = M - M @ self.right @ self.right.T
        self.log_metric(split, "error", residual, M)
        return residual.norm() / M.norm()
