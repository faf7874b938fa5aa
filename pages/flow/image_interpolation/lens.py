r"""From one digit to another through all levels of z, and through the pixels; and along an attribute.

    latent   f((1 − t) z_A + t z_B)      all levels together: the ends come back exactly
    pixels   (1 − t) x_A + t x_B
    attribute   f(z + s (mean z of one class − mean z of another))

Both are judged by one density, log p of real-valued pictures: grey levels and the pages' noise.
Shapes: x (1, 1, H, W), z (D,), paths (S, ...).
References: Kingma & Dhariwal 2018, arXiv:1807.03039; White 2016, arXiv:1609.04468; [UDL] 16.5.2, 17.8.3.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import latent
from lab.lenses.glows import noise
from modules.flow.glow import Glow

STEPS = 11
STRENGTHS = [round(-1 + 0.2 * i, 1) for i in range(11)]


@dataclass(frozen=True)
class Path:
    """Pictures on the way.

    Attributes:
        pictures: (S, H, W) real-valued, 0 to 17.
        log_prob: (S,) of them, nats.
        radius: (S,) of their z.
    """

    pictures: Tensor
    log_prob: Tensor
    radius: Tensor


def path_of(model: Glow, y: Tensor) -> Path:
    """A path through real-valued pictures (S, 1, H, W)."""
    return Path(y[:, 0], model.log_prob(y), model.encode(y).norm(dim=1))


@torch.no_grad()
def paths(model: Glow, a: Tensor, b: Tensor, walk: str) -> tuple[Path, Path]:
    """Through z, "linear" or "spherical", and through the pixels."""
    ya, yb = a + noise(a), b + noise(b)
    za, zb = model.encode(torch.cat([ya, yb]))
    codes = latent.interpolate(za, zb, STEPS, "spherical" if walk == "spherical" else "linear")
    t = torch.linspace(0, 1, STEPS)[:, None, None, None]
    return path_of(model, model.decode(codes)), path_of(model, (1 - t) * ya + t * yb)


@torch.no_grad()
def attribute(model: Glow, x: Tensor, digits: Tensor, labels: Tensor, minus: int, plus: int) -> Path:
    """x along mean z of class `plus` less mean z of class `minus`, at each of STRENGTHS."""
    z = model.encode(digits + noise(digits))
    arrow = z[labels == plus].mean(0) - z[labels == minus].mean(0)
    start = model.encode(x + noise(x))[0]
    return path_of(model, model.decode(start + torch.tensor(STRENGTHS)[:, None] * arrow))


def ends(path: Path, a: Tensor, b: Tensor) -> float:
    """Largest difference between the path's ends and the two pictures, grey levels."""
    both = torch.cat([a + noise(a), b + noise(b)])[:, 0]
    return float((path.pictures[[0, -1]] - both).abs().max())
