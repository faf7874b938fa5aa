"""Inpainting: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Inpainting",
    idea="Put the known pixels back at every step, and the model draws the rest.",
    place=110,
    minutes=6,
    words="inpainting; RePaint; image completion; conditional sampling; inverse problems",
    references=(
        "Song et al. 2021, arXiv:2011.13456 (replacement)",
        "Lugmayr et al. 2022, arXiv:2201.09865 (RePaint: resampling)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
)
