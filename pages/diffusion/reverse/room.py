"""From noise to data: what the room is."""

from lab.room import Room

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
)
