"""Property table: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Room, Scene

MODELS = {
    "GAN": "dcgan-digits", "VAE": "vae-digits", "flow": "glow-digits", "diffusion": "ddpm-digits",
    "autoregressive": "pixelcnn-digits",
}  # fmt: skip
CRITERIA = ("fast sampling", "quality", "coverage", "smooth latent", "disentangled", "likelihood")


@dataclass(frozen=True, kw_only=True)
class State:
    family: Annotated[str, Choice("Family", tuple(MODELS), as_list=True)] = "GAN"
    criterion: Annotated[str, Choice("Criterion", CRITERIA, as_list=True)] = "coverage"
    dcgan: Fixed = MODELS["GAN"]
    vae: Fixed = MODELS["VAE"]
    glow: Fixed = MODELS["flow"]
    ddpm: Fixed = MODELS["diffusion"]
    pixelcnn: Fixed = MODELS["autoregressive"]


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
        "Coverage of a GAN": Scene(
            "GANs are said to miss modes; on 8 × 8 digits its recall is above nine tenths of real digits'.",
            State(family="GAN", criterion="coverage"),
        ),
        "Quality of a flow": Scene(
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
        "Likelihood of diffusion": Scene(
            "Said to have only a bound; the probability-flow ODE of the same network gives log p(x).",
            State(family="diffusion", criterion="likelihood"),
        ),
        "Exact likelihood": Scene(
            "Not in the textbook's table: an autoregressive model gives log p(x) exactly.",
            State(family="autoregressive", criterion="likelihood"),
        ),
    },
    was={
        "Slow": "Cost of diffusion",
        "Its likelihood": "Likelihood of diffusion",
        "A density": "Exact likelihood",
    },
)
