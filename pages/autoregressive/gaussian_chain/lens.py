"""Chains of real numbers and walks: paths, covariance, the chain rule and one normal distribution, a coin."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.autoregressive.gaussian_chain import GaussianChain, walk_distribution

LONGEST = 30  # values of a typed path


def chain(slope: float, scale: float, steps: int, stationary: bool) -> GaussianChain:
    """x_{t+1} = slope · x_t + scale · ε; from its stationary distribution, or from x_0 = 0.

    Raises:
        ValueError: a stationary distribution is asked for where there is none.
    """
    if stationary and abs(slope) >= 1:
        raise ValueError(
            f"With a = {slope:g} the variance grows for ever: no stationary distribution, start from 0."
        )
    model = GaussianChain((steps,))
    model.put(slope, scale, scale**2 / (1 - slope**2) if stationary else scale**2)
    return model


def stationary_covariance(slope: float, scale: float, steps: int) -> Tensor:
    """a^{|t-u|} s² / (1 - a²), (steps, steps): the formula."""
    t = torch.arange(steps, dtype=torch.float64)
    a = torch.tensor(slope, dtype=torch.float64)
    return a ** (t[:, None] - t[None, :]).abs() * scale**2 / (1 - slope**2)


def deviation(model: GaussianChain) -> float:
    """The largest difference between the covariance of a stationary chain and the formula."""
    formula = stationary_covariance(float(model.slopes), float(model.variance.sqrt()), model.n)
    return float((model.moments()[1] - formula).abs().max())


def paths(model: GaussianChain, count: int, seed: int) -> Tensor:
    """Draws (count, steps)."""
    return model.sample(count, torch.Generator().manual_seed(seed))


# --- Own path -------------------------------------------------------------------------------------


def typed_path(text: str) -> Tensor:
    """ "0.3, -0.2 0.5" -> (n,), float64.

    Raises:
        ValueError: something is no number, or the path is too short or too long.
    """
    words = text.replace(",", " ").replace(";", " ").replace("−", "-").split()
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not abs(value) <= 1e3:
            raise ValueError(f"{word!r} is no number from −1000 to 1000: give numbers with commas between.")
        values.append(value)
    if not 2 <= len(values) <= LONGEST:
        raise ValueError(f"A path has 2 to {LONGEST} numbers; there are {len(values)}.")
    return torch.tensor(values, dtype=torch.float64)


@dataclass(frozen=True)
class LogDensity:
    """One path (n,) under a chain.

    Attributes:
        means, spreads: (n,) of the normal distribution of each value, given the value before it.
        terms: (n,) log p(x_t | x_{t-1}), nats.
        joint: log-density of the one multivariate normal of all values, nats.
    """

    means: Tensor
    spreads: Tensor
    terms: Tensor
    joint: float

    @property
    def total(self) -> float:
        """The chain rule's sum, nats."""
        return float(self.terms.sum())


def log_density(model: GaussianChain, x: Tensor) -> LogDensity:
    """Both ways of computing log p(x), x (n,)."""
    L, shift, variance = model.system()
    means = x - L @ x + shift
    joint = MultivariateNormal(*model.moments()).log_prob(x)
    return LogDensity(means, variance.sqrt(), model.log_conditionals(x[None])[0], float(joint))


# --- The fair walk --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Walk:
    """Draws of the ±1 walk from 0, and the exact distribution of where it is.

    Attributes:
        paths: (draws, steps + 1).
        places: (steps + 1,) that can be reached, -steps, -steps + 2, …, steps.
        distribution, frequencies: (steps + 1,) exact probability and share of the draws at each place.
    """

    paths: Tensor
    places: Tensor
    distribution: Tensor
    frequencies: Tensor

    @property
    def ways(self) -> list[int]:
        """How many of the 2^steps equally likely ways end at each place."""
        return [round(p * 2 ** (len(self.distribution) - 1)) for p in self.distribution.tolist()]

    @property
    def variance(self) -> float:
        """Mean square of the last place over the draws."""
        return float((self.frequencies * self.places**2).sum())


def gauss_walk(steps: int, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Walks (count, steps + 1) of standard normal steps from 0, and the standard deviation (steps + 1,)."""
    model = chain(1.0, 1.0, steps, stationary=False)
    spread = model.moments()[1].diagonal().sqrt()
    return F.pad(paths(model, count, seed), (1, 0)), F.pad(spread, (1, 0))


def coin_walk(steps: int, draws: int, seed: int) -> Walk:
    """Draw walks of `steps` fair steps of -1 or +1."""
    coins = torch.randint(2, (draws, steps), generator=torch.Generator().manual_seed(seed))
    walked = torch.cat([coins.new_zeros(draws, 1), (2 * coins - 1).cumsum(1)], 1)
    places = torch.arange(-steps, steps + 1, 2)
    ups = (walked[:, -1] + steps) // 2
    shares = ups.bincount(minlength=steps + 1).double() / draws
    return Walk(walked, places, walk_distribution(steps)[::2], shares)
