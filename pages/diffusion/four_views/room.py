"""Four views of one prediction: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Fixed, Frame, Model, Number, Room, Scene, Slider, late

SOURCES = EXACT, NETWORK, DIGIT = "eight modes, exact", "eight modes, network", "digit, network"
NAMES = "ε̂", "x̂₀", "v̂", "score"


def drawn(state: Any) -> bool:
    return bool(state.source == DIGIT)


def placed(state: Any) -> bool:
    return not drawn(state)


@dataclass(frozen=True, kw_only=True)
class State:
    eight: Fixed = "ddpm-eight"
    source: Annotated[str, Choice("Data", SOURCES, as_list=True)] = EXACT
    drawing: Annotated[
        str | None, Drawing("Your digit", 8, late("lab.lenses.diffusion", "digits"), when=drawn)
    ] = None
    seed: Annotated[int, Number("Seed of the noise", 0, 9999, when=drawn)] = 0
    x1: Annotated[float, Number("First number of xₜ", -2.0, 2.0, step=0.1, when=placed)] = 1.2
    x2: Annotated[float, Number("Second number of xₜ", -2.0, 2.0, step=0.1, when=placed)] = 0.3
    off: Annotated[float, Slider("Error", 0.0, 0.5, step=0.05)] = 0.0
    kind: Annotated[str, Choice("Error in", NAMES)] = NAMES[0]
    seen: Annotated[str, Choice("Measured in", ("x̂₀", "ε̂"))] = "x̂₀"
    t: Annotated[int, Frame("t =", seconds=0.25)] = 101

    @property
    def model(self) -> Annotated[str, Model("Denoiser")]:
        return "ddpm-digits" if self.source == DIGIT else self.eight

    @property
    def place(self) -> tuple[float, float]:
        """xₜ in the plane."""
        return (0.0, 0.0) if self.source == DIGIT else (self.x1, self.x2)


ROOM = Room(
    title="Four views of one prediction",
    idea="ε̂, x̂₀, v̂ and the score are one prediction: each can be computed from any other.",
    place=70,
    minutes=5,
    words=(
        "epsilon prediction; v-prediction; noise prediction; score; x0 prediction; Tweedie; "
        "parameterization; parameterisation"
    ),
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (ε)",
        "Salimans & Ho 2022, arXiv:2202.00512 (v, and x₀ at high noise)",
        "Song et al. 2021, arXiv:2011.13456 (score)",
        "[BB] 5: Gaussian conditioning",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    machine="diffusion",
    state=State,
    scenes={
        "One prediction": Scene(
            "Four arrows, one prediction: ε̂, x̂₀, v̂ and the score at xₜ; each determines the others.", State()
        ),
        "Low noise": Scene(
            "At t = 1 the score is a hundred times as long as ε̂, and v̂ almost equals ε̂.",
            State(t=1, x1=1.5, x2=0.3),
        ),
        "Pure noise": Scene(
            "At t = T the noise ε̂ is xₜ itself, and x̂₀ is the mean of all data.", State(t=1000)
        ),
        "Network": Scene(
            "A trained network at the same xₜ predicts nearly the exact arrows.", State(source=NETWORK)
        ),
        "x̂₀ at t = T": Scene(
            "At t = T the network's ε̂ is nearly right, but its x̂₀ is far off: √ᾱ divides the error.",
            State(source=NETWORK, t=1000),
        ),
        "As pictures": Scene(
            "The same four for a digit: as t rises, v̂ goes from the noise to the negative of the digit.",
            State(source=DIGIT, t=501),
        ),
        "Error in ε̂": Scene(
            "At t = 950 a small error in ε̂ destroys x̂₀, because √ᾱ divides it.",
            State(source=DIGIT, t=950, off=0.2),
        ),
        "Error in v̂": Scene(
            "The same error in v̂ hardly changes x̂₀: nothing is divided.",
            State(source=DIGIT, t=950, off=0.2, kind="v̂"),
        ),
        "Error in x̂₀": Scene(
            "At small t an error in x̂₀ is amplified in ε̂, because √(1−ᾱ) divides it.",
            State(source=DIGIT, t=26, off=0.2, kind="x̂₀", seen="ε̂"),
        ),
    },
    was={
        "Near the data": "Low noise",
        "Near noise": "Pure noise",
        "A network": "Network",
        "Its x̂₀ at T": "x̂₀ at t = T",
        "A digit": "As pictures",
    },
)
