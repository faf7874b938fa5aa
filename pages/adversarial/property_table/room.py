"""Property table: what the room is, what its controls hold, its scenes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Room, Scene

MODELS = {
    "GAN": "dcgan-digits", "VAE": "vae-digits", "flow": "glow-digits", "diffusion": "ddpm-digits",
    "autoregressive": "pixelcnn-digits",
}  # fmt: skip
LARGE = {
    "GAN": "dcgan-mnist", "VAE": "vae-mnist", "flow": "glow-mnist", "diffusion": "ddpm-mnist",
    "autoregressive": "pixelcnn-mnist",
}  # fmt: skip
SIZES = SMALL, MNIST = "8 × 8", "28 × 28"
CRITERIA = ("fast sampling", "quality", "coverage", "smooth latent", "disentangled", "likelihood")


@dataclass(frozen=True, kw_only=True)
class State:
    family: Annotated[str, Choice("Family", tuple(MODELS), as_list=True)] = "GAN"
    criterion: Annotated[str, Choice("Criterion", CRITERIA, as_list=True)] = "coverage"
    digits: Annotated[str, Choice("Digits", SIZES)] = SMALL
    dcgan: Fixed = MODELS["GAN"]
    vae: Fixed = MODELS["VAE"]
    glow: Fixed = MODELS["flow"]
    ddpm: Fixed = MODELS["diffusion"]
    pixelcnn: Fixed = MODELS["autoregressive"]

    @property
    def models(self) -> Mapping[str, str]:
        """Family -> model."""
        return LARGE if self.digits == MNIST else MODELS


ROOM = Room(
    title="Property table",
    idea="No family meets all six criteria: the verdict of the textbook beside what was measured.",
    place=230,
    minutes=2,
    words="comparison of models; trilemma; generative model properties; mode coverage",
    references=(
        "[UDL] §14.2, fig. 14.3; §16.5 and 17 (diffusion: a bound, though its ODE has an exact likelihood)",
    ),
    state=State,
    scenes={
        "Mode coverage": Scene(
            "GANs are said to miss modes; the recall of DCGAN is above nine tenths of that of real digits.",
            State(family="GAN", criterion="coverage", digits=MNIST),
        ),
        "Coverage of a GAN": Scene(
            "GANs are said to miss modes; on 8 × 8 digits its recall is above nine tenths of real digits'.",
            State(family="GAN", criterion="coverage"),
        ),
        "Flow quality": Scene(
            "Flows are said to sample poorly: the cell has Glow's precision against held-out digits.",
            State(family="flow", criterion="quality"),
        ),
        "Cost of diffusion": Scene(
            "Diffusion evaluates its network many times: one sample costs over 100 times a GAN's.",
            State(family="diffusion", criterion="fast sampling"),
        ),
        "Codes of diffusion": Scene(
            "DDIM makes the noise a latent code, whose longest step is over 3 times the mean step.",
            State(family="diffusion", criterion="smooth latent"),
        ),
        "ODE likelihood": Scene(
            "Said to have only a bound; the probability-flow ODE of the same network gives log p(x).",
            State(family="diffusion", criterion="likelihood"),
        ),
        "Exact likelihood": Scene(
            "Not in the textbook's table: an autoregressive model gives log p(x) exactly.",
            State(family="autoregressive", criterion="likelihood"),
        ),
    },
    was={
        1: "Coverage of a GAN",
        2: "Flow quality",
        3: "Cost of diffusion",
        4: "Codes of diffusion",
        5: "ODE likelihood",
        6: "Exact likelihood",
        "Quality of a flow": "Flow quality",
        "Slow": "Cost of diffusion",
        "Its likelihood": "ODE likelihood",
        "Likelihood of diffusion": "ODE likelihood",
        "A density": "Exact likelihood",
    },
)
