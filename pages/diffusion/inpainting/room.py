"""Inpainting: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

VIEWS = DIGIT, GAUSSIAN = "Digit", "Gaussian"
PASSES = 1, 2, 5, 10, 20, 50  # of the Gaussian


def of_digit(state: Any) -> bool:
    return bool(state.view == DIGIT)


def gaussian(state: Any) -> bool:
    return bool(state.view == GAUSSIAN)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Denoiser", ("ddpm-digits",), when=False)] = "ddpm-digits"
    referee: Annotated[str, Model("Referee", ("cnn-digits",), when=False)] = "cnn-digits"
    view: Annotated[str, Choice("Show", VIEWS)] = DIGIT
    r: Annotated[int, Choice("Passes r", (1, 2, 5, 10), when=of_digit)] = 10
    missing: Annotated[str | None, Drawing("Ink is missing", 8, late("lens", "masks"), when=of_digit)] = None
    digit: Annotated[
        str | None, Drawing("Your digit", 8, late("lab.lenses.diffusion", "digits"), when=of_digit)
    ] = None
    S: Annotated[int, Choice("Steps S", (10, 20), when=of_digit)] = 10
    seed: Annotated[int, Number("Seed", 0, 9999, when=of_digit)] = 0
    step: Annotated[int | None, Frame("Step", when=of_digit)] = None
    rho: Annotated[float, Slider("Correlation ρ", -0.9, 0.9, step=0.1, when=gaussian)] = 0.8
    value: Annotated[float, Slider("Known x₁", -2.0, 2.0, step=0.5, when=gaussian)] = 1.0
    passes: Annotated[int, Frame("r =", PASSES, seconds=0.8, when=gaussian)] = 1


ROOM = Room(
    title="Inpainting",
    idea="Put the known pixels back at every step, and the model draws the rest.",
    place=110,
    minutes=6,
    words="inpainting; RePaint; image completion; conditional sampling; inverse problems",
    references=(
        "Song et al. 2021, arXiv:2011.13456 (replacement)",
        "Lugmayr et al. 2022, arXiv:2201.09865 (RePaint: resampling)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "A hole": Scene(
            "The middle is gone: with ten passes a level the completions fit the frame.", State()
        ),
        "Replacement alone": Scene("One pass: the middle fits its surroundings less often.", State(r=1)),
        "Bottom half": Scene(
            "Several digits have this upper half, and several come out.", State(missing="lower", digit="3")
        ),
        "Every second pixel": Scene("Every second pixel is enough to know the digit.", State(missing="dots")),
        "Nothing known": Scene("All is missing: these are samples of the model.", State(missing="all", r=1)),
        "Nothing missing": Scene("The known pixels come back to the bit.", State(missing="none", r=1)),
        "A wrong mean": Scene(
            "The exact step, yet replacement reaches the mean 0.496, not 0.8.", State(view=GAUSSIAN, passes=1)
        ),
        "Resampled": Scene("Fifty passes come near: 0.793.", State(view=GAUSSIAN, passes=50)),
        "Independent": Scene(
            "Without correlation there is nothing to miss.", State(view=GAUSSIAN, rho=0.0, passes=1)
        ),
    },
)
