"""Toy GAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Slider

RATES = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)


@dataclass(frozen=True, kw_only=True)
class State:
    loss: Annotated[
        str, Choice("Loss", ("saturating", "non-saturating", "least squares", "Wasserstein"), as_list=True)
    ] = "non-saturating"
    start: Annotated[float, Slider("θ at first", -3.0, 12.0, step=0.5)] = 3.0
    real: Annotated[float, Slider("Mean of the data, μ", 0.0, 10.0, step=0.5)] = 7.5
    d_steps: Annotated[int, Slider("Turns of D a round", 1, 10)] = 5
    g_steps: Annotated[int, Slider("Turns of G a round", 1, 5)] = 1
    d_rate: Annotated[float, Choice("Rate of D", RATES, as_list=True)] = 0.1
    g_rate: Annotated[float, Choice("Rate of G", RATES, as_list=True)] = 0.2
    batch: Annotated[int, Choice("Batch", (2, 10, 100))] = 10
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    step: Annotated[int, Frame("Round", seconds=0.06)] = 20


ROOM = Room(
    title="Toy GAN",
    idea="One number is learned, θ, by fooling a judge that learns as well.",
    place=10,
    minutes=4,
    words="generative adversarial network; GAN; Dirac GAN; minimax; two-player game; generator; "
    "discriminator; Nash equilibrium; oscillation; convergence; R1 penalty",
    references=(
        "Goodfellow et al. 2014, Generative adversarial nets, arXiv:1406.2661",
        "Mescheder et al. 2018, Which training methods for GANs do actually converge?, arXiv:1801.04406",
        "[UDL] §15.1, fig. 15.1",
    ),
    machine="gan",
    state=State,
    scenes={
        "Before": Scene(
            "Made examples lie left of the real ones; the judge knows nothing, ½ everywhere.", State(step=0)
        ),
        "Judged": Scene(
            "After twenty rounds the judge tells them apart: its curve rises to the right.", State(step=20)
        ),
        "There": Scene(
            "Where made and real lie together, the judge's curve is nearly flat.", State(start=7.5, step=1)
        ),
        "Too far": Scene(
            "From −3 on the saturating loss hardly moves: the judge is too sure.",
            State(loss="saturating", start=-3.0, d_steps=10, d_rate=0.5, step=160),
        ),
        "The cure": Scene(
            "The same judge, the other loss: made examples reach the real ones.",
            State(start=-3.0, d_steps=10, d_rate=0.5, step=160),
        ),
        "Circles": Scene(
            "A critic with no bound on its slope: θ swings about the mean and never rests.",
            State(loss="Wasserstein", step=160),
        ),
        "Runs away": Scene(
            "Squares at these rates: every step overshoots more than the one before.",
            State(loss="least squares", g_rate=2, step=160),
        ),
        "Slow judge": Scene(
            "One turn each, a slow judge: θ goes past the mean before the judge turns.",
            State(d_steps=1, d_rate=0.05, g_rate=0.5, step=160),
        ),
    },
)
