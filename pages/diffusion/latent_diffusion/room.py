"""Latent diffusion: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider

VIEWS = DIGITS, CODES, JUDGED = "Digits", "Codes", "Judged"
LATENT, PIXELS = "ldm-digits", "ddpm-digits"
KNOBS = {"Steps S": "steps", "Noise η": "eta", "Guidance w": "guidance"}


def drawn(state: Any) -> bool:
    return bool(state.view == DIGITS)


def coded(state: Any) -> bool:
    return bool(state.view == CODES)


def judged(state: Any) -> bool:
    return bool(state.view == JUDGED)


def walks(state: Any) -> bool:
    return not judged(state)


@dataclass(frozen=True, kw_only=True)
class State:
    latent: Annotated[str, Model("Latent", (LATENT,), when=False)] = LATENT
    pixels: Annotated[str, Model("Pixels", (PIXELS,), when=False)] = PIXELS
    referee: Annotated[str, Model("Referee", ("cnn-digits",), when=False)] = "cnn-digits"
    view: Annotated[str, Choice("Show", VIEWS)] = DIGITS
    digit: Annotated[str, Choice("Digit", ("each", *map(str, range(10))), as_list=True, when=drawn)] = "each"
    w: Annotated[float, Slider("Guidance w", 0.0, 4.0, step=0.5, when=drawn)] = 0.0
    i: Annotated[int, Slider("Dimension across", 1, 8, when=coded)] = 1
    j: Annotated[int, Slider("Dimension up", 1, 8, when=coded)] = 2
    S: Annotated[int, Choice("Steps S", (5, 10, 20), when=walks)] = 20
    seed: Annotated[int, Number("Seed", 0, 9999, when=walks)] = 0
    step: Annotated[int | None, Frame("Step", seconds=0.2, when=drawn)] = None
    at_t: Annotated[int | None, Frame("Step", seconds=0.2, when=coded)] = None
    model: Annotated[str, Model("Model", (LATENT, PIXELS), as_list=True, when=judged)] = LATENT
    vary: Annotated[str, Choice("Vary", tuple(KNOBS), as_list=True, when=judged)] = "Guidance w"

    @property
    def wanted(self) -> int | None:
        """The class that is asked for; None is each in turn."""
        return None if self.digit == "each" else int(self.digit)

    @property
    def knob(self) -> str:
        """The name of what is varied."""
        return KNOBS[self.vary]


ROOM = Room(
    title="Latent diffusion",
    idea="Let an autoencoder make digits small, and diffuse in its codes.",
    place=130,
    minutes=5,
    words="stable diffusion; latent diffusion; LDM; autoencoder; compression; classifier-free guidance",
    references=(
        "Rombach et al. 2022, arXiv:2112.10752 (latent diffusion)",
        "Vahdat, Kreis, Kautz 2021, arXiv:2106.05931 (the bound of the whole)",
        "Kynkäänniemi et al. 2019, arXiv:1904.06991 (precision, recall)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=(
        "sampling",
        "latent",
    ),
    machine="diffusion",
    state=State,
    scenes={
        "One decoder": Scene(
            "Left codes from N(0, I), in the middle by diffusion: the decoder is one.", State()
        ),
        "Led to eights": Scene(
            "Both diffusions take a class; the prior knows none.", State(digit="8", w=1.0)
        ),
        "Five steps": Scene(
            "Five steps each: a twentieth of the work or less, in the codes.", State(S=5, step=5)
        ),
        "The codes": Scene("Play: noise moves to where the codes of digits lie.", State(view=CODES, at_t=0)),
        "Arrived": Scene(
            "At t = 0 diffusion's codes lie nearer to the digits' than N(0, I) does.", State(view=CODES)
        ),
        "More guidance": Scene(
            "A little w makes the class sure; the distance only grows with w.",
            State(view=JUDGED, vary="Guidance w"),
        ),
        "More steps": Scene(
            "Ten steps or fifty: in the codes there is little between them.",
            State(view=JUDGED, vary="Steps S"),
        ),
    },
)
