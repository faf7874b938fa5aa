"""A plain autoencoder, the foil: outputs that see their own inputs are no conditionals.

    z = relu(W x + b),    x̂ = σ(V z + c),    loss = Σ_i binary cross-entropy(x̂_i, x_i)

Nothing is masked, so the product Π_i x̂_i^{x_i} (1 - x̂_i)^{1 - x_i} is a number between 0 and 1 for every x,
but these numbers do not sum to 1: a perfect copier gives 1 to all 2^n of them. Its loss is no likelihood
and is not called one here. [GM] 1.5.3 says that such a network reaches zero error by copying: only where
its code is wide enough. A narrow one cannot copy, and is still no density.

References: [GM] 1.5.3; Rumelhart, Hinton, Williams 1986.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Mean, Module, Split, require


class Autoencoder(Module):
    """Autoencoder of one hidden layer, unmasked, on bits.

    Args:
        event_shape: shape of one example; n is its product.
        hidden: width of the code.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Shapes: x (B, *event_shape) or (B, n), entries 0 or 1; z (B, hidden).

    Example:
        >>> Autoencoder(event_shape=(8,), hidden=3).reconstruct(torch.zeros(2, 8)).shape
        torch.Size([2, 8])
    """

    def __init__(self, event_shape: Sequence[int] = (784,), hidden: int = 500, **training: Any) -> None:
        super().__init__(_measures={"bce": Mean()}, **training)
        require(1, event_shape=event_shape, hidden=hidden)
        self.event_shape, self.hidden = tuple(event_shape), hidden
        self.n = math.prod(self.event_shape)
        self.encoder, self.decoder = nn.Linear(self.n, hidden), nn.Linear(hidden, self.n)

    def encode(self, x: Tensor) -> Tensor:
        """x (B, *event_shape) -> z (B, hidden), at least 0."""
        return F.relu(self.encoder(x.reshape(len(x), self.n)))

    def decode(self, z: Tensor) -> Tensor:
        """z (B, hidden) -> x̂ (B, *event_shape) in (0, 1)."""
        return torch.sigmoid(self.decoder(z)).reshape(len(z), *self.event_shape)

    def logits(self, x: Tensor) -> Tensor:
        """x (B, n) -> logits of x̂, (B, n)."""
        return self.decoder(self.encode(x))

    def reconstruct(self, x: Tensor) -> Tensor:
        """x̂ (B, *event_shape)."""
        return self.decode(self.encode(x))

    def log_product(self, x: Tensor) -> Tensor:
        """log Π_i x̂_i^{x_i} (1 - x̂_i)^{1 - x_i}, (B,): looks like a log-likelihood and is none."""
        x = x.reshape(len(x), self.n)
        return -F.binary_cross_entropy_with_logits(self.logits(x), x, reduction="none").sum(-1)

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        bce = -self.log_product(x)
        self.log_metric(split, "bce", bce.detach())  # summed over variables like nll, and not its equal
        return bce.mean()
