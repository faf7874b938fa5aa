"""Traversal: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Traversal",
    idea="Change one number of a digit's code, and see what it holds.",
    place=150,
    minutes=2,
    words="latent traversal; disentanglement; factors of variation",
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
        "Higgins et al. 2017, β-VAE",
    ),
    lenses=("latent",),
    machine="vae",
)
