"""Likelihood of a GAN: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Slider


@dataclass(frozen=True, kw_only=True)
class State:
    x: Annotated[float, Slider("x₁", -4.0, 4.0, step=0.1)] = 1.8
    y: Annotated[float, Slider("x₂", -4.0, 4.0, step=0.1)] = 0.8
    sd: Annotated[float, Choice("Output noise s", (0.1, 0.2, 0.4))] = 0.2
    chains: Annotated[int, Choice("Chains", (8, 32, 128))] = 32
    count: Annotated[int, Choice("Number of temperatures", (1, 5, 20, 60))] = 20
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    model: Fixed = "gan-ring"
    rung: Annotated[int | None, Frame("β", seconds=0.2)] = None


ROOM = Room(
    title="Likelihood of a GAN",
    idea="With Gaussian noise on G(z), annealed importance sampling (AIS) estimates log p(x).",
    place=220,
    minutes=4,
    words="annealed importance sampling; AIS; likelihood of a decoder; Hamiltonian Monte Carlo; HMC; "
    "log-likelihood of a GAN",
    references=(
        "Neal 2001, arXiv:physics/9803008; Wu et al. 2017, arXiv:1611.04273 (of GANs and decoders)",
        "[UDL] §15 notes name the method",
    ),
    machine="gan",
    symbols={
        "Z": "normaliser at an inverse temperature: p(x) at 1",
        "dz": "integral over the noise",
        "p": "density of the latent noise",
    },
    state=State,
    scenes={
        "Annealed importance sampling": Scene(
            "AIS stays close to brute force as β rises; importance sampling alone misses by about 3 nats.",
            State(rung=10),
        ),
        "Importance sampling alone": Scene(
            "One temperature: the prior's draws do not move, and log p(x) is off by over 2 errors.",
            State(count=1),
        ),
        "On a mode": Scene(
            "Many draws lie near x already: AIS and plain importance sampling agree with brute force.",
            State(x=2.0, y=0.0, chains=128, count=60),
        ),
        "Outside all modes": Scene(
            "Far from every mode p(x) is tiny, and the annealed estimate still agrees with brute force.",
            State(x=3.0, y=3.0),
        ),
        "Missed mass": Scene(
            "Rare draws between modes carry p(x): no chain finds one, and the error bar does not show it.",
            State(x=0.0, y=0.0, count=60),
        ),
    },
    was={
        "Between modes": "Annealed importance sampling",
        "No ladder": "Importance sampling alone",
        "Far out": "Outside all modes",
        "The centre": "Missed mass",
    },
)
