r"""Linear dynamical system: the hidden Markov model whose state is a Gaussian vector.

    z_1 ~ N(m_1, P_1),   z_t = A z_{t−1} + N(0, Q),   x_t = C z_t + N(0, R)

Filter, for t = 1, 2, …: predict m = A m, P = A P Aᵀ + Q, then correct with the gain G = P Cᵀ (C P Cᵀ + R)⁻¹:
m += G (x_t − C m), P −= G C P. Each x_t | past is Gaussian, and log p(x) is their sum. The smoother goes back
with J = P_t Aᵀ (A P_t Aᵀ + Q)⁻¹. Both equal conditioning in the one large Gaussian of all z and x.

What is missing (NaN) is not corrected for: of a frame, the entries that are there count with their rows of C
and their part of R, each sequence by itself.

Shapes: x (B, T, D), z (T, K): A, Q, P_1 (K, K), C (D, K), R (D, D). Covariances do not depend on x, only on
which entries are there.

References: Kalman 1960; Rauch, Tung, Striebel 1965; [DGM], list of models.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.noise import normal

LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class Beliefs:
    """Beliefs about each z_t: means (B, T, K), covariances (T, K, K), or (B, T, K, K) where sequences
    miss different entries; log p(x_t | past) (B, T) of the entries that are there."""

    means: Tensor
    covariances: Tensor
    log_steps: Tensor

    @property
    def log_prob(self) -> Tensor:
        """log p(x), (B,), nats."""
        return self.log_steps.sum(1)


@dataclass(frozen=True)
class LinearDynamicalSystem:
    """Parameters of the system, all float64 for exact work; see above for the shapes."""

    transition: Tensor  # A
    transition_noise: Tensor  # Q
    emission: Tensor  # C
    emission_noise: Tensor  # R
    first_mean: Tensor  # m_1
    first_covariance: Tensor  # P_1

    def filter(self, x: Tensor) -> Beliefs:
        """p(z_t | x_1..t)."""
        there = ~x.isnan()
        # sequences that miss the same share their covariances: G of them, 1 or B
        alike = len(x) > 0 and bool((there == there[0]).all())
        result = there[:1] if alike else there
        mean, covariance = (
            self.first_mean.expand(len(x), -1),
            self.first_covariance.expand(len(result), -1, -1),
        )
        means, covariances, log_steps = [], [], []
        for t in range(x.shape[1]):
            if t:
                mean = mean @ self.transition.T
                covariance = self.transition @ covariance @ self.transition.T + self.transition_noise
            # an entry that is missing: a row of C that is 0, and a 0 that was seen with variance 1
            at = result[:, t].to(covariance)
            C = self.emission * at[:, :, None]  # (G, D, K)
            R = self.emission_noise * at[:, :, None] * at[:, None] + torch.diag_embed(1 - at)
            spread = C @ covariance @ C.mT + R  # of x_t given the past
            error = torch.where(there[:, t], x[:, t] - mean @ self.emission.T, 0.0)
            root = torch.linalg.cholesky(spread)
            white = torch.linalg.solve_triangular(root, error[..., None], upper=False)[..., 0]
            squares = white.square().sum(1) + LOG_2PI * there[:, t].sum(1).to(white)
            log_steps.append(-0.5 * squares - root.diagonal(dim1=-2, dim2=-1).log().sum(-1))
            gain = torch.linalg.solve(spread, C @ covariance).mT  # (G, K, D)
            mean = mean + (gain @ error[..., None])[..., 0]
            covariance = covariance - gain @ C @ covariance
            means.append(mean)
            covariances.append(covariance)
        spreads = torch.stack(covariances, 1)
        return Beliefs(torch.stack(means, 1), spreads[0] if alike else spreads, torch.stack(log_steps, 1))

    def smooth(self, x: Tensor) -> Beliefs:
        """p(z_t | x), from the last step back."""
        result = self.filter(x)
        A, Q = self.transition, self.transition_noise
        mean, covariance = result.means[:, -1], result.covariances[..., -1, :, :]
        means, covariances = [mean], [covariance]
        for t in range(x.shape[1] - 2, -1, -1):
            before, spread = result.means[:, t], result.covariances[..., t, :, :]
            predicted = A @ spread @ A.T + Q
            back = torch.linalg.solve(predicted, A @ spread).mT  # J
            mean = before + (back @ (mean - before @ A.T)[..., None])[..., 0]
            covariance = spread + back @ (covariance - predicted) @ back.mT
            means.append(mean)
            covariances.append(covariance)
        return Beliefs(torch.stack(means[::-1], 1), torch.stack(covariances[::-1], -3), result.log_steps)

    def joint(self, length: int) -> tuple[Tensor, Tensor]:
        """Mean and covariance of (z_1..T, x_1..T) stacked, the referee: T (K + D) numbers."""
        k = len(self.transition)
        mean, covariance = [self.first_mean], self.first_covariance.new_zeros(length * k, length * k)
        covariance[:k, :k] = self.first_covariance
        for t in range(1, length):
            now, past = slice(t * k, (t + 1) * k), slice(0, t * k)
            cross = self.transition @ covariance[(t - 1) * k : t * k, past]
            covariance[now, past], covariance[past, now] = cross, cross.T
            last = covariance[(t - 1) * k : t * k, (t - 1) * k : t * k]
            covariance[now, now] = self.transition @ last @ self.transition.T + self.transition_noise
            mean.append(self.transition @ mean[-1])
        shown = torch.block_diag(*[self.emission] * length)  # (T D, T K)
        z = torch.cat(mean)
        noise = torch.block_diag(*[self.emission_noise] * length)
        cross = shown @ covariance
        both = torch.cat(
            [torch.cat([covariance, cross.T], 1), torch.cat([cross, cross @ shown.T + noise], 1)]
        )
        return torch.cat([z, shown @ z]), both

    def sample(self, n: int, *, generator: torch.Generator | None = None, length: int) -> Tensor:
        """Observations (n, T, D), T = `length`."""
        return self.sample_states(n, generator=generator, length=length)[1]

    def sample_states(
        self, n: int, *, generator: torch.Generator | None = None, length: int
    ) -> tuple[Tensor, Tensor]:
        """States (n, T, K) and observations (n, T, D)."""

        def noise(covariance: Tensor) -> Tensor:
            root = torch.linalg.cholesky(covariance)
            return normal(n, len(root), like=root, generator=generator) @ root.T

        z = [self.first_mean + noise(self.first_covariance)]
        for _ in range(1, length):
            z.append(z[-1] @ self.transition.T + noise(self.transition_noise))
        x = [state @ self.emission.T + noise(self.emission_noise) for state in z]
        return torch.stack(z, 1), torch.stack(x, 1)


def scalar_system(
    a: float, q: float, c: float, r: float, mean: float = 0.0, variance: float = 1.0
) -> LinearDynamicalSystem:
    """The system of one number each, float64."""

    def matrix(value: float) -> Tensor:
        return torch.tensor([[value]], dtype=torch.float64)

    return LinearDynamicalSystem(
        matrix(a), matrix(q), matrix(c), matrix(r), matrix(mean)[0], matrix(variance)
    )


def condition_gaussian(
    mean: Tensor, covariance: Tensor, seen: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean and covariance of the rest of a Gaussian vector, given the entries `seen` (N,) bool.

    μ_a + Σ_ab Σ_bb⁻¹ (x_b − μ_b) and Σ_aa − Σ_ab Σ_bb⁻¹ Σ_ba.
    """
    a, b = ~seen, seen
    gain = torch.linalg.solve(covariance[b][:, b], covariance[b][:, a]).T
    return mean[a] + gain @ (values - mean[b]), covariance[a][:, a] - gain @ covariance[b][:, a]
