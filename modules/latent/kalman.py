r"""Linear dynamical system: the hidden Markov model whose state is a Gaussian vector.

    z_1 ~ N(m_1, P_1),   z_t = A z_{t−1} + N(0, Q),   x_t = C z_t + N(0, R)

Filter, for t = 1, 2, …: predict m = A m, P = A P Aᵀ + Q, then correct with the gain G = P Cᵀ (C P Cᵀ + R)⁻¹:
m += G (x_t − C m), P −= G C P. Each x_t | past is Gaussian, and log p(x) is their sum. The smoother goes back
with J = P_t Aᵀ (A P_t Aᵀ + Q)⁻¹. Both equal conditioning in the one large Gaussian of all z and x.

A frame that is missing (NaN) is not corrected for.

Shapes: x (B, T, D), z (T, K): A, Q, P_1 (K, K), C (D, K), R (D, D). Covariances do not depend on x; where
frames are missing they must be so in all sequences of a batch.

References: Kalman 1960; Rauch, Tung, Striebel 1965; [DGM], list of models.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import MultivariateNormal


@dataclass(frozen=True)
class Beliefs:
    """Gaussian beliefs about each z_t: means (B, T, K), covariances (T, K, K); log p(x_t | past) (B, T)."""

    means: Tensor
    covariances: Tensor
    log_steps: Tensor

    @property
    def log_prob(self) -> Tensor:
        """log p(x), (B,), nats."""
        return self.log_steps.sum(1)


@dataclass(frozen=True)
class LinearDynamicalSystem:
    """Its parameters, all float64 for exact work; see above for the shapes."""

    transition: Tensor  # A
    transition_noise: Tensor  # Q
    emission: Tensor  # C
    emission_noise: Tensor  # R
    first_mean: Tensor  # m_1
    first_covariance: Tensor  # P_1

    def filter(self, x: Tensor) -> Beliefs:
        """p(z_t | x_1..t)."""
        C, R = self.emission, self.emission_noise
        mean, covariance = self.first_mean.expand(len(x), -1), self.first_covariance
        means, covariances, log_steps = [], [], []
        for t in range(x.shape[1]):
            if t:
                mean = mean @ self.transition.T
                covariance = self.transition @ covariance @ self.transition.T + self.transition_noise
            if bool(x[:, t].isnan().any()):
                log_steps.append(x.new_zeros(len(x)))
            else:
                spread = C @ covariance @ C.T + R  # of x_t given the past
                expected = mean @ C.T
                log_steps.append(MultivariateNormal(expected, spread).log_prob(x[:, t]))
                gain = torch.linalg.solve(spread, C @ covariance).T  # (K, D)
                mean = mean + (x[:, t] - expected) @ gain.T
                covariance = covariance - gain @ C @ covariance
            means.append(mean)
            covariances.append(covariance)
        return Beliefs(torch.stack(means, 1), torch.stack(covariances), torch.stack(log_steps, 1))

    def smooth(self, x: Tensor) -> Beliefs:
        """p(z_t | x), from the last step back."""
        found = self.filter(x)
        A, Q = self.transition, self.transition_noise
        mean, covariance = found.means[:, -1], found.covariances[-1]
        means, covariances = [mean], [covariance]
        for t in range(x.shape[1] - 2, -1, -1):
            before, spread = found.means[:, t], found.covariances[t]
            predicted = A @ spread @ A.T + Q
            back = torch.linalg.solve(predicted, A @ spread).T  # J
            mean = before + (mean - before @ A.T) @ back.T
            covariance = spread + back @ (covariance - predicted) @ back.T
            means.append(mean)
            covariances.append(covariance)
        return Beliefs(torch.stack(means[::-1], 1), torch.stack(covariances[::-1]), found.log_steps)

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

    def sample(self, n: int, length: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """States (n, T, K) and observations (n, T, D)."""

        def noise(covariance: Tensor) -> Tensor:
            root = torch.linalg.cholesky(covariance)
            return torch.randn(n, len(root), generator=generator, dtype=root.dtype) @ root.T

        z = [self.first_mean + noise(self.first_covariance)]
        for _ in range(1, length):
            z.append(z[-1] @ self.transition.T + noise(self.transition_noise))
        x = [state @ self.emission.T + noise(self.emission_noise) for state in z]
        return torch.stack(z, 1), torch.stack(x, 1)


def scalar(
    a: float, q: float, c: float, r: float, mean: float = 0.0, variance: float = 1.0
) -> LinearDynamicalSystem:
    """The system of one number each, float64."""

    def matrix(value: float) -> Tensor:
        return torch.tensor([[value]], dtype=torch.float64)

    return LinearDynamicalSystem(
        matrix(a), matrix(q), matrix(c), matrix(r), matrix(mean)[0], matrix(variance)
    )


def conditioned(mean: Tensor, covariance: Tensor, seen: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and covariance of the rest of a Gaussian vector, given the entries `seen` (N,) bool.

    μ_a + Σ_ab Σ_bb⁻¹ (x_b − μ_b) and Σ_aa − Σ_ab Σ_bb⁻¹ Σ_ba.
    """
    a, b = ~seen, seen
    gain = torch.linalg.solve(covariance[b][:, b], covariance[b][:, a]).T
    return mean[a] + gain @ (values - mean[b]), covariance[a][:, a] - gain @ covariance[b][:, a]
