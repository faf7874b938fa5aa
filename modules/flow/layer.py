r"""Flow layers: bijections that know the logarithm of their Jacobian's determinant, in both directions.

    generate   z → x = f(z)       ladj = log |det ∂f/∂z|
    normalize  x → z = f⁻¹(x)     ladj = log |det ∂f⁻¹/∂x| = −log |det ∂f/∂z|

A stack applies f_1, …, f_L to generate and goes back in reverse order; its Jacobian is a product, so

    log p(x) = log p_Z(z_0) − Σ_l log |det J_{f_l}(z_{l−1})|,    x = f_L(… f_1(z_0))

[GM] eq. 3.82 prints + Σ_l log |det J_{f_l}(z_l)|, which is right for the Jacobians of the inverses alone;
taken as printed, the "density" of two linear maps has a mass of 36. Jacobians are ∂f_i/∂z_j, newest factor
leftmost.

Shapes: h (..., D) for vectors, (B, C, H, W) for images; ladj has one number per example; context (..., E), or
None. Any layer stacks with any other of the same shape.

References: Papamakarios et al. 2021, arXiv:1912.02762; [UDL] 16.2; [GM] 3.12.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

ValueAndLogDet = tuple[Tensor, Tensor]  # value, ladj


class FlowLayer(nn.Module):
    """Base of every layer. Subclasses define `generate`, and either `normalize` or `inverse` alone: then the
    log-determinant of the inverse follows from that of `generate`.
    """

    event_dims = 1  # dimensions at the end that make one example: 3 for images

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        """z → x = f(z), log |det ∂f/∂z|."""
        raise NotImplementedError

    def inverse(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """x → z = f⁻¹(x)."""
        raise NotImplementedError

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        """x → z = f⁻¹(x), log |det ∂f⁻¹/∂x|."""
        z = self.inverse(x, context)
        return z, -self.generate(z, context)[1]

    def zero_ladj(self, h: Tensor) -> Tensor:
        """The ladj of a map that keeps volumes: one zero per example."""
        return h.new_zeros(h.shape[: h.ndim - self.event_dims])

    def expand_ladj(self, h: Tensor, ladj: Tensor) -> Tensor:
        """A ladj that is the same for every example, repeated to one number per example."""
        return ladj.expand(h.shape[: h.ndim - self.event_dims])


class Inverse(FlowLayer):
    """Inverse of a layer: its fast direction to score becomes the one to sample."""

    def __init__(self, layer: FlowLayer) -> None:
        super().__init__()
        self.layer, self.event_dims = layer, layer.event_dims

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.layer.normalize(z, context)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.layer.generate(x, context)


class FlowStack(FlowLayer):
    """Layers applied one after the other, the first of them nearest to the base.

    Raises:
        ValueError: there is no layer.
    """

    layers: nn.ModuleList

    def __init__(self, layers: Sequence[FlowLayer]) -> None:
        super().__init__()
        if not layers:
            raise ValueError("A stack needs at least one layer.")
        self.layers = nn.ModuleList(layers)
        self.event_dims = layers[-1].event_dims

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return compose(self.generating(z, context))

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return compose(self.normalizing(x, context))

    def generating(self, z: Tensor, context: Tensor | None = None) -> Iterator[ValueAndLogDet]:
        """After each layer of f_1, …, f_L: z_l and this layer's own ladj."""
        for layer in self.layers:
            z, ladj = layer.generate(z, context)  # type: ignore[operator]
            yield z, ladj

    def normalizing(self, x: Tensor, context: Tensor | None = None) -> Iterator[ValueAndLogDet]:
        """After each layer of f_L⁻¹, …, f_1⁻¹: z_{l−1} and this layer's own ladj."""
        for layer in reversed(self.layers):
            x, ladj = layer.normalize(x, context)  # type: ignore[operator]
            yield x, ladj


def compose(steps: Iterator[ValueAndLogDet]) -> ValueAndLogDet:
    """The last value of some steps and the sum of their ladjs."""
    last, total = next(steps)
    for value, ladj in steps:
        last, total = value, total + ladj
    return last, total


# --- Scalar roots -------------------------------------------------------------------------------


def increasing_root(f: Callable[[Tensor], ValueAndLogDet], y: Tensor, iterations: int = 200) -> Tensor:
    """The h with f(h) = y, for every entry of y; f is increasing and answers (value, log slope).

    Newton's steps where they stay inside of a bracket and at least halve the step before, its middle
    elsewhere: never much worse than bisection. What is no number stays so, and ±∞ comes from ±∞.
    The gradient is the implicit one, ∂h/∂y = 1/f'(h) and ∂h/∂θ = −∂_θ f(h)/f'(h).

    Raises:
        ValueError: some y is not reached: f has a bound, or is no number there, or does not increase.
    """
    strange = ~y.isfinite()
    asked, y = y, torch.where(strange, 0.0, y)
    with torch.no_grad():
        low, high = y - 1, y + 1
        for _ in range(100):  # apart until they bracket
            over, under = f(low)[0] > y, f(high)[0] < y
            if not (over.any() or under.any()):
                break
            width = high - low
            low, high = torch.where(over, low - width, low), torch.where(under, high + width, high)
        h, before = (low + high) / 2, high - low
        lost = over | under
        done = torch.zeros_like(lost)
        for _ in range(iterations):
            value, log_slope = f(h)
            above = value > y
            low, high = torch.where(above, low, h), torch.where(above, h, high)
            step = h - (value - y) * (-log_slope).exp()
            # not where a step shrinks slowly: along a steep tail Newton creeps
            quick = (step > low) & (step < high) & ((step - h).abs() < before / 2)
            new = torch.where(quick, step, (low + high) / 2)
            before = (new - h).abs()
            done = (before <= 4 * torch.finfo(h.dtype).eps * (1 + h.abs())) | (value == y)
            h = torch.where(value == y, h, new)
            if done.all():
                break
        lost = (lost | ~done | value.isnan()) & ~strange
        if bool(lost.any()):
            raise ValueError(
                f"No root was found for {int(lost.sum())} of {lost.numel()} numbers, such as "
                f"{float(y[lost][0]):g}: the map does not reach them, or does not increase there."
            )
    value, log_slope = f(h)
    most = math.log(torch.finfo(h.dtype).max) - 1  # of an inverse slope, where f is all but flat
    step = (value - y) * (-log_slope).clamp(max=most).exp().detach()
    # the last digits; where rounding of f would make more of them, only the gradient
    near = step.detach().abs() <= 64 * torch.finfo(h.dtype).eps * (1 + h.abs())
    result = h - torch.where(near, step, step - step.detach())
    return torch.where(strange, asked, result)
