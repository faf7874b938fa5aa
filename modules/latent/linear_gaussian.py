r"""Linear-Gaussian latent variables: a plane with noise around it, and every question has an exact answer.

    z ~ N(0, I_K),   x|z ~ N(W z + μ, Ψ),  Ψ diagonal   =>   x ~ N(μ, W Wᵀ + Ψ)
    p(z|x) = N(M Wᵀ Ψ⁻¹ (x − μ), M),   M = (I + Wᵀ Ψ⁻¹ W)⁻¹

Only K×K matrices are inverted: log p(x) comes by Woodbury's identity and the determinant lemma. Entries of x
that are missing (NaN) drop their rows of W, μ and Ψ, each example its own: what is left is exact.

EM takes the mean as one more column of W, against a latent that is always 1, so one regression gives both.
For complete data whose mean is μ these are the steps with centred x.

W itself is not determined: W R with any rotation R is the same density. Compare W Wᵀ or subspaces.

Shapes: x (B, *event_shape), flattened to (B, D), NaN where missing; z (B, K); W (D, K); log_prob (B,), nats.

References: Rubin, Thayer 1982; Tipping, Bishop 1999; [GM] §3.2.1.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Independent, MultivariateNormal, Normal

from modules.base import require
from modules.former import former
from modules.latent.em import EMDensity, Stats, flatten
from modules.noise import normal
from modules.trace import Step, Trace

LOG_2PI = math.log(2 * math.pi)


class LinearGaussian(EMDensity):
    """Base of factor analysis and probabilistic PCA, which differ in the M-step for the noise.

    Args:
        event_shape: of one example.
        factors: K.
        floor: the least noise variance; 0 lets a factor explain one entry completely (a Heywood case).
        restarts, trial_steps, training: see `EMModel`.
    """

    allows_missing = True
    mean: Tensor
    loadings: Tensor
    noise: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (3,),
        factors: int = 1,
        floor: float = 1e-6,
        restarts: int = 1,
        trial_steps: int = 10,
        **training: Any,
    ) -> None:
        super().__init__(restarts, trial_steps, **training)
        require(1, event_shape=event_shape, factors=factors)
        require(0, floor=floor)
        self.event_shape, self.factors, self.floor = tuple(event_shape), factors, floor
        self.n = math.prod(self.event_shape)
        if factors > self.n:
            raise ValueError(f"factors is {factors}: {self.n} numbers have at most as many.")
        self.register_buffer("mean", torch.zeros(self.n, dtype=torch.float64))
        self.register_buffer("loadings", torch.eye(self.n, factors, dtype=torch.float64))
        self.register_buffer("noise", torch.ones(self.n, dtype=torch.float64))

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, factors={self.factors}, floor={self.floor:g}"

    def set_parameters(self, loadings: Tensor, noise: Tensor | float, mean: Tensor | float = 0.0) -> None:
        """Use W (D, K), Ψ's diagonal (D,) and μ (D,)."""
        for buffer, value in ((self.loadings, loadings), (self.noise, noise), (self.mean, mean)):
            buffer.copy_(torch.as_tensor(value, dtype=buffer.dtype).expand_as(buffer))
        self.started.fill_(True)

    # --- inference ---

    def _flatten(self, x: Tensor) -> Tensor:
        return flatten(x, self.n).to(self.mean)

    def _centred(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """x − μ (B, D), 0 where missing, and where it is seen (B, D); None if nothing is missing."""
        centred = self._flatten(x) - self.mean
        seen = ~centred.isnan()
        return centred.nan_to_num(nan=0.0), None if bool(seen.all()) else seen

    def _posterior(self, centred: Tensor, seen: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Posterior means (B, K), covariances (K, K) or, where entries are missing, (B, K, K); log p (B,)."""
        weighted = self.loadings / self.noise[:, None]  # Ψ⁻¹ W
        eye = torch.eye(self.factors).to(weighted)
        log_noise = self.noise.log()
        if seen is None:
            precision = eye + self.loadings.T @ weighted  # M⁻¹
            log_scale = self.n * LOG_2PI + log_noise.sum()
        else:
            pairs = self.loadings[:, :, None] * weighted[:, None, :]  # (D, K, K), a row's part of M⁻¹
            precision = eye + torch.einsum("bd,djk->bjk", seen.to(pairs), pairs)
            log_scale = seen.to(pairs) @ (LOG_2PI + log_noise)
        cholesky = torch.linalg.cholesky(precision)
        covariance = torch.cholesky_inverse(cholesky)
        shadow = centred @ weighted  # Wᵀ Ψ⁻¹ (x − μ), (B, K)
        z = (covariance @ shadow[..., None])[..., 0] if covariance.ndim == 3 else shadow @ covariance
        # (x−μ)ᵀ(WWᵀ+Ψ)⁻¹(x−μ) = (x−μ)ᵀΨ⁻¹(x−μ) − shadowᵀ M shadow;  log det(WWᵀ+Ψ) = log det Ψ + log det M⁻¹
        distance = (centred.square() / self.noise).sum(1) - (shadow * z).sum(1)
        log_det = 2 * cholesky.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return z, covariance, -0.5 * (log_scale + log_det + distance)

    def log_prob(self, x: Tensor) -> Tensor:
        """log p of the entries that are seen, (B,), nats."""
        return self._posterior(*self._centred(x))[2]

    def posterior(self, x: Tensor) -> MultivariateNormal:
        """p(z|x), exact: batch shape (B,), event shape (K,)."""
        z, covariance, _ = self._posterior(*self._centred(x))
        return MultivariateNormal(z, covariance)

    def covariance(self) -> Tensor:
        """W Wᵀ + Ψ, (D, D)."""
        return self.loadings @ self.loadings.T + self.noise.diag()

    # --- surfaces: Latent, Sampler ---

    @property
    def prior(self) -> Independent:
        """p(z) = N(0, I_K)."""
        zeros = self.mean.new_zeros(self.factors)
        return Independent(Normal(zeros, torch.ones_like(zeros)), 1)

    def encode(self, x: Tensor) -> Tensor:
        """The posterior mean, (B, K); x may have missing entries."""
        return self._posterior(*self._centred(x))[0]

    def decode(self, z: Tensor) -> Tensor:
        """W z + μ: z (..., K) -> (..., *event_shape)."""
        return (z.to(self.mean) @ self.loadings.T + self.mean).reshape(*z.shape[:-1], *self.event_shape)

    def impute(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of every entry given those that are seen, both shaped as x; what is seen has
        variance 0."""
        centred, seen = self._centred(x)
        z, covariance, _ = self._posterior(centred, seen)
        spread = torch.einsum("dj,...jk,dk->...d", self.loadings, covariance, self.loadings) + self.noise
        mean = z @ self.loadings.T + self.mean
        if seen is None:
            seen = torch.ones_like(centred, dtype=torch.bool)
        mean, variance = torch.where(seen, self._flatten(x), mean), torch.where(seen, 0.0, spread)
        return mean.reshape(x.shape), variance.reshape(x.shape)

    @former("n", "mean", "generator")
    def sample(self, n: int, *, generator: torch.Generator | None = None, mean: bool = False) -> Tensor:
        """(n, *event_shape); `mean` leaves the noise out."""
        return self._draw(n, mean, generator)[1].reshape(n, *self.event_shape)

    def _draw(self, n: int, mean: bool, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        z = normal(n, self.factors, like=self.mean, generator=generator, dtype=torch.float64)
        x = z @ self.loadings.T + self.mean
        if not mean:
            x = x + self.noise.sqrt() * normal(*x.shape, like=x, generator=generator, dtype=torch.float64)
        return z, x

    @former("mean", "seed")
    def sample_trace(self, *, generator: torch.Generator | None = None, mean: bool = False) -> Trace:
        """One draw in its two steps: `z` from the prior, then `x` around W z + μ."""
        z, x = self._draw(1, mean, generator)
        steps = [
            Step(f"Draw {self.factors} factors from the prior.", {"z": z[0]}, r"z\sim N(0,I)"),
            Step("A point near the plane.", {"mean": self.decode(z)[0], "x": x[0]}, r"x=Wz+\mu+\varepsilon"),
        ]
        return Trace(steps, x[0].reshape(self.event_shape))

    # --- EM ---

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        """μ and Ψ from the data, W at random: half of the variance is given to the factors."""
        rows = self._flatten(x)
        seen = ~rows.isnan()
        count = seen.sum(0).clamp(min=1)
        mean = rows.nan_to_num(nan=0.0).sum(0) / count
        variance = torch.where(seen, (rows - mean).square(), 0.0).sum(0) / count
        scale = (0.5 * variance / self.factors).sqrt()[:, None]
        noise = normal(self.n, self.factors, like=rows, generator=generator, dtype=torch.float64)
        self.set_parameters(scale * noise, (0.5 * variance).clamp(min=max(self.floor, 1e-9)), mean)

    def e_step(self, x: Tensor) -> Stats:
        centred, result = self._centred(x)
        z, covariance, log_p = self._posterior(centred, result)
        one = z.new_ones(len(z), 1)
        z1 = torch.cat([z, one], 1)  # the mean is the loading of a factor that is always 1
        if result is None:
            outer = z1.T @ z1
            outer[:-1, :-1] += len(z) * covariance
            count = z.new_full((self.n,), len(z))
            outer = outer.expand(self.n, -1, -1)
        else:
            each = z1[:, :, None] * z1[:, None, :]
            each[:, :-1, :-1] += covariance
            outer = torch.einsum("bd,bjk->djk", result.to(z), each)
            count = result.sum(0).to(z)
        return {
            "loglik": log_p.sum(),
            "count": z.new_tensor(len(z)),
            "seen": count,  # (D,)
            "zz": outer,  # (D, K+1, K+1)
            "xz": centred.T @ z1,  # (D, K+1), x about the present mean
            "xx": centred.square().sum(0),  # (D,)
        }

    def m_step(self, stats: Stats) -> None:
        result, known = stats["seen"], stats["seen"] > 0  # an entry that nobody has keeps what it had
        outer, cross = stats["zz"], stats["xz"]
        if bool((result == result[0]).all()) and outer.stride(0) == 0:  # complete: one matrix for all rows
            rows = torch.linalg.solve(outer[0], cross.T).T
        else:
            safe = torch.where(known[:, None, None], outer, torch.eye(self.factors + 1).to(outer))
            rows = torch.linalg.solve(safe, cross[..., None])[..., 0]
        left = (stats["xx"] - (rows * cross).sum(1)).clamp(min=0)  # squares that the rows do not explain
        self.loadings.copy_(torch.where(known[:, None], rows[:, :-1], self.loadings))
        self.mean += torch.where(known, rows[:, -1], 0.0)
        self.noise.copy_(torch.where(known, self.new_noise(left, result), self.noise))

    def new_noise(self, left: Tensor, seen: Tensor) -> Tensor:
        """Ψ (D,) from the squares that are left and the numbers of entries they are summed over."""
        raise NotImplementedError
