"""From noise to data: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Slider

DDIM = "DDIM"


@dataclass(frozen=True, kw_only=True)
class State:
    model: Fixed = "ddpm-eight"
    source: Annotated[str, Choice("Denoiser", ("network", "exact"))] = "network"
    sampler: Annotated[str, Choice("Sampler", (DDIM, "Heun", "DPM++", "corrected"))] = DDIM
    S: Annotated[int, Choice("Steps S", (5, 10, 40, 100))] = 40
    eta: Annotated[float, Slider("Noise η", 0.0, 1.0, step=0.25, disabled=lambda s: s.sampler != DDIM)] = 0.0
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int | None, Frame("t =", seconds=0.15)] = None

    @property
    def noise(self) -> float:
        """η, which DDIM alone has."""
        return self.eta if self.sampler == DDIM else 0.0


ROOM = Room(
    title="From noise to data",
    idea="The sampler moves Gaussian noise step by step to the data, here eight Gaussians in the plane.",
    place=40,
    minutes=4,
    words="DDPM; DDIM; DPM-Solver; Heun; sampler; reverse process; ancestral sampling; probability flow",
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "Song, Meng, Ermon 2021, arXiv:2010.02502 (DDIM)",
        "Karras et al. 2022, arXiv:2206.00364 (Heun); Lu et al. 2022, arXiv:2211.01095 (DPM-Solver++)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
    state=State,
    scenes={
        "Modes form": Scene(
            "Late in sampling the cloud splits into eight modes; the lines are paths of single points.",
            State(step=34),
        ),
        "Half-way": Scene("Half-way the cloud is still nearly round: the modes form late.", State(step=20)),
        "Trained network": Scene(
            "At t = 0 the trained network has taken nearly every point to one of the eight circles.", State()
        ),
        "Exact score": Scene(
            "With the exact score only the solver's error is left: compare the bars with the dashed line.",
            State(source="exact"),
        ),
        "Discretisation error": Scene(
            "In five steps even the exact score misses the modes: the error is the solver's.",
            State(source="exact", S=5),
        ),
        "Stochastic sampling": Scene(
            "With η = 1 the paths are jagged, and about as many points end near a mode as with η = 0.",
            State(eta=1.0, S=100),
        ),
        "Heun": Scene(
            "Heun's method calls the network twice a step: more points end near a mode than with DDIM.",
            State(sampler="Heun"),
        ),
        "Predictor-corrector": Scene(
            "Ten steps, each followed by a Langevin step: about as many points end near a mode as without.",
            State(sampler="corrected", S=10),
        ),
    },
    was={
        1: "Trained network",
        2: "Exact score",
        3: "Discretisation error",
        4: "Stochastic sampling",
        5: "Heun",
        6: "Predictor-corrector",
        7: "Half-way",
        "Network": "Trained network",
        "Exact": "Exact score",
        "Five steps": "Discretisation error",
        "Noisy": "Stochastic sampling",
        "Corrected": "Predictor-corrector",
    },
)
