"""Optimal discriminator: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Optimal discriminator",
    idea="The best D is p/(p + q), and its loss measures how far q is from p.",
    place=20,
    minutes=6,
    words=(
        "optimal discriminator; density ratio; Jensen-Shannon; minimax; Bayes classifier; binary "
        "cross-entropy"
    ),
    references=(
        "Goodfellow et al. 2014, Generative adversarial networks, arXiv:1406.2661",
        "[UDL] §15.2.1, eqs 15.6–15.9",
    ),
)
