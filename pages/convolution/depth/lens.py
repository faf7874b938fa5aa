"""Gradient of random networks of one input and one output, and how it correlates along the input.

    g(x) = ∂y/∂x        ρ(ℓ) = Σ_i (g_i − ḡ)(g_{i+ℓ} − ḡ) / Σ_i (g_i − ḡ)²

The K layers of a network are a linear one of the input and K − 1 blocks (norm → ReLU → linear), with a skip
or without; a last one reads out. The means and deviations of a norm, over the grid, are held fixed in
the derivative: g is the slope of the curve that is drawn.

[UDL] figure 11.3 shatters "with Glorot initialization for both the weights and biases", without a norm: that
does not shatter at any depth, as notebook 11.1 says too. Balduzzi et al. centre each layer over the inputs.

Shapes: C networks, F draws, N points, lags 0 … LAGS.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lab.errors import UserError
from lab.lenses import typed
from modules.convolution.residual import Residual, ordered
from pages.convolution.depth.room import BATCH, DRAWS, HALF, PLAIN, RAW

POINTS, LAGS, REACH = 256, 48, 2.0
MOST, DEEPEST = 4, 64


def depths(text: str) -> tuple[int, ...]:
    """Numbers of layers, rising."""
    numbers = typed.numbers(text, DEEPEST, MOST)
    if not numbers or any(v != int(v) or v < 1 for v in numbers):
        raise UserError(f"Write one to {MOST} whole numbers from 1 to {DEEPEST}, such as 1 24 50.")
    return tuple(sorted({int(v) for v in numbers}))


class Held(nn.Module):
    """Takes the mean over the batch away, and divides by the deviation if `scaled`; both held fixed."""

    def __init__(self, scaled: bool) -> None:
        super().__init__()
        self.scaled = scaled

    def forward(self, h: Tensor) -> Tensor:
        centred = h - h.mean(0).detach()
        return centred / (centred.var(0, correction=0) + 1e-5).sqrt().detach() if self.scaled else centred


@torch.no_grad()
def network(
    depth: int, width: int, gain: int, bias: int, norm: str, skip: str, seed: int = 0, draw: int = 1
) -> nn.Sequential:
    """One input, K hidden layers, one output, with weights of variance gain/D and biases of bias/D."""
    generator = torch.Generator().manual_seed(1000 * seed + draw)

    def dense(inputs: int, outputs: int) -> nn.Linear:
        layer: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs, dtype=torch.float64)
        layer.weight.normal_(0, (gain / width) ** 0.5, generator=generator)
        layer.bias.normal_(0, (bias / width) ** 0.5, generator=generator)
        return layer

    def normed(units: int) -> list[nn.Module]:
        return [] if norm == RAW else [Held(scaled=norm == BATCH)]

    layers: list[nn.Module] = [dense(1, width)]
    for _ in range(depth - 1):
        branch = ordered("v2", [(dense(width, width), width, width)], normed)
        way = None if skip == PLAIN else nn.Identity()
        layers.append(Residual(branch, way, "half" if skip == HALF else "none"))
    return nn.Sequential(*layers, *normed(width), nn.ReLU(), dense(width, 1))


@dataclass(frozen=True)
class Shattered:
    """
    Attributes:
        depths: of the C networks.
        x: (N,). y, g: (C, F, N), output and gradient.
        rho: (C, F, LAGS + 1), autocorrelation of g; NaN where g is constant.
    """

    depths: tuple[int, ...]
    x: Tensor
    y: Tensor
    g: Tensor
    rho: Tensor

    @property
    def mean(self) -> Tensor:
        """Over the draws, (C, LAGS + 1)."""
        return self.rho.nanmean(1)


def autocorrelation(g: Tensor, lags: int = LAGS) -> Tensor:
    """ρ(0), …, ρ(lags) of g (..., N)."""
    centred, N = g - g.mean(-1, keepdim=True), g.shape[-1]
    sums = [(centred[..., lag:] * centred[..., : N - lag]).sum(-1) for lag in range(lags + 1)]
    results = torch.stack(sums, -1)
    return results / results[..., :1].where(results[..., :1] > 0, torch.nan)


def curve(net: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """y and ∂y/∂x at the points x (N,)."""
    points = x[:, None].requires_grad_()
    y = net(points)
    (g,) = torch.autograd.grad(y.sum(), points)
    return y.detach()[:, 0], g[:, 0]


def shattered(
    depths: tuple[int, ...], width: int, gain: int, bias: int, norm: str, skip: str, seed: int
) -> Shattered:
    """Twelve draws of a network of each depth."""
    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    rows = [
        [curve(network(depth, width, gain, bias, norm, skip, seed, draw), x) for draw in DRAWS]
        for depth in depths
    ]
    y, g = (torch.stack([torch.stack([pair[i] for pair in row]) for row in rows]) for i in (0, 1))
    return Shattered(depths, x, y, g, autocorrelation(g))


def standard(values: Tensor) -> Tensor:
    """(..., N) with mean 0 and deviation 1, of a constant 0."""
    centred = values - values.mean(-1, keepdim=True)
    return centred / centred.square().mean(-1, keepdim=True).sqrt().clamp(min=1e-300)


OPTIONS = ["nearly nothing", "something", "nearly all"]
REASONS = (
    "For that neighbouring gradients would have to be unrelated: ρ(1) below 0.2.",
    "For that ρ(1) would have to lie between 0.2 and 0.9.",
    "For that the gradient would have to change slowly along x: ρ(1) above 0.9.",
)


def answer(near: float | Tensor) -> str:
    """The one of OPTIONS that ρ(1) is."""
    return OPTIONS[0] if near < 0.2 else OPTIONS[1] if near <= 0.9 else OPTIONS[2]


# --- What is said of them ---------------------------------------------------------------------------


def layers(depth: int) -> str:
    return "1 layer" if depth == 1 else f"{depth} layers"


def number(value: float | Tensor) -> str:
    """Two decimals; – of what is not there."""
    text = f"{float(value):.2f}"
    return "–" if text == "nan" else "0.00" if text == "-0.00" else text


def captions(one: Shattered) -> list[str]:
    """Of each draw the autocorrelation at a lag of one point, with the mean of all draws."""
    texts = []
    for f, draw in enumerate(DRAWS):
        told = ", ".join(
            f"{layers(depth)} {number(one.rho[c, f, 1])} (mean {number(one.mean[c, 1])})"
            for c, depth in enumerate(one.depths)
        )
        texts.append(f"Draw {draw} of {len(DRAWS)}, neighbouring points: {told}.")
    return texts


def equations(one: Shattered) -> list[str]:
    """ρ(1) of each draw with its sums, of the deepest network."""
    texts = []
    for f in range(len(DRAWS)):
        g = standard(one.g[-1, f])  # the ratio is that of g
        above, below = float((g[1:] * g[:-1]).sum()), float(g.square().sum())
        texts.append(
            r"\rho(1) = \frac{\sum_i (g_i - \bar{g})(g_{i+1} - \bar{g})}{\sum_i (g_i - \bar{g})^2} = "
            rf"\frac{{{above:.1f}}}{{{below:.1f}}} = {number(one.rho[-1, f, 1])}"
            rf"\quad\text{{({layers(one.depths[-1])})}}"
        )
    return texts


def about(one: Shattered, norm: str, skip: str, bias: int) -> str:
    """What to notice."""
    lags = ", ".join(f"{number(one.mean[-1, lag])} at lag {lag}" for lag in (1, 4, 16))
    texts = [f"Of {layers(one.depths[-1])} the mean autocorrelation is {lags}. Curves have deviation 1."]
    if norm == RAW and bias == 0:
        texts.append(
            "Without biases and with one input the network is homogeneous, y(cx) = c y(x) for c > 0: its "
            "gradient has one value on each side of 0, at any depth."
        )
    elif norm == RAW:
        texts.append(
            "Figure 11.3 of the book is captioned with Glorot's initialisation of weights and biases and no "
            "norm: that does not shatter, and the author of its notebook could not replicate the figure. The "
            "original study centres every layer over the inputs; that shatters."
        )
    elif skip == PLAIN:
        texts.append(
            "Taking the mean over all inputs away leaves in each layer what differs between them, so that "
            "neighbours become less alike with every layer; batch norm does the same, and scales."
        )
    else:
        texts.append("The skip carries the gradient past the branches: short paths change slowly along x.")
    return " ".join(texts)
