r"""Whole numbers and densities: noise that fills the gaps, bits per dimension, pixels as real numbers.

    P(x) = ∫_{[0,1)^D} p(x + u) du    log P(x) ≥ E_{u~q(·|x)} [log p(x + u) − log q(u|x)]

q uniform is the usual choice; a q that is learned, a conditional flow on [0, 1)^D, closes the gap, and so
does the mean of many p(x + u)/q(u|x) before the logarithm. Without noise the likelihood has no bound: all
mass is put on the whole numbers.

    bits/dim = −log p(x + u) / (D ln 2);  on pixels divided by 2^b that density needs b bits more
    logit    y = logit(α + (1 − 2α) x),  ladj = Σ log(1 − 2α) − log v(1 − v),  v = α + (1 − 2α) x
    margins  y = Φ⁻¹(F(x)) with the histogram of each pixel as its F: every pixel alone is then Gaussian

Shapes: x (B, C, H, W) of whole numbers 0 … K − 1, u alike in [0, 1).
References: Uria et al. 2013, arXiv:1306.0186; Theis et al. 2016, arXiv:1511.01844; Ho et al. 2019,
arXiv:1902.00275; [UDL] 16.5.2.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import all_reduce_sum, require
from modules.flow.bins import PiecewiseLinear
from modules.flow.coupling import MaskedCoupling, checkerboard
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.monotone import Affine
from modules.noise import uniform

LOG_2 = math.log(2)


def bits_per_dim(log_prob: Tensor, dims: int) -> Tensor:
    """Bits per dimension from a log-density (or log-probability) in nats of whole numbers plus noise."""
    return -log_prob / (dims * LOG_2)


class Logit(FlowLayer):
    """Normalizing: x in [0, 1] → logit(α + (1 − 2α) x). The event is the last `event_dims` dimensions."""

    def __init__(self, alpha: float = 0.05, event_dims: int = 3) -> None:
        super().__init__()
        require(0, below=0.5, alpha=alpha)
        self.alpha, self.event_dims = alpha, event_dims

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}"

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        v = self.alpha + (1 - 2 * self.alpha) * x
        slope = math.log1p(-2 * self.alpha) - v.log() - (-v).log1p()
        return v.log() - (-v).log1p(), slope.flatten(-self.event_dims).sum(-1)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        x = (z.sigmoid() - self.alpha) / (1 - 2 * self.alpha)
        slope = F.logsigmoid(z) + F.logsigmoid(-z) - math.log1p(-2 * self.alpha)
        return x, slope.flatten(-self.event_dims).sum(-1)


class Levels(FlowLayer):
    """Normalizing: grey levels plus noise, [0, K), → (x/K − ½) · scale."""

    event_dims = 3

    def __init__(self, levels: int, scale: float = 1.0) -> None:
        super().__init__()
        require(2, levels=levels)
        self.levels, self.scale = levels, scale

    def extra_repr(self) -> str:
        return f"levels={self.levels}, scale={self.scale}"

    def ladj(self, h: Tensor) -> Tensor:
        size = math.log(self.scale / self.levels) * math.prod(h.shape[-3:])
        return self.zero_ladj(h) + size

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return (x / self.levels - 0.5) * self.scale, self.ladj(x)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return (z / self.scale + 0.5) * self.levels, -self.ladj(z)


class Margins(FlowLayer):
    """Normalizing: grey levels plus noise, [0, K), → Φ⁻¹(F(x)), F the piecewise linear distribution function
    of each pixel's own histogram; what is outside of [0, K) counts as its edge.

    C·H·W·K numbers. The first batch in training sets the histograms, each with one count more per level; then
    they are free. Affine couplings are poor at the steps that a pixel has at white and black.
    """

    event_dims = 3
    initialised: Tensor

    def __init__(self, image_shape: Sequence[int], levels: int) -> None:
        super().__init__()
        require(2, levels=levels)
        self.map = PiecewiseLinear(levels)
        self.theta = nn.Parameter(torch.zeros(*image_shape, levels))
        self.register_buffer("initialised", torch.tensor(False))

    @torch.no_grad()
    def initialise(self, x: Tensor) -> None:
        """Take the histograms of x (B, C, H, W)."""
        levels = self.map.bins
        counts = F.one_hot(x.floor().long().clamp(0, levels - 1), levels).to(x.dtype).sum(0)
        self.theta.copy_((all_reduce_sum(counts) + 1).log())
        self.initialised.fill_(True)

    def expanded_theta(self, h: Tensor) -> Tensor:
        return self.theta.expand(*h.shape, self.map.bins)

    def slope(self, z: Tensor, slope: Tensor) -> Tensor:
        """ladj of x → z from the log slope of F."""
        log_normal = -0.5 * z.square() - 0.5 * math.log(2 * math.pi)
        return (slope - math.log(self.map.bins) - log_normal).flatten(-3).sum(-1)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        if self.training and not self.initialised:
            self.initialise(x)
        h = (x / self.map.bins).clamp(0, 1)
        share, slope = self.map.generate(h, self.expanded_theta(h))
        least = torch.finfo(x.dtype).eps
        z = torch.special.ndtri(share.clamp(least, 1 - least))
        return z, self.slope(z, slope)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        h, slope = self.map.normalize(torch.special.ndtr(z), self.expanded_theta(z))
        return h * self.map.bins, -self.slope(z, -slope)


def add_noise(x: Tensor, u: Tensor) -> Tensor:
    """x + u of whole numbers and noise in [0, 1), below x + 1 also where the sum would round to it."""
    return torch.minimum(x + u, torch.nextafter(x + 1, x))


class UniformNoise(nn.Module):
    """Noise u ~ U[0, 1)^D, independent of x."""

    def forward(self, x: Tensor, generator: torch.Generator | None = None) -> ValueAndLogDet:
        """x (B, C, H, W) -> u alike, log q(u|x) (B,)."""
        return uniform(*x.shape, like=x, generator=generator), x.new_zeros(len(x))


class VariationalNoise(nn.Module):
    """Noise u ~ q(u|x): logistic noise through checkerboard couplings that see x, then a sigmoid.

    A Gaussian before the sigmoid would give q almost nothing at the edges of the cube, and weights 1/q of
    infinite variance.

    Args:
        image_shape: (C, H, W).
        levels: K, grey levels.
        layers: couplings.
        width: channels of their conditioners.
    """

    def __init__(self, image_shape: Sequence[int], levels: int, layers: int = 4, width: int = 16) -> None:
        super().__init__()
        require(1, layers=layers, width=width)
        self.levels = levels
        self.flow = FlowStack(
            [
                MaskedCoupling(
                    checkerboard(image_shape, n % 2 == 1), Affine(2.0), PictureConditioner(image_shape, width)
                )
                for n in range(layers)
            ]
        )

    def forward(self, x: Tensor, generator: torch.Generator | None = None) -> ValueAndLogDet:
        tiny = torch.finfo(x.dtype).tiny
        even = uniform(*x.shape, like=x, generator=generator).clamp(min=tiny)
        z = even.log() - (-even).log1p()  # logistic: untrained, q is the uniform one
        h, ladj = self.flow.generate(z, x / (self.levels - 1) - 0.5)
        log_base, slope = ((F.logsigmoid(a) + F.logsigmoid(-a)).flatten(1).sum(1) for a in (z, h))
        # a sigmoid that rounds to 1 would be the next grey level
        u = h.sigmoid().clamp(max=1 - torch.finfo(x.dtype).eps)
        return u, log_base - ladj - slope


class PictureConditioner(nn.Module):
    """Conditioner of noise: the copied part of the noise and the picture -> (B, C, H, W, 2), zeros first."""

    def __init__(self, image_shape: Sequence[int], width: int) -> None:
        super().__init__()
        channels = image_shape[0]
        self.net = nn.Sequential(
            nn.Conv2d(2 * channels, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU(),
            nn.Conv2d(width, 2 * channels, 3, padding=1),
        )  # fmt: skip
        nn.init.zeros_(self.net[-1].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.net[-1].bias)  # type: ignore[arg-type]

    def forward(self, h: Tensor, context: Tensor | None = None) -> Tensor:
        assert context is not None
        return self.net(torch.cat([h, context], 1)).unflatten(1, (2, -1)).movedim(1, -1)
