"""Bound, term by term: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Frame, Model, Number, Room, Scene, Toggle, late

DDPM, BOUND, MNIST = "ddpm-digits", "vlb-digits", "ddpm-mnist"
BESIDE = VARIANCE, MODELS = "other σ²", "other models"
LEARNED = "learned"  # of a network that says σ² too
PICTURES = (*map(str, range(10)), "blank", "random greys")


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str, Model("Model", family="diffusion", only=late("lens", "of_digits"), as_list=True)
    ] = DDPM
    image: Annotated[str, Choice("Picture", PICTURES, as_list=True)] = "3"
    variance: Annotated[str, Choice("σ²", late("lens", "kinds_of"))] = "beta"
    kind: Annotated[str, Choice("Schedule", ("cosine", "linear"))] = "cosine"
    T: Annotated[int, Choice("Steps T", (10, 50, 100, 250, 1000))] = 250
    beside: Annotated[str, Choice("Beside it", BESIDE)] = VARIANCE
    clip: Annotated[bool, Toggle("Clamp x̂₀ to [−1, 1]")] = False
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int, Frame("t =", seconds=0.2)] = 8
    usual: Fixed = DDPM
    on_the_bound: Fixed = BOUND


ROOM = Room(
    title="Bound, term by term",
    idea="The variational bound as a code length: the bits of a picture, spent step by step of the noise.",
    place=60,
    minutes=3,
    words="variational lower bound; ELBO; bits per dimension; VLB; improved DDPM; learned variance",
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (the terms, the discretised decoder)",
        "Nichol & Dhariwal 2021, arXiv:2102.09672; Kingma et al. 2021, arXiv:2107.00630",
        "Bao et al. 2022, arXiv:2201.06503 (best σ²)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    machine="diffusion",
    state=State,
    scenes={
        "Bits by t": Scene(
            "Most bits are spent at the smallest t, on detail that no eye sees; the noisy steps cost few.",
            State(model=MNIST, clip=True, step=0),
        ),
        "σ² = β̃": Scene(
            "With the posterior's variance β̃ the bound is larger: it leaves no room for the network's error.",
            State(variance="posterior"),
        ),
        "Fitted σ²": Scene(
            "A variance fitted to the network's error gives the lowest bound of the three.",
            State(variance="fitted"),
        ),
        "Ten steps": Scene(
            "With T = 10 nearly half of the bits are in the last term, L₀.", State(T=10, step=0)
        ),
        "Capped β": Scene(
            "The last β of the cosine schedule is capped at 0.999: there the error of ε̂ weighs 1,000 times.",
            State(step=40),
        ),
        "x̂₀ clamped": Scene(
            "With x̂₀ clamped to the range of greys, as samplers do, the term at T is small.",
            State(step=40, clip=True),
        ),
        "Linear": Scene(
            "The linear schedule has no such term at T, and needs fewer bits in all.",
            State(kind="linear", step=40),
        ),
        "Random greys": Scene(
            "Random greys cost several times as many bits as a digit.", State(image="random greys")
        ),
        "Trained on the bound": Scene(
            "Two networks on the same chain: the one trained on the bound needs fewer bits.",
            State(model=BOUND, kind="linear", T=100, variance=LEARNED, beside=MODELS),
        ),
    },
    was={
        "Last step": "Capped β",
        "Kept in range": "x̂₀ clamped",
        "No digit": "Random greys",
        "Trained on it": "Trained on the bound",
    },
)
