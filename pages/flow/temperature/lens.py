r"""Pictures drawn from a narrower base: z = T ε with the same ε at every temperature.

    p_Z^α = N(0, I/α) up to a constant,  T = α^{−1/2}:  T < 1 asks for α > 1

[UDL] 16.5.2 asks for "a positive power" of the base; below 1 it widens. Nor is base^α, pushed through
the flow, the density^α of the model unless |det J| is constant: for x = e^z, α = 4, log x has mean 0,
(1 − α)/α = −0.75 in the other.

Shapes: ε (N, D), pictures (F, N, H, W) of grey levels 0 … 16.
References: Kingma & Dhariwal 2018, arXiv:1807.03039; [UDL] 16.5.2.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.glows import pictures
from modules.flow.glow import Glow

TEMPERATURES = [i / 10 for i in range(16)]  # 0 … 1.5
MANY = 100  # pictures behind the curves


@dataclass(frozen=True)
class Sweep:
    """Samples by temperature, with their spread and distance from the data.

    Attributes:
        shown: (F, N, H, W) grey levels.
        spread: (F,) standard deviation of a pixel over many pictures, mean over the pixels.
        distance: (F,) root mean square difference of a pixel to the nearest training picture, mean over many.
    """

    shown: Tensor
    spread: list[float]
    distance: list[float]


@torch.no_grad()
def sweep(model: Glow, train: Tensor, count: int, which: str, seed: int) -> Sweep:
    """The same ε at every temperature.

    Args:
        train: (M, 1, H, W) grey levels.
        which: "all" levels of z, "1" or "2": the others stay at T = 1.
    """
    noise = torch.randn(MANY, model.event_dim, generator=torch.Generator().manual_seed(seed))
    first = math.prod(model.scales.pieces[0])
    part = {"all": slice(None), "1": slice(None, first), "2": slice(first, None)}[which]
    z = noise.repeat(len(TEMPERATURES), 1, 1)  # (F, MANY, D)
    z[..., part] *= torch.tensor(TEMPERATURES)[:, None, None]
    result = pictures(model, z)
    return Sweep(result[:, :count], [spread_of(x) for x in result], [distance_of(x, train) for x in result])


def spread_of(x: Tensor) -> float:
    """Standard deviation of each pixel over pictures (N, ...), mean over the pixels."""
    return float(x.flatten(1).std(0).mean())


def distance_of(x: Tensor, train: Tensor) -> float:
    """Root mean square difference to the nearest of `train`, mean over pictures (N, ...)."""
    flat = x.flatten(1)
    return float(torch.cdist(flat, train.flatten(1)).amin(1).mean()) / math.sqrt(flat.shape[1])


def power(temperature: float) -> str:
    """α of a temperature."""
    return f"{temperature**-2:.2f}" if temperature else "∞"


def log_space_means(alpha: float) -> tuple[float, float]:
    """Means of log x for x = e^z: of base^α pushed forward, and of the model's density^α, by quadrature."""
    h = torch.linspace(-12, 12, 24001, dtype=torch.float64)  # h = log x
    base = -0.5 * alpha * h**2
    model = alpha * (-0.5 * h**2 - h) + h  # (p(x))^α dx, p(x) = N(h)/x, dx = x dh
    return float(base.softmax(0) @ h), float(model.softmax(0) @ h)
