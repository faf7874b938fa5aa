"""Mixing digits: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Mixing digits",
    idea="Mix two digits in z and something like a digit stands between them.",
    place=180,
    minutes=4,
    words="latent interpolation; Glow; face mixing; slerp; spherical interpolation",
    references=(
        "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
        "[UDL] §16.5.2, §17.8.3",
    ),
    lenses=("latent",),
    machine="flow",
)
