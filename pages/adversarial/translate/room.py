"""Translate: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Fixed, Frame, Model, Place, Room, Scene, keys, late

SIDE, PHASES = 32, 24
DRAWN, OPPOSITE = 18, 6  # near the phase that the game of patches has settled on, and half a period on
GAMES = {1: "pix2pix-pixel-mnist", 16: "pix2pix-mnist", 34: "pix2pix-whole-mnist"}  # by what a logit sees
DISTANCE, GAME, TRUE = "ℓ₁ alone", "the game's", "a true one"
JUDGED = (GAME, DISTANCE, TRUE)


@dataclass(frozen=True, kw_only=True)
class State:
    digit: Annotated[
        str | None,
        Drawing(
            "Draw a digit: its outline is the input", SIDE, late("lab.lenses.drawing", "examples", (SIDE,))
        ),
    ] = None
    patch: Annotated[
        int,
        Choice(
            "Patch of a logit of D",
            tuple(GAMES),
            help="Pixels a side of a patch; each is a network of its own.",
        ),
    ] = 16
    judged: Annotated[str, Choice("Input of D", JUDGED, as_list=True)] = GAME
    alone: Fixed = "pix2pix-l1-mnist"
    phase: Annotated[int, Frame("Phase", seconds=0.15)] = DRAWN
    verdict: Annotated[tuple[int, int] | None, Place("Verdict")] = None

    @property
    def game(self) -> Annotated[str, Model("Game")]:
        return GAMES[self.patch]

    @property
    def at(self) -> int:
        """The phase of the true picture, where D looks at one."""
        return self.phase if self.judged == TRUE else 0


(VERDICT,) = keys(State, Place)


ROOM = Room(
    title="Paired translation",
    idea="ℓ₁ loss alone averages all plausible outputs; an adversarial loss commits to one (pix2pix).",
    place=160,
    minutes=5,
    words="pix2pix; image-to-image translation; PatchGAN; paired translation; conditional GAN",
    references=(
        "Isola et al. 2017, Pix2Pix, arXiv:1611.07004",
        "[UDL] §15.5.1–15.5.2, fig. 15.16 (in words: output against input; it is against the target)",
    ),
    lenses=("receptive_field",),
    machine="gan",
    symbols={
        "x": "the target",
        r"\hat{x}_{\ell_1}": "picture of the network that learns the ℓ₁ distance alone",
        r"\hat{x}_{\mathrm{game}}": "picture of the one that learns a game too",
        "n": "number of pixels",
    },
    state=State,
    scenes={
        "ℓ₁ against adversarial loss": Scene(
            "The outline does not fix the stripes' phase: ℓ₁ alone averages them to grey.", State()
        ),
        "Opposite phase": Scene(
            "For stripes of the opposite phase the grey is still near; the adversarial picture is far.",
            State(phase=OPPOSITE),
        ),
        "Blur detected by D": Scene(
            "D sees the grey output of ℓ₁: none of its patches of 16 pixels passes for real.",
            State(judged=DISTANCE),
        ),
        "Real picture": Scene(
            "D rates a real picture higher than the generated one, though not every patch of it.",
            State(judged=TRUE),
        ),
        "PixelGAN": Scene(
            "A discriminator of single pixels sees grey levels, not their arrangement: no stripes.",
            State(patch=1),
        ),
        "Full-image discriminator": Scene(
            "A logit with a receptive field of 34 pixels sees the whole picture: stripes again.",
            State(patch=34),
        ),
        "Another digit": Scene("A 7 as input: its background is striped as well.", State(digit="7")),
    },
    was={
        "Grey or stripes": "ℓ₁ against adversarial loss",
        "Another truth": "Opposite phase",
        "Grey is caught": "Blur detected by D",
        "A true one": "Real picture",
        "Single pixels": "PixelGAN",
        "The whole": "Full-image discriminator",
        "A seven": "Another digit",
    },
)
