r"""Guidance: lean a denoiser towards a class, by a classifier's gradient or by its own two predictions.

    classifier       ε̃ = ε̂(x_t) − w √(1−ᾱ_t) ∇ log p(y | x_t)         the classifier has seen noisy x_t
    classifier-free  ε̃ = (1 + w) ε̂(x_t, y) − w ε̂(x_t, ∅)              = ε̂_∅ + s (ε̂_y − ε̂_∅),  s = 1 + w

w = 0 is the conditional model, w = −1 the unconditional one; s, which others quote, is 1 + w. At one level of
noise ε̃ belongs to the distribution ∝ p_t(x|y)^{1+w} p_t(x)^{−w}. That does not make the samples those of
p(x|y)^{1+w} p(x)^{−w}: noising and tilting do not commute, so for w ≠ 0 these distributions are those of no
diffusion, and what comes out has less spread yet.

Shapes: x (B, ...), y (B,) int64.
References: Dhariwal & Nichol 2021, arXiv:2105.05233; Ho & Salimans 2022, arXiv:2207.12598; Bradley & Nakkiran
2024, arXiv:2408.09000 (not the tilted distribution). Beyond the texts.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from modules.diffusion.exact import Denoiser
from modules.diffusion.schedule import Schedule

ConditionalNet = Callable[[Tensor, Tensor, Tensor], Tensor]  # x, t and y -> a prediction (B, ...)


def classifier_free_guidance(
    net: ConditionalNet, x: Tensor, t: Tensor, y: Tensor, null: int, weight: float | Tensor
) -> Tensor:
    """(1 + w) net(x, t, y) − w net(x, t, ∅) in one call of 2B examples; ∅ is label `null`.

    At w = 0 and w = −1 one of the two is all there is, and the other is not evaluated. `weight` may be (B,).
    """
    nothing = torch.full_like(y, null)
    if not isinstance(weight, Tensor):
        if weight == 0:
            return net(x, t, y)
        if weight == -1:
            return net(x, t, nothing)
    else:
        weight = weight.to(x).reshape(-1, *[1] * (x.ndim - 1))
    both = net(torch.cat([x, x]), torch.cat([t, t]), torch.cat([y, nothing]))
    with_class, without = both.chunk(2)
    return (1 + weight) * with_class - weight * without


def classifier_guidance(
    predict: Callable[[Tensor, Tensor], Tensor],
    log_class: Callable[[Tensor, Tensor], Tensor],
    schedule: Schedule,
    weight: float | Tensor,
) -> Denoiser:
    """ε̂ guided by a classifier; `weight` may be (B,). Of an unconditional ε̂ this is s = 1 + w.

    Args:
        predict: ε̂(x, t).
        log_class: log p(y | x_t) of the class wanted, x (B, ...) and t (B,) -> (B,); autograd goes through.
    """

    def guided(x: Tensor, t: Tensor) -> Tensor:
        with torch.enable_grad():
            point = x.detach().requires_grad_()
            (slope,) = torch.autograd.grad(log_class(point, t).sum(), point)
        strength = weight.to(x).reshape(-1, *[1] * (x.ndim - 1)) if isinstance(weight, Tensor) else weight
        return predict(x, t) - strength * schedule.sigma(t, x) * slope

    return guided
