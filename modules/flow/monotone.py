r"""Monotone maps: increasing functions of one number, the g of elementwise, coupling and masked flows.

    x = g(z; θ),    log |∂g/∂z|,    θ = k numbers for every coordinate

A map has no parameters of its own: a layer gives it θ, as free numbers (`Elementwise`),
from the other half (`Coupling`), from the coordinates before (`MAF`, `IAF`). At θ = 0 each is the identity
unless it says otherwise, so a conditioner that ends in zeros starts there.

    Affine       x = z e^s + t           θ = (t, s), s bounded soft_clamp
    Additive     x = z + t               θ = t
    LeakyReLU    x = a z for z < 0, z    no θ: slope a < 1 below 0; ladj = #negatives · log a

An elementwise flow alone never makes coordinates depend on each other. Shapes: h (...), θ (..., k).
References: [UDL] 16.3.2, problem 16.7; [GM] 3.12.3.
"""

import torch
from torch import Tensor, nn

from modules.base import require
from modules.flow.layer import FlowLayer, ValueAndLogDet, increasing_root


class Monotone(nn.Module):
    """Base of monotone maps. Subclasses define `generate`, and `normalize` where the inverse has a closed
    form; else it is solved.

    Attributes:
        num_params: k, numbers of θ.
    """

    num_params: int

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        """z (...), θ (..., k) -> x (...), log slope (...)."""
        raise NotImplementedError

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        """x (...), θ (..., k) -> z (...), log slope of the inverse (...)."""
        z = increasing_root(lambda h: self.generate(h, theta), x)
        return z, -self.generate(z, theta)[1]


class InverseMonotone(Monotone):
    """Inverse of a map: for those whose closed form is to be used on data."""

    def __init__(self, monotone: Monotone) -> None:
        super().__init__()
        self.monotone, self.num_params = monotone, monotone.num_params

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        return self.monotone.normalize(z, theta)

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        return self.monotone.generate(x, theta)


def soft_clamp(raw: Tensor, bound: float = 5.0) -> Tensor:
    """Logarithm of a scale, kept within ±bound and nearly unchanged where it is small."""
    return bound * (raw / bound).tanh()


class Affine(Monotone):
    """x = z e^s + t; |s| < `bound` by s = bound · tanh(raw / bound), or free where it is None.

    [GM] 3.86 takes σ straight from a network: it must be kept above 0, here by e^s.
    """

    num_params = 2

    def __init__(self, bound: float | None = 5.0) -> None:
        super().__init__()
        require(1e-3, bound=1.0 if bound is None else bound)
        self.bound = bound

    def extra_repr(self) -> str:
        return f"bound={self.bound}"

    def shift_and_scale(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """t and s, each (...)."""
        shift, s = theta.unbind(-1)
        return shift, s if self.bound is None else soft_clamp(s, self.bound)

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        shift, s = self.shift_and_scale(theta)
        return z * s.exp() + shift, s

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        shift, s = self.shift_and_scale(theta)
        return (x - shift) * (-s).exp(), -s


class Gated(Monotone):
    """x = σ z + (1 − σ) m with a gate σ = sigmoid(raw + 2): IAF's stable form, ladj log σ.

    At θ = 0 it shrinks by σ(2) = 0.88, as in Kingma et al. 2016, arXiv:1606.04934, Alg. 1.
    """

    num_params = 2

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        mean, raw = theta.unbind(-1)
        log_gate = nn.functional.logsigmoid(raw + 2)
        gate = log_gate.exp()
        return gate * z + (1 - gate) * mean, log_gate

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        mean, raw = theta.unbind(-1)
        log_gate = nn.functional.logsigmoid(raw + 2)
        gate = log_gate.exp()
        return (x - (1 - gate) * mean) / gate, -log_gate


class Additive(Monotone):
    """x = z + t: keeps volumes."""

    num_params = 1

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        return z + theta[..., 0], torch.zeros_like(z)

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        return x - theta[..., 0], torch.zeros_like(x)


class LeakyReLU(Monotone):
    """x = a z below 0, z from 0 on; not the identity, as it has nothing to learn."""

    num_params = 0

    def __init__(self, negative_slope: float = 0.1) -> None:
        super().__init__()
        require(1e-6, negative_slope=negative_slope)
        self.negative_slope = negative_slope

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}"

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        slope = torch.where(z < 0, torch.full_like(z, self.negative_slope), torch.ones_like(z))
        return z * slope, slope.log()

    def normalize(self, x: Tensor, theta: Tensor) -> ValueAndLogDet:
        slope = torch.where(x < 0, torch.full_like(x, self.negative_slope), torch.ones_like(x))
        return x / slope, -slope.log()


class Elementwise(FlowLayer):
    """The same kind of map on every coordinate, with numbers of its own for each: the Jacobian is diagonal.

    Args:
        features: D.
        monotone: the map.
        context: E; with E > 0, θ also depends linearly on the context.
    """

    def __init__(self, features: int, monotone: Monotone, context: int = 0) -> None:
        super().__init__()
        require(1, features=features)
        self.monotone = monotone
        theta = torch.zeros(features, monotone.num_params)
        if monotone.num_params:
            self.theta = nn.Parameter(theta)
        else:  # a map that has nothing to learn
            self.register_buffer("theta", theta, persistent=False)
        self.of_context = nn.Linear(context, features * monotone.num_params, bias=False) if context else None
        if self.of_context is not None:
            nn.init.zeros_(self.of_context.weight)

    def extra_repr(self) -> str:
        return str(len(self.theta))

    def parameters_for(self, h: Tensor, context: Tensor | None) -> Tensor:
        """θ (..., D, k)"""
        theta = self.theta
        if self.of_context is not None and context is not None:
            theta = theta + self.of_context(context).unflatten(-1, self.theta.shape)
        return theta.expand(*h.shape, self.theta.shape[-1])

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x, slope = self.monotone.generate(z, self.parameters_for(z, context))
        return x, slope.sum(-1)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        z, slope = self.monotone.normalize(x, self.parameters_for(x, context))
        return z, slope.sum(-1)
