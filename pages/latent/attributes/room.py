"""Attribute grid: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Attribute grid",
    idea="Two attributes, two directions of code space: does each act alone?",
    place=280,
    minutes=6,
    words="attribute vector; attribute manipulation; conditional generation",
    references=(
        "White 2016, Sampling Generative Networks, arXiv:1609.04468",
        "Larsen et al. 2016, Autoencoding beyond Pixels, arXiv:1512.09300",
        "[UDL] §17.8.3",
    ),
    lenses=("latent",),
    machine="vae",
)
