"""Four views of one prediction: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

SOURCES = EXACT, NETWORK, DIGIT = "eight modes, exact", "eight modes, network", "digit, network"
NAMES = "ε̂", "x̂₀", "v̂", "score"


def drawn(state: Any) -> bool:
    return bool(state.source == DIGIT)


def placed(state: Any) -> bool:
    return not drawn(state)


@dataclass(frozen=True, kw_only=True)
class State:
    eight: Annotated[str, Model("Eight modes", ("ddpm-eight",), when=False)] = "ddpm-eight"
    source: Annotated[str, Choice("Of", SOURCES, as_list=True)] = EXACT
    drawing: Annotated[
        str | None, Drawing("Your digit", 8, late("lab.lenses.diffusion", "digits"), when=drawn)
    ] = None
    seed: Annotated[int, Number("Seed of the noise", 0, 9999, when=drawn)] = 0
    x1: Annotated[float, Number("xₜ, first", -2.0, 2.0, step=0.1, when=placed)] = 1.2
    x2: Annotated[float, Number("xₜ, second", -2.0, 2.0, step=0.1, when=placed)] = 0.3
    off: Annotated[float, Slider("Error added", 0.0, 0.5, step=0.05)] = 0.0
    kind: Annotated[str, Choice("to", NAMES)] = NAMES[0]
    seen: Annotated[str, Choice("Its size in", ("x̂₀", "ε̂"))] = "x̂₀"
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
    idea="Noise, data, velocity, score: each tells the other three.",
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
        "One prediction": Scene("Four arrows from one answer: any of them gives the other three.", State()),
        "Near the data": Scene(
            "At t = 1 the score is a hundred times ε̂; v̂ all but lies on ε̂.", State(t=1, x1=1.5, x2=0.3)
        ),
        "Near noise": Scene("At t = T the noise is xₜ itself, and x̂₀ the mean of all data.", State(t=1000)),
        "A network": Scene("A network at the same place: nearly the exact arrows.", State(source=NETWORK)),
        "Its x̂₀ at T": Scene(
            "At t = T the network's ε̂ is slightly off, its x̂₀ far: √ᾱ divides it.",
            State(source=NETWORK, t=1000),
        ),
        "A digit": Scene(
            "The same four as pictures: v̂ turns from noise into the digit's negative.",
            State(source=DIGIT, t=501),
        ),
        "Error in ε̂": Scene(
            "A slight error in ε̂ late in time: x̂₀ is lost, for √ᾱ divides it.",
            State(source=DIGIT, t=950, off=0.2),
        ),
        "Error in v̂": Scene(
            "The same error in v̂ instead: no division, and x̂₀ hardly shows it.",
            State(source=DIGIT, t=950, off=0.2, kind="v̂"),
        ),
        "Error in x̂₀": Scene(
            "Early in time it is x̂₀ whose error grows: ε̂ divides it by √(1−ᾱ).",
            State(source=DIGIT, t=26, off=0.2, kind="x̂₀", seen="ε̂"),
        ),
    },
)
