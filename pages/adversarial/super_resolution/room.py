"""Super-resolution: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Drawing, Fixed, Frame, Room, Scene, Toggle, late

STEPS = 21  # blends


@dataclass(frozen=True, kw_only=True)
class State:
    digit: Annotated[str | None, Drawing("Draw a digit, or upload one", 28, late("lens", "examples"))] = None
    wrong: Annotated[bool, Toggle("Show the error", help="|x − x̂| in place of the pictures.")] = False
    model: Fixed = "srgan-mnist"
    blend: Annotated[int, Frame("Adversarial share", seconds=0.15)] = STEPS - 1


ROOM = Room(
    title="Super-resolution",
    idea="Squared error averages all plausible pictures to a blur; an adversarial loss commits to one.",
    place=190,
    minutes=4,
    words="SRGAN; super resolution; upscaling; perceptual loss; PSNR; pixel shuffle; mean squared error",
    references=(
        "Ledig et al. 2017, SRGAN, arXiv:1609.04802; Shi et al. 2016 (pixel shuffle), arXiv:1609.05158",
        "Wang et al. 2018, ESRGAN (networks blended), arXiv:1809.00219",
        "[UDL] §15.5.2, fig. 15.17",
    ),
    machine="gan",
    symbols={
        "x": "the large picture",
        r"\hat{x}": "what is made of the small one",
        r"\mathrm{dB}": "decibels",
        "n": "number of pixels",
    },
    state=State,
    scenes={
        "Adversarial loss": Scene(
            "The adversarial network's 0 is sharper than that of squared error, yet its PSNR is lower.",
            State(),
        ),
        "Squared error": Scene(
            "Squared error alone has nearly the best PSNR of all blends, and blurs the strokes.",
            State(blend=0),
        ),
        "Interpolated weights": Scene(
            "Half-way between the weights of both networks: PSNR and sharpness lie between theirs.",
            State(blend=STEPS // 2),
        ),
        "Best PSNR": Scene(
            "For this 8 interpolated weights have a higher PSNR than either network.",
            State(digit="8", blend=6),
        ),
        "Bicubic interpolation": Scene(
            "For this 9 bicubic interpolation has the lowest PSNR and the least sharpness.",
            State(digit="9"),
        ),
    },
    was={
        "In the game": "Adversarial loss",
        "Between": "Interpolated weights",
        "A blend wins": "Best PSNR",
        "A nine": "Bicubic interpolation",
    },
)
