r"""Four views of one prediction: noise ε, data x_0, velocity v and score s hold the same of x_t.

    x_t = √ᾱ x_0 + √(1−ᾱ) ε          (√ᾱ, √(1−ᾱ)) is a point of the unit circle, v its derivative:
    v   = √ᾱ ε − √(1−ᾱ) x_0           x_0 = √ᾱ x_t − √(1−ᾱ) v,   ε = √(1−ᾱ) x_t + √ᾱ v
    s   = −ε / √(1−ᾱ)                 = ∇ log q(x_t | x_0); of predictions, ∇ log p(x_t)

They differ in scale alone: ‖ε − ε̂‖² = SNR ‖x_0 − x̂_0‖² and ‖v − v̂‖² = (1 + SNR) ‖x_0 − x̂_0‖², so that a
squared error in one is a weighted one in another. At ᾱ = 0 (pure noise) ε no longer determines x_0; at
ᾱ = 1 (clean data) x_0 no longer determines ε.

Shapes: x, predictions (B, ...), ᾱ () or (B,) float64.
References: Salimans & Ho 2022, arXiv:2202.00512 (v); Hang et al. 2023, arXiv:2303.09556 (min-SNR);
Ho et al. 2020, arXiv:2006.11239. Beyond the texts.
"""

from typing import Literal

import torch
from torch import Tensor

from modules.base import require_one_of
from modules.diffusion.schedule import rows

Kind = Literal["eps", "x0", "v", "score"]


def check(kind: str) -> None:
    """Refuse what is no kind of prediction."""
    require_one_of(Kind, prediction=kind)


def to_x0_eps(value: Tensor, x: Tensor, alpha_bar: Tensor, kind: Kind) -> tuple[Tensor, Tensor]:
    """Data x̂_0 and noise ε̂ that a prediction `value` about x implies.

    Raises:
        ValueError: ε or a score at ᾱ = 0, x_0 at ᾱ = 1.
    """
    check(kind)
    a, b = rows(alpha_bar.double().sqrt(), x), rows((1 - alpha_bar.double()).sqrt(), x)
    if kind == "v":
        return a * x - b * value, b * x + a * value
    if kind == "x0":
        if not bool((alpha_bar < 1).all()):
            raise ValueError("At ᾱ = 1 there is no noise, and x_0 does not determine it.")
        return value, (x - a * value) / b
    if not bool((alpha_bar > 0).all()):
        raise ValueError(f"At ᾱ = 0 there is no signal, and {kind} does not determine x_0: predict v or x0.")
    eps = -b * value if kind == "score" else value
    return (x - b * eps) / a, eps


def from_x0_eps(x0: Tensor, eps: Tensor, alpha_bar: Tensor, kind: Kind) -> Tensor:
    """Prediction of that kind, of x̂_0 and ε̂; the inverse of `to_x0_eps`."""
    check(kind)
    if kind == "x0":
        return x0
    if kind == "eps":
        return eps
    a, b = rows(alpha_bar.double().sqrt(), x0), rows((1 - alpha_bar.double()).sqrt(), x0)
    return a * eps - b * x0 if kind == "v" else -eps / b


def convert(value: Tensor, x: Tensor, alpha_bar: Tensor, source: Kind, target: Kind) -> Tensor:
    """Prediction about x as one of another kind."""
    return from_x0_eps(*to_x0_eps(value, x, alpha_bar, source), alpha_bar, target)


def loss_weight(snr: Tensor, kind: Kind, gamma: float | None = None) -> Tensor:
    """Weight of a squared error of that kind, (B,): 1, or that of min-SNR-γ.

    Min-SNR weighs ‖x_0 − x̂_0‖² by min(SNR, γ), whatever is predicted.
    """
    check(kind)
    if gamma is None:
        return torch.ones_like(snr)
    per_clean = {"x0": torch.ones_like(snr), "eps": snr, "v": 1 + snr, "score": snr * (1 + snr)}[kind]
    return snr.clamp(max=gamma) / per_clean
