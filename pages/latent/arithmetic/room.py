"""Arithmetic: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Arithmetic",
    idea="The difference of two classes' mean codes is a direction: add it to any digit.",
    place=160,
    minutes=4,
    words="latent arithmetic; attribute vector; vector arithmetic; smile vector",
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
        "White 2016, Sampling Generative Networks, arXiv:1609.04468",
    ),
    lenses=("latent",),
    machine="vae",
)
