"""See why an order can matter: the best FVSBN of every order, on all bars and stripes.

The chain rule loses nothing in any order, and tables reach the entropy in all of them. What an order costs is
the price of restricted conditionals: here logistic ones. ([GM] 1.5.4 calls a fixed order itself a bias, since
late variables are unseen by early ones.) Each conditional is a logistic regression, and its loss is convex:
Newton's method finds the least, also where it lies at infinite weights.
"""

import math
from functools import cache

import torch
from torch import Tensor

from datamodules.binary_images import patterns
from modules.autoregressive.orders import resolve_order

ITERATIONS = 30  # where classes can be told apart, each divides the loss by about e
RIDGE = 1e-10  # where inputs repeat each other, weights may be shifted freely
FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.02)  # of a Newton step


@cache
def pictures(side: int) -> Tensor:
    """All bars and stripes (M, side²), float64: 14 of 3 × 3 pixels, 30 of 4 × 4."""
    return patterns("bars-and-stripes", side).flatten(1).double()


def entropy(side: int) -> float:
    """ln M, nats: of the uniform distribution on the pictures, which tables reach in every order."""
    return math.log(len(pictures(side)))


def orders(side: int, count: int, seed: int) -> Tensor:
    """The raster order and count - 1 random ones, (count, side²)."""
    n = side * side
    drawn = [resolve_order("random", n, 1000 * seed + s) for s in range(1, count)]
    return torch.stack([resolve_order("raster", n), *drawn])


def logistic(inputs: Tensor, targets: Tensor) -> Tensor:
    """Least mean loss of S logistic regressions, nats: inputs (S, M, F), targets (S, M) -> (S,)."""
    x = torch.cat([torch.ones_like(targets)[..., None], inputs], -1)  # (S, M, F + 1)
    weights = x.new_zeros(len(x), x.shape[-1])
    eye = torch.eye(x.shape[-1], dtype=x.dtype)
    fractions = torch.tensor((*FRACTIONS, 0.0), dtype=x.dtype)

    def loss(w: Tensor) -> Tensor:  # (..., S, F + 1) -> (..., S)
        logits = (x @ w[..., None])[..., 0]
        return (torch.nn.functional.softplus(logits) - targets * logits).mean(-1)

    for _ in range(ITERATIONS):
        p = (x @ weights[..., None])[..., 0].sigmoid()
        gradient = (x * (p - targets)[..., None]).mean(1)  # (S, F + 1)
        hessian = (x.mT * (p * (1 - p))[:, None]) @ x / x.shape[1] + RIDGE * eye
        step = torch.linalg.solve(hessian, gradient)
        tried = weights - fractions[:, None, None] * step  # (fractions, S, F + 1)
        best = loss(tried).argmin(0)
        weights = tried[best, torch.arange(len(x))]
    return loss(weights)


def least(data: Tensor, orders: Tensor) -> Tensor:
    """Least -log p of the best FVSBN, mean over data (M, n), for each of orders (S, n), nats, (S,)."""
    total = torch.zeros(len(orders), dtype=data.dtype)
    for t in range(orders.shape[1]):
        inputs = data[:, orders[:, :t]].transpose(0, 1)  # (M, S, t) -> (S, M, t)
        total += logistic(inputs, data[:, orders[:, t]].t())
    return total


def references(side: int) -> dict[str, float]:
    """Least -log p of models beside it on the same pictures, raster order, nats.

    With one binary input a logistic regression is a table: the chain is the first-order Markov chain.
    """
    data = pictures(side)
    first, last = data[:, :1].t(), data.t()  # (1, M), (n, M)
    nothing = data.new_zeros(len(last), len(data), 0)
    chain = logistic(nothing[:1], first).sum() + logistic(last[:-1, :, None], last[1:]).sum()
    raster = torch.arange(side * side)[None]
    return {
        "independent pixels": float(logistic(nothing, last).sum()),
        "raster chain": float(chain),
        "best FVSBN, raster": float(least(data, raster)[0]),
        "tables, any order": entropy(side),
    }
