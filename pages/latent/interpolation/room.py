"""Interpolation: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Interpolation",
    idea="Walk from one digit's code to another's, and decode on the way.",
    place=140,
    minutes=3,
    words="latent interpolation; slerp; spherical interpolation; linear interpolation",
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
        "White 2016, Sampling Generative Networks, arXiv:1609.04468",
    ),
    lenses=("latent",),
    machine="vae",
)
