r"""Generative topographic mapping: one latent number, bent through the data space by a few weights.

    p(x) = 1/G Σ_g N(x; Wᵀ φ(z_g), σ² I),   z_g on an even grid of [−1, 1],   φ = (bumps along z, 1)

    E   r_ng = p(z_g | x_n),  members R_g = Σ_n r_ng
    M   (Φᵀ R Φ) W = Φᵀ rᵀ X,   σ² = Σ_ng r_ng ‖x_n − Wᵀ φ(z_g)‖² / (N D)

All G places hang on one W, so every point teaches all of the curve. The sum over G values of z is what makes
the E-step exact, and what d latent numbers would make G^d.

Shapes: x (B, *event_shape), flattened to (B, D); r (B, G); φ (G, M + 1); W (M + 1, D). Nats; float64.

References: Bishop, Svensén, Williams 1998, GTM: the generative topographic mapping; [GM] §3.2.4 (capacity).
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modules.base import require
from modules.former import former
from modules.latent.em import EMDensity, Stats, flatten
from modules.noise import normal, pick, uniform
from modules.trace import Step, Trace

RANK = 1e-13  # of the largest eigenvalue of Φᵀ R Φ: what is below counts as 0


class GTM(EMDensity):
    """Args:
        event_shape: of one example.
        num_basis: M Gaussian features of z, as wide as they are apart; with a constant (M + 1) D weights.
        grid_size: G, values of z.
        floor: the least variance.
        restarts, trial_steps, training: see `EMModel`. A start has random weights.

    Example:
        >>> GTM(event_shape=(2,), num_basis=6).num_parameters
        15
    """

    features: Tensor
    weights: Tensor
    variance: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        num_basis: int = 6,
        grid_size: int = 80,
        floor: float = 1e-6,
        restarts: int = 3,
        trial_steps: int = 8,
        **training: Any,
    ) -> None:
        super().__init__(restarts, trial_steps, **training)
        require(1, event_shape=event_shape)
        require(2, num_basis=num_basis, grid_size=grid_size)
        self.event_shape, self.grid_size, self.floor = tuple(event_shape), grid_size, floor
        self.n = math.prod(self.event_shape)
        z, middles = (torch.linspace(-1, 1, count, dtype=torch.float64) for count in (grid_size, num_basis))
        rises = (-0.5 * ((z[:, None] - middles) * (num_basis - 1) / 2) ** 2).exp()
        features = torch.cat([rises, torch.ones_like(rises[:, :1])], 1)
        self.register_buffer("features", features, persistent=False)
        self.register_buffer("weights", features.new_zeros(num_basis + 1, self.n))
        self.register_buffer("variance", features.new_ones(()))

    def extra_repr(self) -> str:
        return (
            f"event_shape={self.event_shape}, num_basis={len(self.weights) - 1}, grid_size={self.grid_size}"
        )

    @property
    def num_parameters(self) -> int:
        return self.weights.numel() + 1

    @property
    def curve(self) -> Tensor:
        """f(z) = Wᵀ φ(z) of every z, (G, D)."""
        return self.features @ self.weights

    @property
    def centre(self) -> Tensor:
        """A point amid the curve, (D,): squares are taken about it, as those of large numbers lose what
        matters."""
        return self.curve.mean(0)

    # --- density ---

    def _flatten(self, x: Tensor) -> Tensor:
        return flatten(x, self.n).to(self.weights)

    def log_joint(self, x: Tensor) -> Tensor:
        """log p(x, z_g), (B, G)."""
        x, f, v = self._flatten(x) - self.centre, self.curve - self.centre, self.variance
        constant = 0.5 * self.n * (math.log(2 * math.pi) + v.log()) + math.log(self.grid_size)
        # −‖x − f‖²/2v with the squares of x and of f apart: one product, and one sum over its entries
        products = torch.addmm(-f.square().sum(1) / (2 * v) - constant, x, f.T / v)
        return products.sub_((x.square().sum(1) / (2 * v))[:, None])

    def log_prob(self, x: Tensor) -> Tensor:
        return self.log_joint(x).logsumexp(1)

    # --- EM ---

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        x = self._flatten(x)
        spread = x.std(0)
        self.weights.copy_(normal(*self.weights.shape, like=x, generator=generator) * spread)
        self.weights[-1] += x.mean(0)
        self.variance.copy_(spread.square().mean().clamp(min=self.floor))

    def e_step(self, x: Tensor) -> Stats:
        x = self._flatten(x)
        joint = self.log_joint(x)
        log_p = joint.logsumexp(1)
        r, x = (joint - log_p[:, None]).exp(), x - self.centre
        return {"loglik": log_p.sum(), "count": joint.new_tensor(len(x)), "members": r.sum(0),
                "sum": r.T @ x, "squares": x.square().sum()}  # fmt: skip

    def m_step(self, stats: Stats) -> None:
        members, phi, middle = stats["members"], self.features, self.centre
        gram = phi.T @ (members[:, None] * phi)
        # least squares, also where places without members leave Φᵀ R Φ singular; a ridge would let log p fall
        self.weights.copy_(torch.linalg.pinv(gram, rtol=RANK, hermitian=True) @ phi.T @ stats["sum"])
        f = self.curve  # about the middle, as the sums are
        left = stats["squares"] - 2 * (f * stats["sum"]).sum() + (members * f.square().sum(1)).sum()
        self.variance.copy_((left / (self.n * stats["count"])).clamp(min=self.floor))
        self.weights[-1] += middle

    # --- surface: Generator ---

    @former("n", "generator")
    def sample(self, n: int, *, generator: torch.Generator | None = None) -> Tensor:
        """(n, *event_shape): a place on the curve, then a point around it."""
        return self._draw(n, generator)[1].reshape(n, *self.event_shape)

    def _draw(self, n: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        even = self.weights.new_full((n, self.grid_size), 1 / self.grid_size)
        z = pick(even, uniform(n, like=self.weights, generator=generator))
        noise = normal(n, self.n, like=self.weights, generator=generator)
        return z, self.curve[z] + self.variance.sqrt() * noise

    @former("seed")
    def sample_trace(self, *, generator: torch.Generator | None = None) -> Trace:
        """One draw in its two steps: the place `z` on the curve, then `x`."""
        z, x = self._draw(1, generator)
        g, mean = int(z), self.curve[z[0]].clone()
        steps = [
            Step(f"Place {g + 1} of {self.grid_size}, all alike.", {"z": z[0]}, rf"p(z)=1/{self.grid_size}"),
            Step("A point around it.", {"x": x[0], "mean": mean}, r"x\sim N(f(z),\sigma^2 I)"),
        ]
        return Trace(steps, x[0].reshape(self.event_shape))
