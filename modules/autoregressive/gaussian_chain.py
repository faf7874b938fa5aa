"""Gaussian Markov chain: the linear autoregression of order one that the family is named after.

    x_1 ~ N(m_1, v_1),    x_{t+1} = a x_t + c + s ε_t,    ε_t ~ N(0, 1)
    log p(x) = log N(x_1; m_1, v_1) + Σ_t log N(x_{t+1}; a x_t + c, s²)

The whole x is one multivariate normal: (L x)_1 = x_1, (L x)_{t+1} = x_{t+1} - a x_t has independent entries,
so that Cov(x) = L^{-1} diag(v_1, s², s², …) L^{-T}. With v_1 = s²/(1 - a²) and c = 0 the chain is stationary
and Cov(x_t, x_u) = v_1 a^{|t-u|}; a = 1 is the Gaussian random walk. Fitted in closed form, by least squares.

Shapes: x (B, *event_shape) real numbers, read in raster order; log_prob (B,), nats; it can be positive.

References: [BB] 5.1, examples 5.10.1-2; [GM] 1.4 (the name); Yule 1927.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from modules.base import CountModel, Split, require
from modules.trace import Step, Trace


class GaussianChain(CountModel):
    """Args:
        event_shape: shape of one example.
        least_variance: of a step, so that constant data keep a density.
        training: metrics, ... of `modules.base.Module`.

    The parameters (`slope`, `shift`, `variance`, `first_mean`, `first_variance`) follow from the sums that
    `count` keeps; `put` sets them by hand.
    """

    sums: Tensor

    def __init__(
        self, event_shape: Sequence[int] = (64,), least_variance: float = 1e-6, **training: Any
    ) -> None:
        super().__init__(**training)
        require(0, least_variance=least_variance)
        self.event_shape, self.n = tuple(event_shape), math.prod(event_shape)
        if self.n < 2:
            raise ValueError(f"event_shape is {list(event_shape)}: a chain has at least two steps.")
        self.least_variance = least_variance
        # of first values: how many, Σ x, Σ x²; of steps: how many, Σ x, Σ y, Σ x², Σ x y, Σ y²
        self.register_buffer("sums", torch.zeros(9, dtype=torch.float64))
        self.put(0.0, 1.0)

    def put(self, slope: float, scale: float, first_variance: float = 1.0, shift: float = 0.0) -> None:
        """Use x_{t+1} = slope · x_t + shift + scale · ε and x_1 ~ N(0, first_variance)."""
        # the sums of data that would be fitted by just these numbers: x of mean 0 and variance 1
        yy = slope**2 + shift**2 + scale**2
        self.sums.copy_(
            torch.tensor([1.0, 0.0, first_variance, 1.0, 0.0, shift, 1.0, slope, yy], dtype=torch.float64)
        )

    @property
    def slope(self) -> Tensor:
        """a, by least squares: Cov(x, y) / Var(x)."""
        count, x, y, xx, xy, _ = self.sums[3:]
        spread = xx - x * x / count
        return torch.where(spread > 0, (xy - x * y / count) / spread, 0.0)

    @property
    def shift(self) -> Tensor:
        """c"""
        count, x, y = self.sums[3:6]
        return (y - self.slope * x) / count

    @property
    def variance(self) -> Tensor:
        """s², the mean squared residual."""
        count, x, y, xx, xy, yy = self.sums[3:]
        a, c = self.slope, self.shift
        squares = yy + a * a * xx + c * c * count - 2 * (a * xy + c * y - a * c * x)
        return (squares / count).clamp(min=self.least_variance)

    @property
    def first_mean(self) -> Tensor:
        """m_1"""
        return self.sums[1] / self.sums[0]

    @property
    def first_variance(self) -> Tensor:
        """v_1"""
        return (self.sums[2] / self.sums[0] - self.first_mean**2).clamp(min=self.least_variance)

    @property
    def num_parameters(self) -> int:
        numbers = (self.slope, self.shift, self.variance, self.first_mean, self.first_variance)
        return torch.stack(numbers).numel()

    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean (n,) and covariance (n, n) of the whole x."""
        below = torch.full((self.n - 1,), float(self.slope), dtype=torch.float64)
        steps = torch.eye(self.n, dtype=torch.float64) - below.diag(-1)  # L
        drive = torch.cat([self.first_mean[None], self.shift.expand(self.n - 1)])
        noise = torch.cat([self.first_variance[None], self.variance.expand(self.n - 1)])
        back = torch.linalg.inv(steps)
        return back @ drive, back @ noise.diag() @ back.t()

    def log_conditionals(self, x: Tensor) -> Tensor:
        """log p(x_1), log p(x_2 | x_1), … of each example in nats, (B, n)."""
        x = x.reshape(len(x), -1).to(self.sums)
        if x.shape[1] != self.n:
            raise ValueError(f"each example has {x.shape[1]} entries, the model {self.n}.")
        first = normal_log_density(x[:, 0], self.first_mean, self.first_variance)
        steps = normal_log_density(x[:, 1:], self.slope * x[:, :-1] + self.shift, self.variance)
        return torch.cat([first[:, None], steps], 1)

    def log_prob(self, x: Tensor) -> Tensor:
        """log p(x) in nats, (B,), by the chain rule."""
        return self.log_conditionals(x).sum(1)

    def step(self, batch: Any, split: Split) -> Tensor:
        nll = -self.log_prob(batch[0])
        self.measure(split, "nll", nll)
        return nll.mean()

    def forget(self) -> None:
        self.sums.zero_()

    def count(self, batch: Any) -> None:
        x = batch[0].reshape(len(batch[0]), -1).double()
        first, before, after = x[:, 0], x[:, :-1], x[:, 1:]
        self.sums += torch.stack(
            [
                torch.tensor(float(len(x))), first.sum(), (first**2).sum(),
                torch.tensor(float(before.numel())), before.sum(), after.sum(),
                (before**2).sum(), (before * after).sum(), (after**2).sum(),
            ]
        )  # fmt: skip

    # --- sampling ---

    @torch.no_grad()
    def _draw(self, n: int, generator: torch.Generator | None) -> Iterator[Tensor]:
        """x (n, steps) after each new step."""
        noise = torch.randn(n, self.n, generator=generator, dtype=torch.float64)
        x = torch.zeros(n, self.n, dtype=torch.float64)
        x[:, 0] = self.first_mean + self.first_variance.sqrt() * noise[:, 0]
        yield x[:, :1]
        for t in range(1, self.n):
            x[:, t] = self.slope * x[:, t - 1] + self.shift + self.variance.sqrt() * noise[:, t]
            yield x[:, : t + 1]

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """(n, *event_shape)."""
        *_, x = self._draw(n, generator)
        return x.reshape(n, *self.event_shape)

    def sample_trace(self, seed: int = 0) -> Trace:
        """One draw, a step a value: `x` so far and the `mean` that the value was drawn around."""
        steps = []
        a, c, s = float(self.slope), float(self.shift), float(self.variance.sqrt())
        for x in self._draw(1, torch.Generator().manual_seed(seed)):
            t, value = x.shape[1], float(x[0, -1])
            mean = float(self.first_mean) if t == 1 else a * float(x[0, -2]) + c
            spread = float(self.first_variance.sqrt()) if t == 1 else s
            steps.append(
                Step(
                    f"Step {t}: {value:.3f}, drawn around {mean:.3f}.",
                    {"x": x[0].clone(), "mean": mean},
                    rf"x_{{{t}}} = {mean:.3f} + {spread:.3f} \cdot {(value - mean) / spread:.3f}"
                    rf" = {value:.3f}",
                )
            )
        return Trace(steps, steps[-1].values["x"].reshape(self.event_shape))


def normal_log_density(x: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    """log N(x; mean, variance) of each entry; the second number is σ², not σ."""
    return -0.5 * ((x - mean) ** 2 / variance + variance.log() + math.log(2 * math.pi))


def walk_law(steps: int) -> Tensor:
    """The fair ±1 walk from 0: p(after `steps`) of -steps, …, steps, (2·steps + 1,), by folding."""
    law = torch.ones(1, dtype=torch.float64)
    for _ in range(steps):
        down, up = torch.cat([law, law.new_zeros(2)]), torch.cat([law.new_zeros(2), law])
        law = (down + up) / 2
    return law
