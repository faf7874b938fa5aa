r"""A model with one parameter θ: log p(x; θ) as a curve, the bound of a q as another that lies below it.

    mixture       p(x) = ½ N(x; θ, 1) + ½ N(x; 2, 1); q is r_n for each point, free: it can be the posterior
    exponential   z ~ Exp(θ), x|z ~ N(z, 1); q = Exp(φ) never is the posterior, so the bound never touches

[UDL] §17.4 says that improving the bound in either set raises the likelihood. A better q never moves it, and
a better θ can lower it where the bound is loose.

References: [UDL] §17.4 and fig. 17.15; [BB] ex. 6.7; Neal, Hinton 1998.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lab.lenses.typed import named
from modules.latent import exponential_gaussian as eg
from modules.latent.elbo import log_normal

SECOND = 2.0  # mean of the mixture's other Gaussian
ROUNDS = 12  # of E and M
RATE = 0.2  # of a step of gradient


class Model(NamedTuple):
    """Model that is climbed; all in nats per point.

    Attributes:
        log_p: θ (T,) -> (T,); bound: θ (T,) and q -> (T,).
        fit_q: θ -> the best q of the family; fit_theta: q -> the best θ; ascend: θ, q -> both a step up.
        low, high: the range of θ.
    """

    log_p: Callable[[Tensor], Tensor]
    bound: Callable[[Tensor, Tensor], Tensor]
    fit_q: Callable[[float], Tensor]
    fit_theta: Callable[[Tensor], float]
    ascend: Callable[[float, Tensor], tuple[float, Tensor]]
    low: float
    high: float


def mixture(x: Tensor) -> Model:
    """Mixture with points x (N,); q is r (N,), the first Gaussian's share of each point."""

    def joint(theta: Tensor) -> Tensor:
        """log ½ N of both Gaussians, (T, N, 2)."""
        first = log_normal(x, theta[:, None], 1.0)
        return torch.stack([first, log_normal(x, SECOND, 1.0).expand_as(first)], -1) - math.log(2)

    def bound(theta: Tensor, r: Tensor) -> Tensor:
        both = torch.stack([r, 1 - r], -1)
        return ((both * joint(theta)).sum(-1) - torch.xlogy(both, both).sum(-1)).mean(1)

    def ascend(theta: float, r: Tensor) -> tuple[float, Tensor]:
        slope = float((r * (x - theta)).mean())
        pull = joint(torch.tensor([theta], dtype=x.dtype))[0]
        logit = torch.logit(r)
        uphill = r * (1 - r) * (pull[:, 0] - pull[:, 1] - logit)  # d bound / d logit, of one point
        return theta + RATE * slope, torch.sigmoid(logit + 4 * RATE * uphill)

    return Model(
        log_p=lambda theta: joint(theta).logsumexp(-1).mean(1),
        bound=bound,
        fit_q=lambda theta: joint(torch.tensor([theta], dtype=x.dtype))[0].softmax(-1)[:, 0],
        fit_theta=lambda r: float((r * x).sum() / r.sum()),
        ascend=ascend,
        low=-5.0,
        high=7.0,
    )


def exponential(x: float) -> Model:
    """Exponential model with one point x > 0; q is the rate φ."""
    at = torch.tensor(x, dtype=torch.float64)

    def ascend(theta: float, q: Tensor) -> tuple[float, Tensor]:
        """In log θ and log φ, which keeps both positive."""
        phi = float(q)
        up_theta = 1 - theta / phi
        up_phi = (theta - x) / phi + 2 / phi**2 - 1
        return theta * math.exp(0.5 * RATE * up_theta), q * math.exp(0.5 * RATE * up_phi)

    return Model(
        log_p=lambda theta: eg.log_evidence(theta, at),
        bound=lambda theta, q: eg.elbo(theta, q, at),
        # d L / dφ = 0 is φ² + (x − θ) φ − 2 = 0
        fit_q=lambda theta: torch.tensor((theta - x + math.sqrt((x - theta) ** 2 + 8)) / 2).double(),
        fit_theta=float,  # d L / dθ = 1/θ − 1/φ
        ascend=ascend,
        low=0.15,
        high=4.0,
    )


