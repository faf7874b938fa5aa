r"""Normalisation as flow layers: a scale and a shift for each feature or channel.

    ActNorm     z = s ⊙ (x + b); the first batch in training sets mean 0 and variance 1, then both are free
    BatchNorm   z = γ (x − m)/√(v + ε) + β; m, v of the batch in training, running ones afterwards

ladj_normalize is Σ_d log |s_d|, of images H·W times that, and per example Σ_d (log |γ_d| − ½ log(v_d + ε)).
Variances are those of the population (divided by n): with n − 1 four values would have another ladj.

Shapes: (..., D), or (B, C, H, W) with `event_dims=3`.
References: Kingma & Dhariwal 2018, arXiv:1807.03039; Dinh et al. 2017, arXiv:1605.08803; [UDL] notes.
"""

import math

import torch
from torch import Tensor, nn

from modules.base import all_reduce_sum, require
from modules.flow.layer import FlowLayer, ValueAndLogDet


class PerChannel(FlowLayer):
    """Base of both: statistics of each feature or channel."""

    def __init__(self, features: int, event_dims: int = 1) -> None:
        super().__init__()
        require(1, features=features)
        self.features, self.event_dims = features, event_dims

    def extra_repr(self) -> str:
        return f"{self.features}, event_dims={self.event_dims}"

    def broadcast(self, values: Tensor) -> Tensor:
        """(C,) in a shape that multiplies h."""
        return values.reshape(-1, *[1] * (self.event_dims - 1))

    def moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of every channel over the batch of all processes, (C,) each."""
        rows = x.transpose(0, 1).flatten(1) if self.event_dims == 3 else x.reshape(-1, self.features).T
        count = all_reduce_sum(rows.new_tensor(rows.shape[1]))
        mean = all_reduce_sum(rows.sum(1)) / count
        return mean, all_reduce_sum((rows - mean[:, None]).square().sum(1)) / count

    def times(self, x: Tensor) -> int:
        """Numbers per channel in one example: H·W of images."""
        return math.prod(x.shape[-(self.event_dims - 1) :]) if self.event_dims > 1 else 1


class ActNorm(PerChannel):
    """Scale and shift of each channel, 2 C numbers.

    `initialised` is kept with the weights: a loaded layer does not set itself again.
    """

    initialised: Tensor

    def __init__(self, features: int, event_dims: int = 1) -> None:
        super().__init__(features, event_dims)
        self.log_scale = nn.Parameter(torch.zeros(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("initialised", torch.tensor(False))

    @torch.no_grad()
    def initialise(self, x: Tensor) -> None:
        """Make the outputs of x have mean 0 and variance 1."""
        mean, var = self.moments(x)
        self.bias.copy_(-mean)
        self.log_scale.copy_(-0.5 * var.clamp(min=1e-12).log())
        self.initialised.fill_(True)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x = z * self.broadcast((-self.log_scale).exp()) - self.broadcast(self.bias)
        return x, self.expand_ladj(z, -self.times(z) * self.log_scale.sum())

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        if self.training and not self.initialised:
            self.initialise(x)
        z = (x + self.broadcast(self.bias)) * self.broadcast(self.log_scale.exp())
        return z, self.expand_ladj(x, self.times(x) * self.log_scale.sum())


class BatchNorm(PerChannel):
    """Batch normalisation: in training each example depends on its batch; only `eval` mode is a density."""

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, features: int, event_dims: int = 1, momentum: float = 0.1, epsilon: float = 1e-5
    ) -> None:
        super().__init__(features, event_dims)
        self.momentum, self.epsilon = momentum, epsilon
        self.log_gamma = nn.Parameter(torch.zeros(features))
        self.beta = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def scaled(self, mean: Tensor, var: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """log scale, and mean and β as they are used."""
        return (
            self.log_gamma - 0.5 * (var + self.epsilon).log(),
            self.broadcast(mean),
            self.broadcast(self.beta),
        )

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        log_scale, mean, beta = self.scaled(self.running_mean, self.running_var)
        x = (z - beta) * self.broadcast((-log_scale).exp()) + mean
        return x, self.expand_ladj(z, -self.times(z) * log_scale.sum())

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        moments = (self.running_mean, self.running_var)
        if self.training:
            moments = self.moments(x)
            with torch.no_grad():
                for running, now in zip((self.running_mean, self.running_var), moments, strict=True):
                    running.lerp_(now, self.momentum)
        log_scale, mean, beta = self.scaled(*moments)
        z = (x - mean) * self.broadcast(log_scale.exp()) + beta
        return z, self.expand_ladj(x, self.times(x) * log_scale.sum())
