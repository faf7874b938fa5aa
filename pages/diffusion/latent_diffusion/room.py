"""Latent diffusion: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Model, Number, Room, Scene, Slider

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
    latent: Fixed = LATENT
    pixels: Fixed = PIXELS
    referee: Fixed = "cnn-digits"
    view: Annotated[str, Choice("Show", VIEWS)] = DIGITS
    digit: Annotated[str, Choice("Digit", ("each", *map(str, range(10))), as_list=True, when=drawn)] = "each"
    w: Annotated[float, Slider("Guidance w", 0.0, 4.0, step=0.5, when=drawn)] = 0.0
    i: Annotated[int, Slider("Dimension across", 1, 8, when=coded)] = 1
    j: Annotated[int, Slider("Dimension up", 1, 8, when=coded)] = 2
    S: Annotated[int, Choice("Steps S", (5, 10, 20), when=walks)] = 20
    seed: Annotated[int, Number("Seed", 0, 9999, when=walks)] = 0
    step: Annotated[int | None, Frame("t =", seconds=0.2, when=drawn)] = None
    at_t: Annotated[int | None, Frame("t =", seconds=0.2, when=coded)] = None
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
    idea="An autoencoder compresses digits to codes of eight numbers; the diffusion runs on the codes.",
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
        "Half-way": Scene(
            "The middle shows codes half-way through diffusion, decoded; the left, decoded codes of N(0, I).",
            State(step=12),
        ),
        "Prior and diffusion": Scene(
            "One decoder: its digits are surer with codes of diffusion (middle) than of N(0, I) (left).",
            State(),
        ),
        "Conditional": Scene(
            "Both diffusions are conditioned on the class 8; the prior N(0, I) on the left has no class.",
            State(digit="8", w=1.0),
        ),
        "Five steps": Scene(
            "Five steps each; in the codes they take a twentieth of the multiplications or less.",
            State(S=5, step=5),
        ),
        "Latent noise": Scene(
            "At t = 1000 the orange codes are noise; play, and they move to the grey codes of digits.",
            State(view=CODES, at_t=0),
        ),
        "Aggregate posterior": Scene(
            "At t = 0 the codes of diffusion lie nearer to the codes of digits than N(0, I) does.",
            State(view=CODES),
        ),
        "FD by guidance": Scene(
            "A little guidance makes the class sure; the Fréchet distance only grows with w.",
            State(view=JUDGED, vary="Guidance w"),
        ),
        "FD by steps": Scene(
            "Between ten steps and fifty the Fréchet distance changes by less than a quarter.",
            State(view=JUDGED, vary="Steps S"),
        ),
    },
    was={
        1: "Prior and diffusion",
        2: "Conditional",
        3: "Five steps",
        4: "Latent noise",
        5: "Aggregate posterior",
        6: "FD by guidance",
        7: "FD by steps",
        "One decoder": "Prior and diffusion",
        "Led to eights": "Conditional",
        "The codes": "Latent noise",
        "Arrived": "Aggregate posterior",
        "More guidance": "FD by guidance",
        "More steps": "FD by steps",
        "Noise in latent space": "Latent noise",
        "Conditional samples": "Conditional",
    },
)
