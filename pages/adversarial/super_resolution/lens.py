"""Seven by seven pixels enlarged to 28 by 28: by a cubic, by squared error, in a game, and all between."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import drawing
from modules.adversarial.super_resolution import SuperResolution, bicubic, downsample, psnr
from modules.adversarial.translation import gradient_energy
from pages.adversarial.super_resolution.room import STEPS

SIDE = 28
CUBIC, PLAIN, GAME = "bicubic", "squared error", "adversarial"


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        truth: (28, 28). low: (7, 7). cubic, plain: (28, 28).
        blends: (STEPS, 28, 28), from the plain network to the game's. All in [0, 1].
        psnr, sharpness: of the blends, decibels, and gradient energy over the true picture's, (STEPS,).
        of_cubic: the same two numbers of bicubic.
    """

    truth: Tensor
    low: Tensor
    cubic: Tensor
    plain: Tensor
    blends: Tensor
    psnr: Tensor
    sharpness: Tensor
    of_cubic: tuple[float, float]


def weights_between() -> list[float]:
    """Distance of each frame from the plain network's weights to the game's."""
    return [i / (STEPS - 1) for i in range(STEPS)]


def shares() -> list[str]:
    """`weights_between` in words."""
    return [f"{share:.0%}" for share in weights_between()]


def examples() -> list[tuple[str, Tensor]]:
    """Digits to enlarge, from 0 to 9."""
    return sorted(drawing.examples(SIDE), key=lambda example: example[0])


@torch.no_grad()
def look(model: SuperResolution, digit: Tensor) -> Look:
    """All of it for a true picture (28, 28).

    Raises:
        UserError: there is no ink.
    """
    if not bool(digit.any()):
        raise UserError("There is no ink: draw something to be made small and large again.")
    x = digit[None, None]
    low = downsample(x, model.factor)
    blends = torch.cat([model.enlarge(low, blend) for blend in weights_between()])
    cubic, real = bicubic(low, model.factor), gradient_energy(x)
    return Look(
        digit,
        low[0, 0],
        cubic[0, 0],
        blends[0, 0],
        blends[:, 0],
        psnr(blends, x.expand_as(blends)),
        gradient_energy(blends) / real,
        (float(psnr(cubic, x)), float(gradient_energy(cubic) / real)),
    )


def errors(result: Look) -> Look:
    """The same with |x − x̂| in place of what was made of x."""
    cubic, plain, blends = (
        (results - result.truth).abs() for results in (result.cubic, result.plain, result.blends)
    )
    return replace(result, cubic=cubic, plain=plain, blends=blends)


def captions(result: Look) -> list[str]:
    """Caption of what each blend reaches."""
    return [
        f"{share:.0%} of the way to the adversarial network's weights: {p:.2f} dB, {s:.0%} of the target's "
        f"sharpness."
        for share, p, s in zip(
            weights_between(), result.psnr.tolist(), result.sharpness.tolist(), strict=True
        )
    ]


def equations(result: Look) -> list[str]:
    """PSNR with this frame's numbers, LaTeX."""
    return [
        rf"-10\log_{{10}}\tfrac1n\|x-\hat x\|^2=-10\log_{{10}}{10 ** (-p / 10):.5f}={p:.2f}\ \mathrm{{dB}}"
        for p in result.psnr.tolist()
    ]


def better(result: Look) -> str:
    """Network that is nearer to the truth in squared error."""
    return PLAIN if float(result.psnr[0]) > float(result.psnr[-1]) else GAME
