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
    d_steps: Annotated[int, Slider("Steps of D a round", 1, 10)] = 5
    g_steps: Annotated[int, Slider("Steps of G a round", 1, 5)] = 1
    d_rate: Annotated[float, Choice("Learning rate of D", RATES, as_list=True)] = 0.1
    g_rate: Annotated[float, Choice("Learning rate of G", RATES, as_list=True)] = 0.2
    batch: Annotated[int, Choice("Batch size", (2, 10, 100))] = 10
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    step: Annotated[int, Frame("Round", seconds=0.06)] = 20


ROOM = Room(
    title="Toy GAN",
    idea="The generator has one parameter, θ; the discriminator is a logistic regression.",
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
    was={
        1: "Before training",
        2: "D after 20 rounds",
        "Before": "Before training",
        "Judged": "D after 20 rounds",
        "There": "Equilibrium",
        "Too far": "Saturating",
        "The cure": "Non-saturating",
        "Circles": "Oscillation",
        "Runs away": "Divergence",
        "Slow judge": "Slow D",
    },
    scenes={
        "D after 20 rounds": Scene(
            "D rises from the made examples to the real ones; G moves θ along its slope.",
            State(step=20),
        ),
        "Before training": Scene(
            "The made examples lie left of the real ones; D has not learned yet, and is ½ everywhere.",
            State(step=0),
        ),
        "Equilibrium": Scene(
            "Where both agree D* is nearly ½ everywhere; what slope D has is noise of its few examples.",
            State(start=7.5, step=1),
        ),
        "Saturating": Scene(
            "From θ = −3 the saturating loss hardly moves θ: D is sure of every made example.",
            State(loss="saturating", start=-3.0, d_steps=10, d_rate=0.5, step=160),
        ),
        "Non-saturating": Scene(
            "With the same D the non-saturating loss brings the made examples to the real ones.",
            State(start=-3.0, d_steps=10, d_rate=0.5, step=160),
        ),
        "Oscillation": Scene(
            "Without a bound on the slope of the critic θ oscillates about the mean and does not converge.",
            State(loss="Wasserstein", step=160),
        ),
        "Divergence": Scene(
            "With least squares each step of D at this rate overshoots more than the last: θ diverges.",
            State(loss="least squares", g_rate=2, step=160),
        ),
        "Slow D": Scene(
            "With one step a round at a small rate D lags behind: θ passes the mean before its slope turns.",
            State(d_steps=1, d_rate=0.05, g_rate=0.5, step=160),
        ),
    },
)
