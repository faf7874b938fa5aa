"""One number of a DCGAN's z turned, all others as they were drawn.

Shapes: z (N, K); pictures (N, S, S).
"""

import torch
from torch import Tensor

from lab.lenses.generated import differ
from modules.adversarial.dcgan import DCGAN
from pages.adversarial.dcgan.room import VALUES

SHEET = 24


def last(game: DCGAN) -> int:
    """Index of the last of z's numbers."""
    return game.latent_dim


@torch.no_grad()
def turned(game: DCGAN, seed: int, number: int, value: float) -> Tensor:
    """SHEET draws with z's number (from 1) put to a value, (SHEET, S, S)."""
    z = game.noise(SHEET, torch.Generator().manual_seed(seed))
    z[:, number - 1] = value
    return game.decode(z)[:, 0]


def turning(game: DCGAN, seed: int, number: int) -> Tensor:
    """`turned` at each of VALUES, (V, SHEET, S, S)."""
    return torch.stack([turned(game, seed, number, value) for value in VALUES])


def changes(seen: Tensor) -> list[float]:
    """Distance of pictures from those at 0, at each value."""
    return [differ(pictures, seen[VALUES.index(0.0)]) for pictures in seen]


def between(seen: Tensor) -> float:
    """Distance of two draws from each other at 0."""
    pictures = seen[VALUES.index(0.0)]
    return differ(pictures, pictures.roll(1, 0))


def value_captions(number: int, seen: Tensor) -> list[str]:
    """A sentence for every value."""
    apart = between(seen)
    return [
        f"z's number {number} is {value:g} in all {SHEET}: a pixel is {change:.3f} from where 0 has it; two "
        f"draws differ by {apart:.3f}."
        for value, change in zip(VALUES, changes(seen), strict=True)
    ]


def value_equations(number: int, seen: Tensor) -> list[str]:
    """The same, LaTeX."""
    apart = between(seen)
    return [
        rf"\mathrm{{rms}}\,(g(z_{{{number}}}={value:g})-g(z_{{{number}}}=0))={change:.4f}="
        rf"{change / apart:.3f}\cdot {apart:.4f}"
        for value, change in zip(VALUES, changes(seen), strict=True)
    ]
