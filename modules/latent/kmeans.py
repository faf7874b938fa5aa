r"""k-means: K centres, and each point belongs to the nearest.

    J(c) = Σ_n min_k ‖x_n − c_k‖²

Two steps in turns, neither of which raises J: every point takes its nearest centre, every centre moves to
the mean of its points (Lloyd's algorithm). It is EM for a mixture of equally likely Gaussians N(c_k, σ²I) as
σ² → 0: the responsibilities become hard. There is a code, the centre's number, and no density.

Shapes: x (B, *event_shape), flattened to (B, D); centres (K, D).

References: Lloyd 1982; Arthur, Vassilvitskii 2007 (k-means++); [UDL] §14.1.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modules.base import Mean, Split, require
from modules.latent.em import EMModel, Stats, examples, flatten


def squared_distances(x: Tensor, centres: Tensor) -> Tensor:
    """‖x_n − c_k‖² (B, K), never below 0."""
    middle = centres.mean(0)  # squares of large numbers would lose what sets the points apart
    x, centres = x - middle, centres - middle
    cross = x @ centres.T
    return (x.square().sum(1, keepdim=True) - 2 * cross + centres.square().sum(1)).clamp(min=0)


def kmeans_plus_plus(x: Tensor, k: int, generator: torch.Generator | None = None) -> Tensor:
    """k-means++: k points of x (N, D) as centres, each drawn in proportion to its squared distance from those
    before it. Where all points are taken already, any point."""
    chosen = [int(torch.randint(len(x), (), generator=generator))]
    nearest = (x - x[chosen[0]]).square().sum(1)
    for _ in range(k - 1):
        weights = nearest if nearest.sum() > 0 else torch.ones_like(nearest)
        at = weights.double().cumsum(0)
        u = torch.rand((), generator=generator, dtype=torch.float64) * at[-1]
        chosen.append(min(int(torch.searchsorted(at, u, right=True)), len(x) - 1))
        nearest = torch.minimum(nearest, (x - x[chosen[-1]]).square().sum(1))
    return x[chosen].clone()


class KMeans(EMModel):
    """Args:
        event_shape: of one example.
        components: K.
        restarts, trial_steps, training: see `EMModel`. What is compared is −J.

    The metric is `mse`, J over the number of points.

    Example:
        >>> model = KMeans(event_shape=(1,), components=2)
        >>> x = torch.tensor([[-2.0], [-1.0], [1.0], [4.0]])
        >>> model.set_parameters(torch.tensor([[-1.0], [2.0]]))
        >>> model.em_step(x), model.centres.flatten().tolist()
        (-6.0, [-1.5, 2.5])
    """

    centres: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        components: int = 10,
        restarts: int = 1,
        trial_steps: int = 10,
        **training: Any,
    ) -> None:
        super().__init__(restarts, trial_steps, _measures={"mse": Mean()}, **training)
        require(1, event_shape=event_shape, components=components)
        self.event_shape, self.components = tuple(event_shape), components
        self.register_buffer(
            "centres", torch.zeros(components, math.prod(self.event_shape), dtype=torch.float64)
        )

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, components={self.components}"

    @property
    def num_parameters(self) -> int:
        return self.centres.numel()

    def set_parameters(self, centres: Tensor) -> None:
        """Use these centres (K, D)."""
        self.centres.copy_(centres)
        self.started.fill_(True)

    def _flatten(self, x: Tensor) -> Tensor:
        return flatten(x, self.centres.shape[1]).to(self.centres)

    def distances(self, x: Tensor) -> Tensor:
        """Squared distances from every centre, (B, K)."""
        return squared_distances(self._flatten(x), self.centres)

    def encode(self, x: Tensor) -> Tensor:
        """The number of the nearest centre, (B,) int64."""
        return self.distances(x).argmin(1)

    def decode(self, z: Tensor) -> Tensor:
        """The centre itself: z (...) int64 -> (..., *event_shape)."""
        return self.centres[z].reshape(*z.shape, *self.event_shape)

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        self.set_parameters(kmeans_plus_plus(self._flatten(x), self.components, generator))

    def e_step(self, x: Tensor) -> Stats:
        rows = self._flatten(x)
        nearest, z = self.distances(x).min(1)
        hard = torch.nn.functional.one_hot(z, self.components).to(rows)  # (B, K)
        return {
            "loglik": -nearest.sum(),
            "count": nearest.new_tensor(len(x)),
            "members": hard.sum(0),
            "sum": hard.T @ rows,
        }

    def m_step(self, stats: Stats) -> None:
        members = stats["members"][:, None]  # a centre without points stays where it is
        self.centres.copy_(torch.where(members > 0, stats["sum"] / members.clamp(min=1), self.centres))

    def step(self, batch: Any, split: Split) -> Tensor:
        nearest = self.distances(examples(batch)).amin(1)
        self.log_metric(split, "mse", nearest)
        return nearest.mean()
