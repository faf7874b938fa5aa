"""Translate: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Model, Place, Room, Scene, keys, late

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
            "A logit of D sees",
            tuple(GAMES),
            help="Pixels a side of a patch; each is a network of its own.",
        ),
    ] = 16
    judged: Annotated[str, Choice("D looks at", JUDGED, as_list=True)] = GAME
    alone: Annotated[str, Model("ℓ₁ alone", ("pix2pix-l1-mnist",), when=False)] = "pix2pix-l1-mnist"
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
    title="Translate",
    idea="Distance alone paints the middle of all that fits; a game decides for one.",
    place=170,
    minutes=5,
    words="pix2pix; image-to-image translation; PatchGAN; paired translation; conditional GAN",
    references=(
        "Isola et al. 2017, Pix2Pix, arXiv:1611.07004",
        "[UDL] §15.5.1–15.5.2, fig. 15.16 (in words: output against input; it is against the target)",
    ),
    lenses=("receptive_field",),
    machine="gan",
    state=State,
    scenes={
        "Grey or stripes": Scene("The outline tells no phase: ℓ₁ alone greys the paper.", State()),
        "Another truth": Scene(
            "A shifted truth is as true: the grey stays near, the stripes are far.", State(phase=OPPOSITE)
        ),
        "Grey is caught": Scene(
            "D looks at the grey picture: no patch of 16 pixels passes.", State(judged=DISTANCE)
        ),
        "A true one": Scene(
            "The same D trusts a true picture more than the game's, yet not every patch.", State(judged=TRUE)
        ),
        "Single pixels": Scene(
            "A D of single pixels sees greys, not how they lie: no stripes.", State(patch=1)
        ),
        "The whole": Scene(
            "A logit that sees 34 pixels sees the whole picture: stripes again.", State(patch=34)
        ),
        "A seven": Scene("Another outline: the paper is striped again.", State(digit="7")),
    },
)
