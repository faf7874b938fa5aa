"""Diffusion as a VAE: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Room, Scene

VIEWS = DIGIT, GAUSSIAN = "a digit", "a Gaussian"
VARIANCES = BEST, BETA, POSTERIOR = "best", "beta", "posterior"
STEPS = 10, 20, 50, 100, 250
PICTURES = (*map(str, range(10)), "blank", "random greys")


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Diffusion", ("ddpm-digits",), when=False)] = "ddpm-digits"
    vae: Annotated[str, Model("VAE", ("vae-digits",), when=False)] = "vae-digits"
    of: Annotated[str, Choice("Data", VIEWS)] = DIGIT
    variance: Annotated[str, Choice("σ²", VARIANCES)] = BEST
    image: Annotated[str, Choice("Picture", PICTURES, as_list=True, when=lambda s: s.of == DIGIT)] = "3"
    T: Annotated[int, Frame("T =", STEPS, seconds=1.0)] = 50


ROOM = Room(
    title="Diffusion as a VAE",
    idea="Codes as large as the data, an encoder that never learns: one bound.",
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
        "Two ladders": Scene(
            "One digit, two ways to code it: 50 codes of 64 numbers, or one of ten.", State()
        ),
        "Ten rungs": Scene(
            "With ten rungs each step must undo much noise: more bits than the VAE.", State(T=10)
        ),
        "250 rungs": Scene(
            "With 250 rungs the codes say nearly all; the VAE says most after its code.", State(T=250)
        ),
        "Blank paper": Scene(
            "On blank paper, which neither has learned, the VAE's bound is far worse.", State(image="blank")
        ),
        "σ² = β̃": Scene(
            "The smallest σ² of the three is the dearest: no room for the network's error.",
            State(variance=POSTERIOR),
        ),
        "No gap": Scene(
            "All Gaussian, best σ²: the bound is the entropy and what N(0, 1) misses at T.",
            State(of=GAUSSIAN, T=100),
        ),
        "σ² = β, Gaussian": Scene(
            "With σ² = β a gap is left; ten times the steps leave a tenth of it.",
            State(of=GAUSSIAN, variance=BETA, T=100),
        ),
        "σ² = β̃, Gaussian": Scene(
            "With β̃ the gap is over half a nat at every T here.",
            State(of=GAUSSIAN, variance=POSTERIOR, T=250),
        ),
    },
)
