"""Toy GAN: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Toy GAN",
    idea="One number is learned, θ, by fooling a judge that learns as well.",
    place=10,
    minutes=4,
    words=(
        "generative adversarial network; GAN; Dirac GAN; minimax; two-player game; generator; "
        "discriminator; Nash equilibrium; oscillation; convergence; R1 penalty"
    ),
    references=(
        "Goodfellow et al. 2014, Generative adversarial nets, arXiv:1406.2661",
        "Mescheder et al. 2018, Which training methods for GANs do actually converge?, arXiv:1801.04406",
        "[UDL] §15.1, fig. 15.1",
    ),
    machine="gan",
)
