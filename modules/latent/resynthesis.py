r"""Codes by optimisation, and codes moved along an attribute.

    MAP code    argmax_z log p(x|z) + log p(z)             from any start; the encoder's mean is a good one
    attribute   a = mean code with it − mean code without it,   decode(z + s · a)

Of a linear-Gaussian model the MAP code is the posterior's mean.

Shapes: x (B, ...); z (B, K); has (N,) bool.

References: [UDL] §17.8.3; White 2016, Sampling Generative Networks, arXiv:1609.04468.
"""

from typing import Any

import torch
from torch import Tensor

from modules.latent.vae import VAE


def map_projection(
    model: VAE, x: Tensor, start: Tensor | None = None, steps: int = 100, **given: Any
) -> Tensor:
    """z (B, K) that maximises log p(x|z) + log p(z), by L-BFGS, from `start` or the encoder's means."""
    with torch.no_grad():
        start = model.encode(x, **given) if start is None else start
    z = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS(
        [z], max_iter=steps, tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = -(model.log_likelihood(x, z, **given) + model.prior.log_prob(z)).sum()
        value.backward(inputs=[z])
        return value

    with torch.enable_grad():
        optimizer.step(loss)
    return z.detach()


def attribute_vector(z: Tensor, has: Tensor) -> Tensor:
    """(K,) mean code of those that have it minus mean code of the others: z (N, K), has (N,) bool.

    Raises:
        ValueError: all have it, or none.
    """
    if has.all() or not has.any():
        raise ValueError("An attribute needs examples that have it and others that do not.")
    return z[has].mean(0) - z[~has].mean(0)
