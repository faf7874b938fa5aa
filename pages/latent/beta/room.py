"""β: what the room is."""

from lab.room import Room

ROOM = Room(
    title="β",
    idea="Set the price of a nat of code: a low one buys sharp digits, a high one buys none.",
    place=190,
    minutes=2,
    words="beta-VAE; rate-distortion; KL weight; posterior collapse; free bits",
    references=(
        "Higgins et al. 2017, β-VAE: Learning Basic Visual Concepts with a Constrained Variational Framework",
        "Alemi et al. 2018, Fixing a Broken ELBO, arXiv:1711.00464",
        "[UDL] §17.8.4",
    ),
    machine="vae",
)
