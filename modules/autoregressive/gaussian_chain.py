"""Gaussian Markov chain: the linear autoregression that the family is named after.

    x_t = c + Σ_{j ≤ k} a_j x_{t-j} + s ε_t,    ε_t ~ N(0, 1),    the first k values from any normal
    log p(x) = Σ_t log N(x_t; c_t + Σ_j a_tj x_{t-j}, s_t²)

The whole x is one multivariate normal: with (L x)_t = x_t - Σ_j a_tj x_{t-j} the entries of L x are
independent, so that Cov(x) = L^{-1} diag(s_1², s_2², …) L^{-T}.

k = 1: if c = 0 and x_1 has the variance v = s²/(1 - a²), the chain is stationary and
Cov(x_t, x_u) = v a^{|t-u|}; a = 1 is the Gaussian random walk. k = 2, with a_1 = 2 r cos ω and a_2 = -r²: a
resonance at ω radians a step, as of a plucked string (Yule's sunspots); no chain of memory 1 can swing.

Fitted in closed form, by least squares: of the first k values each on all before it, of the others on the
last k.

Shapes: x (B, *event_shape) real numbers, read in raster order; log_prob (B,), nats; it can be positive.

References: [BB] 5.1, examples 5.10.1-2; [GM] 1.4 (the name); Yule 1927.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from modules.base import CountModel, Split, in_rows, require
from modules.former import former
from modules.noise import normal
from modules.trace import Step, Trace


class GaussianChain(CountModel):
    """Args:
        event_shape: shape of one example.
        memory: k, how many values back.
        min_variance: of a step, so that constant data keep a density.
        training: metrics, ... of `modules.base.Module`.

    All parameters follow from two tables of second moments that `count` adds up: `first`, of 1 and the first
    k values, and `steps`, of 1, k values in a row and the one after them. `put` sets them by hand.
    """

    first: Tensor
    steps: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (64,),
        memory: int = 1,
        min_variance: float = 1e-6,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        require(0, min_variance=min_variance)
        require(1, memory=memory)
        self.event_shape, self.n, self.memory = tuple(event_shape), math.prod(event_shape), memory
        if self.n < memory + 1:
            raise ValueError(f"event_shape is {list(event_shape)}: memory {memory} needs more steps.")
        self.min_variance = min_variance
        self.register_buffer("first", torch.zeros(memory + 1, memory + 1, dtype=torch.float64))
        self.register_buffer("steps", torch.zeros(memory + 2, memory + 2, dtype=torch.float64))
        self.put([0.0] * memory, 1.0)

    def put(
        self,
        slopes: float | Sequence[float],
        scale: float,
        first_variance: float | Tensor = 1.0,
        shift: float = 0.0,
    ) -> None:
        """Use x_t = shift + Σ_j slopes_j · x_{t-j} + scale · ε, the first k values with mean 0.

        Args:
            slopes: the nearest value's first.
            first_variance: of the first k values, or their covariance (k, k).
        """
        a = torch.as_tensor(slopes, dtype=torch.float64).reshape(-1).flip(0)  # the oldest first
        if len(a) != self.memory:
            raise ValueError(f"{len(a)} slopes for a memory of {self.memory}: give one for each value back.")
        eye = torch.eye(self.memory, dtype=torch.float64)
        covariance = torch.as_tensor(first_variance, dtype=torch.float64)
        # the moments of data that would be fitted by just these numbers: values of mean 0 and variance 1
        one = torch.ones(1, 1, dtype=torch.float64)
        self.first.copy_(torch.block_diag(one, covariance if covariance.ndim else eye * covariance))
        mean = torch.cat([a.new_tensor([shift]), a])  # of y given (1, z)
        loading = torch.cat([torch.block_diag(one, eye), mean[None]])
        self.steps.copy_(loading @ loading.t())
        self.steps[-1, -1] += scale**2

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, memory={self.memory}"

    # --- parameters ---

    def regression(self, moments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Least squares of the last entry on those before it.

        Args:
            moments: (m + 2, m + 2), sums over examples of (1, z_1, …, z_m, y) times itself.

        Returns:
            shift (), slopes (m,) and the variance () of what is left.
        """
        moments = moments / moments[0, 0]
        mean = moments[0, 1:]
        covariance = moments[1:, 1:] - mean[:, None] * mean
        slopes = torch.linalg.pinv(covariance[:-1, :-1], hermitian=True) @ covariance[:-1, -1]
        left = covariance[-1, -1] - slopes @ covariance[:-1, -1]
        return mean[-1] - slopes @ mean[:-1], slopes, left.clamp(min=self.min_variance)

    @property
    def slopes(self) -> Tensor:
        """Slopes a, (k,), the nearest value's first."""
        return self.regression(self.steps)[1].flip(0)

    @property
    def shift(self) -> Tensor:
        """Shift c, ()."""
        return self.regression(self.steps)[0]

    @property
    def variance(self) -> Tensor:
        """Mean squared residual s², ()."""
        return self.regression(self.steps)[2]

    @property
    def first_variance(self) -> Tensor:
        """Variance of the first value."""
        return self.regression(self.first[:2, :2])[2]

    @property
    def num_parameters(self) -> int:
        beginning = [self.regression(self.first[: t + 2, : t + 2]) for t in range(self.memory)]
        return sum(t.numel() for part in (*beginning, self.regression(self.steps)) for t in part)

    def system(self) -> tuple[Tensor, Tensor, Tensor]:
        """L (n, n), c (n,) and s² (n,): the entries of L x are independent, N(c_t, s_t²)."""
        L = torch.eye(self.n).to(self.steps)
        shift, variance = L.new_empty(2, self.n)
        k = self.memory
        for t in range(k):
            shift[t], slopes, variance[t] = self.regression(self.first[: t + 2, : t + 2])
            L[t, :t] = -slopes
        shift[k:], slopes, variance[k:] = self.regression(self.steps)
        for j in range(k):  # the oldest first
            L[k:, j : j + self.n - k].diagonal().fill_(-slopes[j])
        return L, shift, variance

    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean (n,) and covariance (n, n) of the whole x."""
        L, shift, variance = self.system()
        back = torch.linalg.inv(L)
        return back @ shift, back @ variance.diag() @ back.t()

    # --- density ---

    def log_conditionals(self, x: Tensor) -> Tensor:
        """log p(x_1), log p(x_2 | x_1), … of each example in nats, (B, n)."""
        x = in_rows(x).to(self.steps)
        if x.shape[1] != self.n:
            raise ValueError(f"each example has {x.shape[1]} entries, the model {self.n}.")
        L, shift, variance = self.system()
        return normal_log_density(x @ L.t(), shift, variance)

    def log_prob(self, x: Tensor) -> Tensor:
        """log p(x) in nats, (B,), by the chain rule."""
        return self.log_conditionals(x).sum(1)

    def step(self, batch: Any, split: Split) -> Tensor:
        nll = -self.log_prob(batch[0])
        self.log_metric(split, "nll", nll)
        return nll.mean()

    def reset_counts(self) -> None:
        self.first.zero_()
        self.steps.zero_()

    def count(self, batch: Any) -> None:
        x = in_rows(batch[0]).double()
        first = torch.cat([x.new_ones(len(x), 1), x[:, : self.memory]], 1)
        self.first += first.t() @ first
        windows = x.unfold(1, self.memory + 1, 1).reshape(-1, self.memory + 1)  # k values and the next one
        windows = torch.cat([windows.new_ones(len(windows), 1), windows], 1)
        self.steps += windows.t() @ windows

    # --- sampling ---

    @torch.no_grad()
    def _draw(self, n: int, generator: torch.Generator | None) -> Iterator[tuple[Tensor, Tensor]]:
        """x (n, t) after each new step t, and the mean that its last value was drawn around, (n,)."""
        L, shift, variance = self.system()
        noise = normal(n, self.n, like=L, generator=generator, dtype=torch.float64)
        x = torch.zeros_like(noise)
        for t in range(self.n):
            last = slice(max(0, t - self.memory), t)
            mean = shift[t] - x[:, last] @ L[t, last]
            x[:, t] = mean + variance[t].sqrt() * noise[:, t]
            yield x[:, : t + 1], mean

    @former("n", "generator")
    def sample(self, n: int, *, generator: torch.Generator | None = None) -> Tensor:
        """Draw n examples, (n, *event_shape)."""
        *_, (x, _) = self._draw(n, generator)
        return x.reshape(n, *self.event_shape)

    @former("seed")
    def sample_trace(self, *, generator: torch.Generator | None = None) -> Trace:
        """Trace of one draw, a step per value: `x` so far and the `mean` that the value was drawn around."""
        steps = []
        spreads = self.system()[2].sqrt().tolist()
        for x, around in self._draw(1, generator):
            t, value, mean = x.shape[1], float(x[0, -1]), float(around)
            spread = spreads[t - 1]
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


def walk_distribution(steps: int) -> Tensor:
    """The fair ±1 walk from 0: p(after `steps`) of -steps, …, steps, (2·steps + 1,), by folding."""
    p = torch.ones(1, dtype=torch.float64)
    for _ in range(steps):
        down, up = torch.cat([p, p.new_zeros(2)]), torch.cat([p.new_zeros(2), p])
        p = (down + up) / 2
    return p
