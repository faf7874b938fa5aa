"""Diffusion as a VAE: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Model, Room, Scene

MODELS = DIGITS, MNIST = "ddpm-digits", "ddpm-mnist"
VIEWS = DIGIT, GAUSSIAN = "a digit", "a Gaussian"
VARIANCES = BEST, BETA, POSTERIOR = "best", "beta", "posterior"
STEPS = 10, 20, 50, 100, 250
PICTURES = (*map(str, range(10)), "blank", "random greys")


def of_digit(state: Any) -> bool:
    return bool(state.of == DIGIT)


@dataclass(frozen=True, kw_only=True)
class State:
    vae: Fixed = "vae-digits"
    vae28: Fixed = "vae-mnist"
    of: Annotated[str, Choice("Data", VIEWS)] = DIGIT
    model: Annotated[str, Model("Model", MODELS, when=of_digit)] = DIGITS
    variance: Annotated[str, Choice("σ²", VARIANCES)] = BEST
    image: Annotated[str, Choice("Picture", PICTURES, as_list=True, when=of_digit)] = "3"
    T: Annotated[int, Frame("T =", STEPS, seconds=1.0)] = 50


ROOM = Room(
    title="Diffusion as a VAE",
    idea="A diffusion model is a deep VAE: codes as large as the data, and an encoder that is not trained.",
    place=50,
    minutes=3,
    words="hierarchical VAE; ELBO; variational diffusion; posterior collapse; ladder",
    references=(
        "Sohl-Dickstein et al. 2015, arXiv:1503.03585; Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "Kingma et al. 2021, arXiv:2107.00630 (the chain as an infinitely deep VAE)",
        "[GM] §3.1.1; [UDL] §17: VAEs, and hierarchies of codes",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("latent",),
    machine="diffusion",
    state=State,
    scenes={
        "Chain and VAE": Scene(
            "Above, the fixed encoder adds noise to a 3; below, the learned decoder draws from the same x_T.",
            State(model=MNIST, variance=BETA),
        ),
        "Ten steps": Scene(
            "With T = 10 each step must remove much noise: the chain needs more bits than the VAE.",
            State(T=10),
        ),
        "250 steps": Scene(
            "With T = 250 nearly all bits of the chain are in its codes; most of the VAE's are in L₀.",
            State(T=250),
        ),
        "Out of distribution": Scene(
            "On a blank picture, unlike all training data, the VAE's bound is far larger.",
            State(image="blank"),
        ),
        "σ² = β̃": Scene(
            "The smallest of the three σ² gives the largest bound: no room for the network's error.",
            State(variance=POSTERIOR),
        ),
        "Tight bound": Scene(
            "Gaussian data, best σ²: the bound exceeds the entropy only by KL(q(x_T) ‖ N(0, 1)).",
            State(of=GAUSSIAN, T=100),
        ),
        "σ² = β, Gaussian data": Scene(
            "With σ² = β a gap to the entropy is left; ten times the steps leave a tenth of it.",
            State(of=GAUSSIAN, variance=BETA, T=100),
        ),
        "σ² = β̃, Gaussian data": Scene(
            "With σ² = β̃ the gap is over half a nat at every T in the chart.",
            State(of=GAUSSIAN, variance=POSTERIOR, T=250),
        ),
    },
    was={
        "Two ladders": "Chain and VAE",
        "Ten rungs": "Ten steps",
        "250 rungs": "250 steps",
        "Blank paper": "Out of distribution",
        "No gap": "Tight bound",
        "σ² = β, Gaussian": "σ² = β, Gaussian data",
        "σ² = β̃, Gaussian": "σ² = β̃, Gaussian data",
    },
)
