r"""Gaussian mixture: a latent variable with K values, and a Gaussian for each.

    p(x) = Σ_k π_k N(x; μ_k, Σ_k)
    E   r_nk = p(z = k | x_n) = π_k N(x_n; μ_k, Σ_k) / Σ_j π_j N(x_n; μ_j, Σ_j)
    M   π_k = N_k / N, and the weighted fit of each Gaussian (`modules.latent.gaussians`);  N_k = Σ_n r_nk

The ELBO Σ_k r_k (log π_k N_k − log r_k) of any r is below log p(x) and touches it at the responsibilities.

Shapes: x (B, *event_shape), flattened to (B, D); r (B, K); log_prob (B,), nats.

References: Dempster, Laird, Rubin 1977; [GM] §3.2.2; [UDL] §17.1.1; [BB] ex. 6.3.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Categorical

from modules.base import require
from modules.former import former
from modules.latent.em import EMDensity, Stats, flatten
from modules.latent.gaussians import Covariance, Gaussians
from modules.noise import pick, uniform
from modules.trace import Step, Trace

CHUNK = 1 << 17  # numbers of one piece of the data, so that it stays in the processor's cache


class GaussianMixture(EMDensity):
    """Args:
        event_shape: of one example.
        components: K.
        covariance: "full", "diag", "spherical" or "tied".
        floor: the least eigenvalue of a covariance; who reaches it is named in a `CollapseWarning`.
        restarts, trial_steps, training: see `EMModel`. A start is k-means++ and its hard clusters.

    Example:
        >>> GaussianMixture(event_shape=(2,), components=3).num_parameters
        17
    """

    weights: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        components: int = 3,
        covariance: Covariance = "full",
        floor: float = 1e-6,
        restarts: int = 1,
        trial_steps: int = 10,
        **training: Any,
    ) -> None:
        super().__init__(restarts, trial_steps, **training)
        require(1, event_shape=event_shape, components=components)
        self.event_shape, self.components = tuple(event_shape), components
        self.n = math.prod(self.event_shape)
        self.gaussians = Gaussians(components, self.n, covariance, floor)
        self.register_buffer("weights", torch.full((components,), 1 / components, dtype=torch.float64))

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, components={self.components}"

    @property
    def num_parameters(self) -> int:
        """Free numbers: weights that sum to 1, means, and covariances that are symmetric."""
        return self.components - 1 + self.gaussians.num_free

    def set_parameters(self, weights: Tensor, means: Tensor, covariances: Tensor) -> None:
        """Use these parameters: (K,), (K, D), and covariances in the shape of their kind."""
        self.weights.copy_(weights)
        self.gaussians.set_parameters(means, covariances)
        self.started.fill_(True)

    # --- density ---

    def _flatten(self, x: Tensor) -> Tensor:
        return flatten(x, self.n).to(self.weights)

    def _pieces(self, x: Tensor) -> tuple[Tensor, ...]:
        return self._flatten(x).split(max(1, CHUNK // (self.components * self.n)))

    def log_joint(self, x: Tensor) -> Tensor:
        """log π_k N(x; μ_k, Σ_k), (B, K)."""
        return self.gaussians.log_prob(self._flatten(x)) + self.weights.log()

    def log_prob(self, x: Tensor) -> Tensor:
        return torch.cat([self.log_joint(part).logsumexp(1) for part in self._pieces(x)])

    def responsibilities(self, x: Tensor) -> Tensor:
        """r, (B, K): the posterior p(z = k | x)."""
        return self.log_joint(x).softmax(1)

    def elbo(self, x: Tensor, r: Tensor) -> Tensor:
        """(B,) Σ_k r_k (log π_k N_k − log r_k), r (B, K): log p(x) if r is the posterior, else less."""
        r = r.to(self.weights)
        energy = torch.where(r > 0, r * self.log_joint(x), 0.0)  # 0 · log 0 = 0: an empty component
        return energy.sum(1) - torch.xlogy(r, r).sum(1)

    # --- EM ---

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        hard = self.gaussians.initialize(self._flatten(x), generator)
        self.weights.copy_(hard.mean(0))
        self.started.fill_(True)

    def e_step(self, x: Tensor) -> Stats:
        sums: dict[str, Tensor] = {}
        for part in self._pieces(x):
            joint = self.log_joint(part)
            log_p = joint.logsumexp(1, keepdim=True)
            result = self.gaussians.moments(part, (joint - log_p).exp_())
            result |= {"loglik": log_p.sum(), "count": log_p.new_tensor(len(part))}
            sums = {name: sums[name] + value for name, value in result.items()} if sums else result
        return sums

    def m_step(self, stats: Stats) -> None:
        self.gaussians.m_step(dict(stats))
        self.weights.copy_(stats["members"] / stats["members"].sum())

    # --- surfaces: Latent, Sampler ---

    @property
    def prior(self) -> Categorical:
        """p(z = k) = π_k."""
        return Categorical(probs=self.weights)

    def encode(self, x: Tensor) -> Tensor:
        """The likeliest component, (B,) int64."""
        return self.log_joint(x).argmax(1)

    def decode(self, z: Tensor) -> Tensor:
        """The mean of a component: z (...) int64 -> (..., *event_shape)."""
        return self.gaussians.means[z].reshape(*z.shape, *self.event_shape)

    @former("n", "generator")
    def sample(self, n: int, *, generator: torch.Generator | None = None) -> Tensor:
        """(n, *event_shape): a component, then a point of it."""
        return self._draw(n, generator)[1].reshape(n, *self.event_shape)

    def _draw(self, n: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        z = pick(self.weights.expand(n, -1), uniform(n, like=self.weights, generator=generator))
        return z, self.gaussians.draw(z, generator)

    @former("seed")
    def sample_trace(self, *, generator: torch.Generator | None = None) -> Trace:
        """One draw in its two steps: the component `z`, then `x`."""
        z, x = self._draw(1, generator)
        k = int(z)
        chance, mean = float(self.weights[k]), self.gaussians.means[k].clone()
        steps = [
            Step(f"Component {k + 1}, chance {chance:.3f}.", {"z": z[0]}, rf"\pi_{{{k + 1}}}={chance:.3f}"),
            Step("A point of its Gaussian.", {"x": x[0], "mean": mean}, r"x\sim N(\mu_z,\Sigma_z)"),
        ]
        return Trace(steps, x[0].reshape(self.event_shape))
