"""Inversion: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Inversion",
    idea="Search for the code whose picture is yours; then change the code.",
    place=220,
    minutes=5,
    words="GAN inversion; latent optimization; image editing; pivotal tuning; W+",
    references=(
        (
            "Zhu et al. 2016, arXiv:1609.03552; Abdal et al. 2019 (W+), arXiv:1904.03189; "
            "Roich et al. 2021 (pivotal tuning), arXiv:2106.05744"
        ),
        "[UDL] §15 notes",
    ),
    machine="gan",
)
