"""Looking into orders: one set of weights, many joints; how to mix them, and how not to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.autoregressive.base import Autoregressive
from modules.autoregressive.orders import observed_first, ranks, resolve_order


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


POOLS = ("random", "scans")
CORNERS = ("top left", "top right", "bottom left", "bottom right")
SCANS = (*(f"{lines} from the {corner}" for lines in ("rows", "columns") for corner in CORNERS), "a snake",
         "a spiral")  # fmt: skip


def scans(side: int) -> list[Tensor]:
    """The orders named in `SCANS` of side² pixels, (side²,) each."""
    grid = torch.arange(side * side).view(side, side)
    lines = [grid.flip(flips) for flips in ([], [1], [0], [0, 1])]
    across = [result.flatten() for result in lines]
    down = [result.t().flatten() for result in lines]
    snake = torch.where(torch.arange(side)[:, None] % 2 == 0, grid, grid.flip(1)).flatten()
    rest, spiral = grid, []
    while rest.numel():  # the top row, then the rest turned so that its next edge is on top
        spiral.append(rest[0])
        rest = rest[1:].t().flip(0)
    return [*across, *down, snake, torch.cat(spiral)]


def pool(kind: str, model: Autoregressive, count: int, seed: int = 0) -> list[Tensor]:
    """Orders for `model`: all scans; or `count` random ones, the first of them one that it knows best."""
    if kind == "scans":
        return scans(math.isqrt(model.n))
    others = [resolve_order("random", model.n, 1000 * (seed + 1) + s) for s in range(1, count)]
    return [model.component_order(0), *others]


def names(kind: str, count: int) -> list[str]:
    """Names of the orders of a pool."""
    return list(SCANS) if kind == "scans" else ["one that the model knows", *["random"] * (count - 1)]


@torch.no_grad()
def under_many_orders(
    model: Autoregressive, pictures: Tensor, count: int, seed: int = 0, kind: str = "random"
) -> Orders:
    """Score pictures (N, n) of bits under the orders of a pool."""
    orders = pool(kind, model, count, seed)
    pictures = pictures.to(model.device, model.dtype)
    nll = torch.stack([-model.log_prob(pictures, order=order) for order in orders])
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

LN2 = math.log(2)
INSIDE = ("raster", "reversed", "random")


def order_of_hole(given: Tensor, inside: str, seed: int = 0) -> Tensor:
    """Order of all pixels: first what is given, then the hole in the order `inside`, (n,); given (n,), NaN
    in the hole."""
    order = resolve_order(inside, len(given), seed)
    return observed_first(~given.isnan(), order)


def visits(order: Tensor, known: Tensor) -> Tensor:
    """Time at which each pixel of the hole is visited, from 1, (n,); NaN where it is known, known (n,)
    bool."""
    return (ranks(order) - known.sum()).float().masked_fill(known, math.nan)


@torch.no_grad()
def hole_score(model: Autoregressive, x: Tensor, given: Tensor, order: Tensor) -> float:
    """log p(hole | given) of the picture x (n,) in an order that has what is given first, nats."""
    each = model.log_conditionals(x[None].to(model.device, model.dtype), order).flatten()
    return float(each[given.isnan()].sum())


# --- What is predicted of a removed half ----------------------------------------------------------

HALVES = ("lower", "upper", "left", "right", "random")


def removed(half: str, side: int, seed: int = 0) -> Tensor:
    """Mark which of side² pixels are taken away, (side²,) bool; `random` draws half of them.

    Raises:
        ValueError: no such half.
    """
    rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    middle, order = side // 2, resolve_order("random", side * side, seed)
    halves = {
        "lower": rows >= middle,
        "upper": rows < middle,
        "left": columns < middle,
        "right": columns >= middle,
        "random": torch.zeros(side * side, dtype=torch.bool).index_fill(0, order[: side * side // 2], True),
    }
    if half not in halves:
        raise ValueError(f"half {half!r} is unknown: use one of {', '.join(HALVES)}.")
    return halves[half].flatten()


@torch.no_grad()
def imputation(model: Autoregressive, x: Tensor, gone: Tensor) -> Tensor | None:
    """-log p(removed pixels | the others) of pictures x (N, n), nats, (N,), with the others visited first.

    None where it is not to be had exactly: the model knows one order alone, and something removed comes
    in it before something kept.

    Args:
        gone: (n,) bool, the removed pixels.
    """
    own = model.component_order(0)
    order = observed_first(~gone, own)
    if not model.order_agnostic and not torch.equal(order, own):
        return None
    each = model.log_conditionals(x.to(model.device, model.dtype), order).flatten(1)
    return -each[:, gone].sum(1)


@torch.no_grad()
def without_neighbours(independent: Autoregressive, x: Tensor, gone: Tensor) -> Tensor:
    """The same for independent pixels, which learn nothing from what is kept, (N,) nats."""
    x = x.to(independent.device, independent.dtype)
    return -independent.log_conditionals(x).flatten(1)[:, gone].sum(1)


def without(x: Tensor, gone: Tensor) -> Tensor:
    """A picture (n,) with NaN where pixels are removed."""
    return x.masked_fill(gone, math.nan)


def stacked(truth: Tensor, completed: Tensor) -> Tensor:
    """The true picture (n,) before completions (N, ...) of it, (N + 1, n)."""
    return torch.cat([truth[None], completed.flatten(1)])


def summary(costs: Mapping[str, Tensor | None]) -> dict[str, float | None]:
    """Mean over the pictures, nats, by model."""
    return {name: None if each is None else float(each.mean()) for name, each in costs.items()}


def imputation_table(means: Mapping[str, Mapping[str, float | None]], pixels: int = 32) -> dict[str, list]:
    """Columns for every model: nats of the removed half, and bits for each of its `pixels`."""
    rows: dict[str, list] = {"removed": list(means)}
    for name in next(iter(means.values())):
        rows[name] = [
            "not possible exactly" if cost is None else f"{cost:.2f} nats, {cost / pixels / LN2:.3f} bits"
            for cost in (result[name] for result in means.values())
        ]
    return rows
