"""Inpainting: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

VIEWS = DIGIT, GAUSSIAN = "Digit", "Gaussian"
PASSES = 1, 2, 5, 10, 20, 50  # of the Gaussian
DIGITS, MNIST = "ddpm-digits", "ddpm-mnist"


def of_digit(state: Any) -> bool:
    return bool(state.view == DIGIT)


def small(state: Any) -> bool:
    return of_digit(state) and bool(state.model == DIGITS)


def large(state: Any) -> bool:
    return of_digit(state) and bool(state.model == MNIST)


def gaussian(state: Any) -> bool:
    return bool(state.view == GAUSSIAN)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Show", VIEWS)] = DIGIT
    model: Annotated[str, Model("Denoiser", (DIGITS, MNIST), when=of_digit)] = DIGITS
    r: Annotated[int, Choice("Passes a level, r", (1, 2, 5, 10), when=of_digit)] = 10
    missing: Annotated[
        str | None, Drawing("Mask: ink is missing", 8, late("lens", "masks", (8,)), when=small)
    ] = None
    digit: Annotated[
        str | None, Drawing("Your digit", 8, late("lab.lenses.diffusion", "digits"), when=small)
    ] = None
    missing28: Annotated[
        str | None, Drawing("Mask: ink is missing", 28, late("lens", "masks", (28,)), when=large)
    ] = None
    digit28: Annotated[
        str | None, Drawing("Your digit", 28, late("lab.lenses.drawing", "examples", (28,)), when=large)
    ] = None
    S: Annotated[int, Choice("Steps S", (10, 20), when=of_digit)] = 10
    seed: Annotated[int, Number("Seed", 0, 9999, when=of_digit)] = 0
    step: Annotated[int | None, Frame("t =", when=of_digit)] = None
    rho: Annotated[float, Slider("Correlation ρ", -0.9, 0.9, step=0.1, when=gaussian)] = 0.8
    value: Annotated[float, Slider("Known x₁", -2.0, 2.0, step=0.5, when=gaussian)] = 1.0
    passes: Annotated[int, Frame("r =", PASSES, seconds=0.8, when=gaussian)] = 1

    @property
    def referee(self) -> Annotated[str, Model("Referee")]:
        """The classifier that judges the completions."""
        return "cnn-digits" if self.model == DIGITS else "cnn-mnist"

    @property
    def inks(self) -> tuple[str | None, str | None, int]:
        """The digit, the mask, and the pixels of their side."""
        return (self.digit, self.missing, 8) if self.model == DIGITS else (self.digit28, self.missing28, 28)


ROOM = Room(
    title="Inpainting",
    idea="The known pixels are put back at every denoising step; the model draws the missing ones.",
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
    symbols={
        "E": "expectation",
        "x_1": "the known coordinate",
        "x_2": "the coordinate to fill in",
        r"\rho": "correlation of the two",
    },
    state=State,
    scenes={
        "Inpainting": Scene(
            "The dark pixels are known and put back at every t; the denoiser fills the hole (orange).",
            State(model=MNIST, r=5, digit28="2", missing28="middle", step=7),
        ),
        "Replacement": Scene(
            "With one pass a level fewer completions are classified as the whole digit is.", State(r=1)
        ),
        "RePaint": Scene(
            "With ten passes a level (RePaint) the completions fit the known pixels more often.", State()
        ),
        "Lower half": Scene(
            "Several classes share this upper half, and the completions show more than one class.",
            State(missing="lower", digit="3"),
        ),
        "Checkerboard": Scene(
            "Every second pixel is known: most completions are classified as the whole digit is.",
            State(missing="dots"),
        ),
        "Unconditional": Scene(
            "All pixels are missing: the completions are samples of the model, of many classes.",
            State(missing="all", r=1),
        ),
        "Biased mean": Scene(
            "With one pass, replacement gives x₂ the mean 0.496, where 0.8 is exact.",
            State(view=GAUSSIAN, passes=1),
        ),
        "RePaint's bias": Scene(
            "With fifty passes a level the mean of x₂ is 0.793, where 0.8 is exact.",
            State(view=GAUSSIAN, passes=50),
        ),
        "Uncorrelated": Scene(
            "At ρ = 0 the known x₁ says nothing of x₂, and replacement is exact.",
            State(view=GAUSSIAN, rho=0.0, passes=1),
        ),
    },
    was={
        1: "RePaint",
        2: "Replacement",
        3: "Lower half",
        4: "Checkerboard",
        5: "Unconditional",
        6: "Unconditional",
        "A hole": "RePaint",
        "Replacement alone": "Replacement",
        "Bottom half": "Lower half",
        "Every second pixel": "Checkerboard",
        "Nothing known": "Unconditional",
        "Nothing missing": "Unconditional",
        "A wrong mean": "Biased mean",
        "Resampled": "RePaint's bias",
        "Independent": "Uncorrelated",
        "Lower half missing": "Lower half",
        "Unconditional samples": "Unconditional",
        "Bias after RePaint": "RePaint's bias",
        "Checkerboard mask": "Checkerboard",
        "No correlation": "Uncorrelated",
    },
)
