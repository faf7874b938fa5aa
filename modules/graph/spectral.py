r"""Filters on a graph's frequencies: eigenvectors of its Laplacian, and polynomials that need none.

    L = D − A = U Λ Uᵀ                 a signal x has the frequencies Uᵀ x
    y = U diag(g) Uᵀ x                 g free: any filter, of this graph alone, and not local (Bruna)
    y = Σ_{k<K} θ_k T_k(L̃) x           K − 1 hops (ChebNet); L̃ = 2 L_sym / λ_max − I,
                                       T_0 = I, T_1 = L̃, T_k = 2 L̃ T_{k−1} − T_{k−2}
    K = 2, θ_1 = −θ_0, λ_max = 2       θ_0 (I + D^-½ A D^-½) x: the text's Kipf normalisation

L_sym = I − D^-½ A D^-½ has frequencies 0 … 2.

Shapes: A (N, N) symmetric, signals (N, F), one filter for all features.

References: Bruna et al. 2014, arXiv:1312.6203; Defferrard et al. 2016, arXiv:1606.09375; [UDL] §13 notes.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def laplacian(a: Tensor, normalised: bool = False) -> Tensor:
    """D − A, or L_sym; a node without neighbours has frequency 0, and 1 in L_sym as in ChebNet."""
    a = a.double() if not a.is_floating_point() else a
    d = a.sum(0)
    if not normalised:
        return d.diag() - a
    root = d.rsqrt().masked_fill(d == 0, 0)
    return torch.eye(len(a), dtype=a.dtype) - root[:, None] * a * root


def frequencies(a: Tensor, normalised: bool = False) -> tuple[Tensor, Tensor]:
    """Eigenvalues (N,), rising, and eigenvectors as columns (N, N); the largest entry of each is positive."""
    values, vectors = torch.linalg.eigh(laplacian(a, normalised))
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    return values, vectors * largest.sign()


def filtered(x: Tensor, vectors: Tensor, gains: Tensor) -> Tensor:
    """U diag(g) Uᵀ x: x (N, F), g (N,) one gain for each frequency."""
    return vectors @ (gains[:, None] * (vectors.T @ x))


def chebyshev(x: Tensor, a: Tensor, theta: Tensor, largest: float = 2.0) -> Tensor:
    """Σ_k θ_k T_k(L̃) x: x (N, F), θ (K,), `largest` is λ_max of L_sym, or a bound of it."""
    scaled = 2 * laplacian(a, normalised=True).to(x) / largest - torch.eye(len(a)).to(x)
    before, now = x, scaled @ x
    total = theta[0] * before
    for k in range(1, len(theta)):
        total = total + theta[k] * now
        before, now = now, 2 * scaled @ now - before
    return total


def coefficients(
    gain: Callable[[Tensor], Tensor], terms: int, largest: float = 2.0, places: int = 512
) -> Tensor:
    """θ (K,) of the Chebyshev series of g on [0, λ_max]: θ_k = (2 − [k = 0]) mean g(λ_j) cos(k t_j) over
    `places` points λ_j = λ_max (1 + cos t_j) / 2."""
    t = (torch.arange(places, dtype=torch.float64) + 0.5) * math.pi / places
    k = torch.arange(terms, dtype=torch.float64)
    theta = 2 * (gain(largest * (1 + t.cos()) / 2) * (k[:, None] * t).cos()).mean(1)
    return torch.where(k == 0, theta / 2, theta)
