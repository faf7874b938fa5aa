"""Looking into orders: one set of weights, many joints; how to mix them, and how not to."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.autoregressive.base import Autoregressive, observed_first, resolve_order


@dataclass(frozen=True)
class Orders:
    """-log p of N pictures under S orders, nats.

    Attributes:
        nll: (S, N).
        orders: (S, n) variables in the order they are visited.
    """

    nll: Tensor
    orders: Tensor

    @property
    def each(self) -> Tensor:
        """Mean over the pictures, per order, (S,)."""
        return self.nll.mean(1)

    @property
    def mean(self) -> float:
        """Mean over orders and pictures: what a member of the ensemble costs."""
        return float(self.nll.mean())

    @property
    def ensemble(self) -> float:
        """Cost under the mixture of all S joints, log-mean-exp: never more than `mean` (Jensen)."""
        return float(-self.mixed.mean())

    @property
    def mixed(self) -> Tensor:
        """log of the mixture's density, (N,)."""
        return (-self.nll).logsumexp(0) - math.log(len(self.nll))


@torch.no_grad()
def under_many_orders(model: Autoregressive, pictures: Tensor, count: int, seed: int = 0) -> Orders:
    """Score pictures (N, n) of bits under `count` orders; the first is one that the model knows best."""
    first = model.component_order(0)
    others = [resolve_order("random", model.n, 1000 * (seed + 1) + s) for s in range(1, count)]
    orders = [first, *others]
    nll = torch.stack([-model.log_prob(pictures.to(model.like), order=order) for order in orders])
    return Orders(nll, torch.stack(orders))


# --- How not to mix -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Averages:
    """A joint of two bits, seen from both orders, and three ways to combine them; cells 00, 01, 10, 11.

    Attributes:
        conditionals: (2 orders, 4 cells, 2 bits) p(x_i = 1 | what comes before).
        mixture, probabilities, logits: (4,) what each way assigns to the cells.
    """

    conditionals: Tensor
    mixture: Tensor
    probabilities: Tensor
    logits: Tensor

    def totals(self) -> dict[str, float]:
        """The sum over all four cells: 1 for a density alone."""
        return {
            "mixture of joints": float(self.mixture.sum()),
            "averaged probabilities": float(self.probabilities.sum()),
            "averaged logits": float(self.logits.sum()),
        }


def averages(joint: Tensor) -> Averages:
    """Both orders of `joint` (4,), each exact, combined three ways.

    Raises:
        ValueError: `joint` is no distribution with all four probabilities positive.
    """
    joint = joint.double()
    if joint.shape != (4,) or not (joint > 0).all() or abs(float(joint.sum()) - 1) > 1e-6:
        raise ValueError("Four positive probabilities that sum to 1 are needed.")
    table = joint.reshape(2, 2)  # [x_1, x_2]
    x = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    first, second = x[:, 0], x[:, 1]
    p1, p2 = table[1].sum(), table[:, 1].sum()
    forward = torch.stack([p1.expand(4), table[first, 1] / table[first].sum(1)], 1)
    backward = torch.stack([table[1, second] / table[:, second].sum(0), p2.expand(4)], 1)
    both = torch.stack([forward, backward])

    def product(p: Tensor) -> Tensor:  # (..., 4, 2) -> (..., 4)
        return torch.where(x == 1, p, 1 - p).prod(-1)

    return Averages(
        both, product(both).mean(0), product(both.mean(0)), product(torch.logit(both).mean(0).sigmoid())
    )


# --- Two orders of one hole -----------------------------------------------------------------------

INSIDE = ("raster", "reversed", "random")


def order_of_hole(given: Tensor, inside: str, seed: int = 0) -> Tensor:
    """What is given first, then the hole in the order `inside`, (n,); given (n,), NaN in the hole."""
    order = resolve_order(inside, len(given), seed)  # type: ignore[arg-type]
    return observed_first(~given.isnan(), order)


@torch.no_grad()
def hole_score(model: Autoregressive, x: Tensor, given: Tensor, order: Tensor) -> float:
    """log p(hole | given) of the picture x (n,) in an order that has what is given first, nats."""
    each = model.log_conditionals(x[None].to(model.like), order).flatten()
    return float(each[given.isnan()].sum())
