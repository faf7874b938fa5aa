"""Property table: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Model, Room, Scene

MODELS = {
    "GAN": "dcgan-digits", "VAE": "vae-digits", "flow": "glow-digits", "diffusion": "ddpm-digits",
    "autoregressive": "pixelcnn-digits",
}  # fmt: skip
CRITERIA = ("fast sampling", "quality", "coverage", "smooth latent", "disentangled", "likelihood")


@dataclass(frozen=True, kw_only=True)
class State:
    family: Annotated[str, Choice("Family", tuple(MODELS), as_list=True)] = "GAN"
    criterion: Annotated[str, Choice("Promise", CRITERIA, as_list=True)] = "coverage"
    dcgan: Annotated[str, Model("GAN", (MODELS["GAN"],), when=False)] = MODELS["GAN"]
    vae: Annotated[str, Model("VAE", (MODELS["VAE"],), when=False)] = MODELS["VAE"]
    glow: Annotated[str, Model("Flow", (MODELS["flow"],), when=False)] = MODELS["flow"]
    ddpm: Annotated[str, Model("Diffusion", (MODELS["diffusion"],), when=False)] = MODELS["diffusion"]
    pixelcnn: Annotated[str, Model("Autoregressive", (MODELS["autoregressive"],), when=False)] = MODELS[
        "autoregressive"
    ]


ROOM = Room(
    title="Property table",
    idea="No family keeps all six promises: what the text says of each, and what was measured.",
    place=230,
    minutes=2,
    words="comparison of models; trilemma; generative model properties; mode coverage",
    references=(
        "[UDL] §14.2, fig. 14.3; §16.5 and 17 (diffusion: a bound, though its ODE has an exact likelihood)",
    ),
    state=State,
    scenes={
        "Coverage of a GAN": Scene(
            "Said to miss modes; on small digits its recall reaches the floor.",
            State(family="GAN", criterion="coverage"),
        ),
        "Quality of a flow": Scene(
            "Said to be poor: the precision of a Glow against held-out digits.",
            State(family="flow", criterion="quality"),
        ),
        "Slow": Scene(
            "Diffusion asks its network many times for one sample.",
            State(family="diffusion", criterion="fast sampling"),
        ),
        "Codes of diffusion": Scene(
            "DDIM makes the noise a code: how long is its longest step?",
            State(family="diffusion", criterion="smooth latent"),
        ),
        "Its likelihood": Scene(
            "Said to have a bound only; the same network's ODE has log p itself.",
            State(family="diffusion", criterion="likelihood"),
        ),
        "A density": Scene(
            "Not in the text's table: an autoregressive model gives log p(x) itself.",
            State(family="autoregressive", criterion="likelihood"),
        ),
    },
)
