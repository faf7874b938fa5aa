"""Super-resolution: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Drawing, Frame, Model, Room, Scene, Toggle, late

STEPS = 21  # blends


@dataclass(frozen=True, kw_only=True)
class State:
    digit: Annotated[str | None, Drawing("Draw a digit, or upload one", 28, late("lens", "examples"))] = None
    wrong: Annotated[bool, Toggle("Show what is wrong", help="|x − x̂| in place of the pictures.")] = False
    model: Annotated[str, Model("Model", ("srgan-mnist",), when=False)] = "srgan-mnist"
    blend: Annotated[int, Frame("Blend", seconds=0.15)] = STEPS - 1


ROOM = Room(
    title="Super-resolution",
    idea="Many pictures shrink to one: squared error blurs them, a game picks one.",
    place=200,
    minutes=4,
    words="SRGAN; super resolution; upscaling; perceptual loss; PSNR; pixel shuffle; mean squared error",
    references=(
        "Ledig et al. 2017, SRGAN, arXiv:1609.04802; Shi et al. 2016 (pixel shuffle), arXiv:1609.05158",
        "Wang et al. 2018, ESRGAN (networks blended), arXiv:1809.00219",
        "[UDL] §15.5.2, fig. 15.17",
    ),
    machine="gan",
    state=State,
    scenes={
        "In the game": Scene("The game's nought is the sharper one, and its error is larger.", State()),
        "Squared error": Scene("An error near the least of all blends, and soft strokes.", State(blend=0)),
        "Between": Scene("Weights half-way: error and sharpness lie between.", State(blend=STEPS // 2)),
        "A blend wins": Scene(
            "Of this eight a blend has less error than either network.", State(digit="8", blend=6)
        ),
        "A nine": Scene(
            "Bicubic knows no digits: it has the largest error and the least sharpness.", State(digit="9")
        ),
    },
)
