"""From noise to data: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider

DDIM = "DDIM"


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[str, Model("Model", ("ddpm-eight",), when=False)] = "ddpm-eight"
    source: Annotated[str, Choice("Denoiser", ("network", "exact"))] = "network"
    sampler: Annotated[str, Choice("Sampler", (DDIM, "Heun", "DPM++", "corrected"))] = DDIM
    S: Annotated[int, Choice("Steps S", (5, 10, 40, 100))] = 40
    eta: Annotated[float, Slider("Noise η", 0.0, 1.0, step=0.25, disabled=lambda s: s.sampler != DDIM)] = 0.0
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    step: Annotated[int | None, Frame("Step", seconds=0.15)] = None

    @property
    def noise(self) -> float:
        """η, which DDIM alone has."""
        return self.eta if self.sampler == DDIM else 0.0


ROOM = Room(
    title="From noise to data",
    idea="A round cloud walks back, step by step, to eight Gaussians.",
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
        "Network": Scene(
            "The trained network takes nearly every point to one of the eight circles.", State()
        ),
        "Exact": Scene("With the exact score what is missed is the solver's alone.", State(source="exact")),
        "Five steps": Scene(
            "In five steps even the exact score misses: the solver is at fault.", State(source="exact", S=5)
        ),
        "Noisy": Scene("With η = 1 paths jitter, and the end is as good.", State(eta=1.0, S=100)),
        "Heun": Scene(
            "Heun asks twice a step: after 40 steps more points are home than with DDIM.",
            State(sampler="Heun"),
        ),
        "Corrected": Scene(
            "Ten noisy hops, each mended by a Langevin step: more come home than without.",
            State(sampler="corrected", S=10),
        ),
        "Half-way": Scene("Half-way the cloud is still nearly round: shape comes late.", State(step=20)),
    },
)
