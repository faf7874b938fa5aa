r"""Two attributes as two axes of code space, and what of a step on them comes back from the picture.

    a = mean code of those that have it − mean code of the others,    z(u, v) = z + s (u a + v b)
    read again, along each axis: s u′ = a · (encode(decode(z(u, v))) − z) / ‖a‖², and s v′ so with b

References: White 2016, arXiv:1609.04468; [UDL] §17.8.3.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.sprites import KINDS, everything, render
from lab.experiments import Experiment
from lab.lenses import latent, sprites, vaes
from modules.latent.resynthesis import attribute_vector, map_projection
from modules.latent.vae import VAE

ENDS = [-1.0, -0.5, 0.0, 0.5, 1.0]  # u and v
STRENGTHS = [i / 4 for i in range(9)]
MAP_STEPS = 15  # of L-BFGS, from the encoder's mean: within half a nat of the end
ANGLES = ("at right angles, about", "alike", "opposed")


def fits(entry: Experiment) -> bool:
    """Check whether it is a VAE of sprites or a plain one of digits."""
    return sprites.fits(entry) or vaes.fits(entry)


def examples() -> list[tuple[str, Tensor]]:
    """Sprites (16, 16) to begin with: one in the middle, with room on all sides, and others."""
    return [("middle", render(torch.tensor([[1, 1, 0, 3, 3]]))[0, 0]), *sprites.examples()]


def sprite_attributes() -> tuple[Tensor, dict[str, Tensor]]:
    """All sprites (N, 16, 16), and which of them (N,) have what."""
    x, factors = everything()
    shape, scale, _, column, row = factors.T
    kinds = {kind: shape == i for i, kind in enumerate(KINDS)}
    return x[:, 0], {"right": column > 3, "down": row > 3, "large": scale == 2, **kinds}


def lean(pictures: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Ink, width and lean of pictures (N, H, W), (N,) each: Σ, the deviation across, and how far to the right
    the ink goes with a step up."""
    ink = pictures.sum((1, 2)).clamp(min=1e-6)
    share = pictures / ink[:, None, None]
    place = torch.arange(pictures.shape[-1], dtype=pictures.dtype)
    across, up = share.sum(1), share.sum(2).flip(1)
    x, y = across @ place, up @ place
    both = torch.einsum("nij,i,j->n", share.flip(1), place, place) - x * y
    tall = up @ place.square() - y.square()
    return ink, (across @ place.square() - x.square()).clamp(min=0).sqrt(), both / tall.clamp(min=1e-6)


def digit_attributes(pictures: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Attributes of the digits (N, H, W): which are bolder, wider and lean more to the right than half of
    them, and of which class they are."""
    ink, width, slant = lean(pictures)
    halves = {"bold": ink, "leaning": slant, "wide": width}
    classes = {f"a {c}": labels == c for c in labels.unique().tolist()}
    return {**{name: v > v.median() for name, v in halves.items()}, **classes}


@torch.no_grad()
def axes(model: VAE, x: Tensor, has: dict[str, Tensor]) -> dict[str, Tensor]:
    """(K,) each, from the mean codes of x (N, ...)."""
    z = latent.codes(model, x)
    return {name: attribute_vector(z, rows) for name, rows in has.items() if rows.any() and not rows.all()}


def cosine(a: Tensor, b: Tensor) -> float:
    """Cosine of the angle between two axes."""
    return float(a @ b / (a.norm() * b.norm()).clamp(min=1e-12))


def angle(cos: float) -> str:
    """In words, one of ANGLES."""
    return ANGLES[0] if abs(cos) < 0.3 else ANGLES[1] if cos > 0 else ANGLES[2]


def code(model: VAE, x: Tensor, best: bool) -> Tensor:
    """(K,) of x (1, ...): the encoder's mean, or from there the argmax of log p(x|z) + log p(z)."""
    return map_projection(model, x, steps=MAP_STEPS)[0] if best else latent.codes(model, x)[0]


@torch.no_grad()
def joint(model: VAE, x: Tensor, z: Tensor) -> float:
    """log p(x|z) + log p(z) of x (1, ...) at z (K,), nats."""
    return float(latent.log_joint_of(model, x, z[None])[0])


@dataclass(frozen=True)
class Grid:
    """F strengths of a grid, rows are v, columns u.

    Attributes:
        pictures: (F, V, U, H, W).
        read: (F, V, U, 2) s u′ and s v′, the steps that come back; planned: (F, V, U, 2) s u and s v.
    """

    pictures: Tensor
    read: Tensor
    planned: Tensor

    def slopes(self, frame: int) -> Tensor:
        """(2, 2): what comes back on axis i of one step on axis j, by least squares."""
        plan, got = self.planned[frame].reshape(-1, 2), self.read[frame].reshape(-1, 2)
        return (got.T @ plan) / plan.square().sum(0)


@torch.no_grad()
def grid(model: VAE, z: Tensor, a: Tensor, b: Tensor) -> Grid:
    """Around the code z (K,), at every one of STRENGTHS."""
    ends = torch.tensor(ENDS)
    v, u = torch.meshgrid(ends, ends, indexing="ij")
    planned = torch.tensor(STRENGTHS)[:, None, None, None] * torch.stack([u, v], -1)
    both = torch.stack([a, b])  # (2, K)
    pictures = latent.decoded(model, z + planned @ both)
    again = latent.codes(model, pictures.reshape(-1, *model.event_shape)) - z
    read = again @ (both / both.square().sum(1, keepdim=True)).T
    return Grid(pictures, read.reshape(planned.shape), planned)


def sentence(result: Grid, frame: int, first: str, second: str) -> str:
    """Say what comes back at a strength."""
    if STRENGTHS[frame] == 0:
        return "s = 0: the code itself, twenty-five times."
    (aa, ab), (ba, bb) = result.slopes(frame).tolist()
    return (
        f"Read again, a step on “{first}” is {aa:.2f} of it and {ba:+.2f} of “{second}”; one on "
        f"“{second}” is {bb:.2f} of it and {ab:+.2f} of “{first}”."
    )
