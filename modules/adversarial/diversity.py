r"""Remedies against mode collapse: D sees many examples at once, or G is rewarded for variety.

    minibatch std    mean over features of the batch's standard deviation, as one more feature of D
    PacGAN           D gets m examples joined  : TV(pᵐ, qᵐ) grows with m, the faster the more is missing
    MAD-GAN          k generators, D also names the one: at p = mean of them, k log k − (k + 1) log(k + 1)
    mode seeking     ‖g(z₁) − g(z₂)‖ / ‖z₁ − z₂‖, to be made large
    VEEGAN           ‖z − F(g(z))‖²: noise that the generator ignores cannot be reconstructed
    top k            the generator learns from its k most realistic examples
    orthogonal       ‖WᵀW ⊙ (1 − I)‖², which makes cut-off noise safe (BigGAN)

Shapes: x (B, ...), z (B, K), scores (B,).

References: Karras et al. 2018 (minibatch std), arXiv:1710.10196; Salimans et al. 2016, arXiv:1606.03498; Lin
et al. 2018 (PacGAN), arXiv:1712.04086; Ghosh et al. 2018 (MAD-GAN), arXiv:1704.02906; Mao et al. 2019 (mode
seeking), arXiv:1903.05628; Srivastava et al. 2017 (VEEGAN), arXiv:1705.07761; Sinha et al. 2020 (top k),
arXiv:2002.06224; Brock et al. 2019, arXiv:1809.11096; [UDL] §15.3, notes.
"""

import torch
from torch import Tensor, nn


class MinibatchStd(nn.Module):
    """One more channel (or feature), the same number everywhere: how much this batch varies.

    The standard deviation is the batch's own (1/B, not 1/(B − 1)), by feature and place, then averaged.
    (B, C, ...) -> (B, C + 1, ...).
    """

    def __init__(self, eps: float = 1e-8) -> None:
        super().__init__()
        self.eps = eps

    def extra_repr(self) -> str:
        return f"eps={self.eps}"

    def statistic(self, x: Tensor) -> Tensor:
        """A scalar; √eps for a batch of equal examples."""
        return (x.var(0, correction=0) + self.eps).sqrt().mean()

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.statistic(x).expand_as(x[:, :1])], 1)


def pack_examples(x: Tensor, size: int) -> Tensor:
    """`size` examples joined as one each: (B, C, ...) -> (B // size, size · C, ...); a rest is left out.

    A batch that is smaller than a pack makes one, its examples repeated: real and generated ones alike.
    """
    if 0 < len(x) < size:
        x = x[torch.arange(size, device=x.device) % len(x)]
    whole = len(x) // size * size
    return x[:whole].unflatten(0, (-1, size)).flatten(1, 2)


def mad_value(p: Tensor, generators: Tensor) -> Tensor:
    """max over D of E_p log D_{k+1} + Σ_i E_{q_i} log D_i: p (K,), generators (k, K) -> a scalar."""
    every = torch.cat([generators, p[None]])  # (k + 1, K)
    return torch.xlogy(every, every / every.sum(0)).nansum()


def mode_seeking_ratio(x1: Tensor, x2: Tensor, z1: Tensor, z2: Tensor) -> Tensor:
    """‖x₁ − x₂‖ / ‖z₁ − z₂‖ of each pair: (B,)."""
    return (x1 - x2).flatten(1).norm(dim=1) / (z1 - z2).flatten(1).norm(dim=1)


def noise_reconstruction_error(z: Tensor, reconstruction: Tensor) -> Tensor:
    """Mean ‖z − F(g(z))‖², a scalar."""
    return (z - reconstruction).square().sum(1).mean()


def top_k_scores(scores: Tensor, k: int) -> Tensor:
    """The k highest of D's outputs, from which alone the generator then learns: (B,) -> (k,).

    Raises:
        ValueError: k is not from 1 to B.
    """
    if not 1 <= k <= len(scores):
        raise ValueError(f"k is {k}: it must be from 1 to {len(scores)}.")
    return scores.topk(k).values


def orthogonal_penalty(weight: Tensor) -> Tensor:
    """‖WᵀW ⊙ (1 − I)‖² of a weight (out, ...), a scalar: 0 for orthogonal columns of any length."""
    w = weight.flatten(1)
    gram = w.T @ w
    return (gram - gram.diagonal().diag()).square().sum()
