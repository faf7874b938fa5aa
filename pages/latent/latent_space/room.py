"""Latent space: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Latent space",
    idea="Every digit gets a place in a small space, and every place is a digit.",
    place=130,
    minutes=6,
    words="variational autoencoder; VAE; latent space; encoder; decoder; manifold",
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
    ),
    lenses=("latent",),
    machine="vae",
)
