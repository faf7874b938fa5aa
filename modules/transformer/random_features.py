"""Random features: products of random functions whose mean is a kernel.

    positive       ψ(x) = e^{−‖x‖²/2} M^{−1/2} (e^{ω_i·x})_i                      E ψ(x)·ψ(y) = e^{x·y}
    hyperbolic     ψ(x) = e^{−‖x‖²/2} (2M)^{−1/2} (e^{ω_i·x}, e^{−ω_i·x})_i       E ψ(x)·ψ(y) = e^{x·y}
    trigonometric  ψ(x) = M^{−1/2} (cos ω_i·x, sin ω_i·x)_i                       E ψ(x)·ψ(y) = e^{−‖x−y‖²/2}

with M draws ω_i ~ N(0, I). For the RBF kernel, x' = √(2γ) x:

    e^{−γ‖x−y‖²} = e^{−‖x'−y'‖²/2} = e^{−‖x'‖²/2} e^{−‖y'‖²/2} e^{x'·y'}

[BB] prints the last factor as e^{γ x·y}, where it is e^{2γ x·y}; `printed` shows what that gives. It also
credits Rahimi and Recht with positive features: theirs are trigonometric.

Variance of one draw, with s = ‖x + y‖² and r = ‖x' − y'‖:

    positive       e^{−‖x‖²−‖y‖²} (e^{2s} − e^s)
    hyperbolic     e^{−‖x‖²−‖y‖²} (e^s − 1)²/2     ½(1 − e^{−s}) of it, for two features instead of one
    trigonometric  (1 − e^{−r²})²/2                bounded, wherever x and y lie

Shapes: `D` numbers of a point, `M` draws, features M (positive) or 2M.

References: Rahimi & Recht 2007, Random features for large-scale kernel machines (trigonometric);
Choromanski et al. 2020, arXiv:2009.14794 (positive, hyperbolic, orthogonal); [BB] Lemma 4.2 to Remark 4.4.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from modules.base import require, require_one_of

Kind = Literal["positive", "hyperbolic", "trigonometric"]


def draws(
    count: int, width: int, generator: torch.Generator | None = None, orthogonal: bool = False,
    dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """Draws ω (M, D) of N(0, I).

    Args:
        count: M. width: D.
        orthogonal: the draws of each D in turn are at right angles, with the lengths of independent ones;
            each alone has the same distribution as before.

    Raises:
        ValueError: a number below 1.
    """
    require(1, count=count, width=width)
    omega = torch.randn(count, width, generator=generator, dtype=dtype)
    if not orthogonal:
        return omega
    lengths = omega.norm(dim=1, keepdim=True)
    parts = []
    for _ in range(math.ceil(count / width)):
        square = torch.randn(width, width, generator=generator, dtype=dtype)
        q, r = torch.linalg.qr(square)
        parts.append((q * r.diagonal().sign()).T)  # signs: uniform over all rotations and reflections
    return torch.cat(parts)[:count] * lengths


def log_features(x: Tensor, omega: Tensor, kind: Kind) -> Tensor:
    """Logarithms of positive or hyperbolic features: x (..., D) -> (..., M) or (..., 2M).

    Raises:
        ValueError: another kind; those of trigonometric features do not exist, as some are negative.
    """
    if kind not in ("positive", "hyperbolic"):
        raise ValueError(f"kind is {kind!r}: choose positive or hyperbolic.")
    along = x @ omega.T  # (..., M)
    if kind == "hyperbolic":
        along = torch.cat([along, -along], dim=-1)
    return along - x.square().sum(-1, keepdim=True) / 2 - math.log(along.shape[-1]) / 2


def features(x: Tensor, omega: Tensor, kind: Kind = "positive") -> Tensor:
    """ψ(x): (..., D) -> (..., M), or (..., 2M) of pairs.

    Raises:
        ValueError: another kind.
    """
    require_one_of(Kind, kind=kind)
    if kind == "trigonometric":
        along = x @ omega.T
        return torch.cat([along.cos(), along.sin()], dim=-1) * len(omega) ** -0.5
    return log_features(x, omega, kind).exp()


def rbf_kernel(x: Tensor, y: Tensor, gamma: float) -> Tensor:
    """e^{−γ‖x−y‖²} of all pairs: (N, D), (K, D) -> (N, K)."""
    return (-gamma * (x[:, None] - y[None]).square().sum(-1)).exp()


def rbf_features(
    x: Tensor, omega: Tensor, gamma: float, kind: Kind = "positive", printed: bool = False
) -> Tensor:
    """Features whose products have the mean e^{−γ‖x−y‖²}: (..., D) -> (..., M or 2M).

    Args:
        printed: the exponent of [BB]; the mean is then e^{−γ‖x‖²−γ‖y‖²+γx·y}, whatever M.

    Raises:
        ValueError: γ is not positive; `printed` of trigonometric features, where no such factor occurs.
    """
    if not gamma > 0:
        raise ValueError(f"gamma is {gamma}: it must be above 0.")
    if kind == "trigonometric":
        if printed:
            raise ValueError("The printed exponent is one of exponential features: take positive ones.")
        return features(x * math.sqrt(2 * gamma), omega, kind)
    inner = x * math.sqrt(gamma if printed else 2 * gamma)
    return (log_features(inner, omega, kind) - gamma * x.square().sum(-1, keepdim=True)).exp()


def variance(x: Tensor, y: Tensor, kind: Kind = "positive") -> Tensor:
    """Variance of one draw of ψ(x)·ψ(y): points (..., D) -> (...). M independent draws have a M-th of it.

    Of positive and hyperbolic features as an estimate of e^{x·y}, of trigonometric ones of e^{−‖x−y‖²/2}.

    Raises:
        ValueError: another kind.
    """
    require_one_of(Kind, kind=kind)
    if kind == "trigonometric":
        return torch.expm1(-(x - y).square().sum(-1)).square() / 2
    s, norms = (x + y).square().sum(-1), x.square().sum(-1) + y.square().sum(-1)
    if kind == "positive":
        return (s - norms).exp() * torch.expm1(s)  # e^{2s} − e^s = e^s (e^s − 1)
    return (-norms).exp() * torch.expm1(s).square() / 2


def rbf_variance(x: Tensor, y: Tensor, gamma: float, kind: Kind = "positive") -> Tensor:
    """Variance of one draw of `rbf_features`: (..., D) -> (...)."""
    x, y = x * math.sqrt(2 * gamma), y * math.sqrt(2 * gamma)
    if kind == "trigonometric":
        return variance(x, y, kind)
    return variance(x, y, kind) * (-x.square().sum(-1) - y.square().sum(-1)).exp()
