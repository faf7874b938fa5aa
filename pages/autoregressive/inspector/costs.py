"""Cost of each pixel of a picture under a model, and under two of them."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from modules.autoregressive.base import Autoregressive


@dataclass(frozen=True)
class Comparison:
    """log p(x_i | x_<i) of one picture under two models, nats, each (n,); `gain` is first minus second."""

    first: Tensor
    second: Tensor

    @property
    def gain(self) -> Tensor:
        return self.first - self.second

    @property
    def totals(self) -> tuple[float, float]:
        return float(self.first.sum()), float(self.second.sum())

    def running(self) -> tuple[Tensor, Tensor]:
        """Sums from the top left pixel on, each (n,)."""
        return self.first.cumsum(0), self.second.cumsum(0)


@torch.no_grad()
def terms(model: Any, x: Tensor, y: int | None = None) -> Tensor:
    """log p(x_i | x_<i) of every pixel of x (n,), nats, (n,), in the model's own order.

    Args:
        y: the class, of models that know classes; without it their terms are those of the mixture of all,
            which learns the class on the way.
    """
    x = x[None].to(model.device, model.dtype)
    return model.log_conditionals(x, model.component_order(0), y)[0].flatten()


def compare(first: Autoregressive, second: Autoregressive, x: Tensor) -> Comparison:
    """Both models' terms of log p(x), x (n,), each in its own order; mixtures of orders by their first."""
    return Comparison(terms(first, x), terms(second, x))