class Move(NamedTuple):
    """Place after a move: "start", "E", "M" or "both"."""

    kind: str
    theta: float
    q: Tensor
    log_p: float
    bound: float

    @property
    def gap(self) -> float:
        """KL from q to the posterior, nats per point."""
        return self.log_p - self.bound


def climb(model: Model, theta: float, q: Tensor, how: str) -> list[Move]:
    """Moves from (θ, q): "E and M" in turns, "M alone" once, or "both at once" by gradient."""

    def stand(kind: str, theta: float, q: Tensor) -> Move:
        here = torch.tensor([theta], dtype=torch.float64)
        return Move(kind, theta, q, float(model.log_p(here)), float(model.bound(here, q)))

    moves = [stand("start", theta, q)]
    if how == "M alone":
        return [*moves, stand("M", model.fit_theta(q), q)]
    for _ in range(ROUNDS if how == "E and M" else 2 * ROUNDS):
        if how == "E and M":
            q = model.fit_q(theta)
            moves.append(stand("E", theta, q))
            theta = model.fit_theta(q)
            moves.append(stand("M", theta, q))
        else:
            theta, q = model.ascend(theta, q)
            moves.append(stand("both", theta, q))
    return moves


def begin(mix: bool, x: Sequence[float], guess: float) -> tuple[Model, Tensor]:
    """The model of these points and its first q: r for every point of the mixture, or φ for the only one."""
    if mix:
        return mixture(torch.tensor(x, dtype=torch.float64)), torch.full((len(x),), guess).double()
    return exponential(x[0]), torch.tensor(guess, dtype=torch.float64)


def landscape(model: Model, moves: Sequence[Move], count: int = 241) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """θ and log p (count,), the bound of every move's q (moves, count), and where each stands: its θ, log p
    and bound (moves, 3)."""
    grid = torch.linspace(model.low, model.high, count, dtype=torch.float64)
    bounds = torch.stack([model.bound(grid, move.q) for move in moves])
    stands = torch.tensor([[move.theta, move.log_p, move.bound] for move in moves], dtype=torch.float64)
    return grid, model.log_p(grid), bounds, stands


def captions(moves: list[Move]) -> list[str]:
    """A sentence for every move."""
    texts = [f"The start: the bound is {moves[0].gap:.4f} below log p."]
    for i, now in enumerate(moves[1:], start=1):
        before = moves[i - 1]
        rise = f"The bound rises by {max(now.bound - before.bound, 0):.4f}"
        if now.kind == "E":
            end = (
                "and touches log p." if now.gap < 1e-9 else f"and stays {now.gap:.4f} below: no q is p(z|x)."
            )
            texts.append(f"E: a better q, and θ stays. {rise} {end}")
            continue
        change = now.log_p - before.log_p
        word = (
            "log p stays"
            if abs(change) < 5e-5
            else f"log p {'rises' if change > 0 else 'falls'} by {abs(change):.4f}"
        )
        name = "M: a better θ, and q stays" if now.kind == "M" else "Both at once, a step of gradient"
        texts.append(f"{name}: θ = {now.theta:.3f}. {rise}, {word}.")
    return texts


def equations(moves: list[Move]) -> list[str]:
    """log p = bound + KL with the numbers of each move, LaTeX."""
    return [
        rf"\log p(x; \theta) = \mathrm{{ELBO}} + \mathrm{{KL}} = "
        rf"{m.bound:.4f} + {max(m.gap, 0.0):.4f} = {m.log_p:.4f}"
        for m in moves
    ]


def typed(text: str, most: int = 40) -> tuple[list[float], str]:
    """Numbers of a text, and a sentence on what is left out, "" for nothing.

    Args:
        most: 1 where a single number is due, so that 0,5 is one.
    """
    return named(text, most, -20, 20)
