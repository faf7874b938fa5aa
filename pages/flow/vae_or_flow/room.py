"""Two philosophies: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Two philosophies",
    idea="Bound it and stay free, or be exact and invert: one digit, two models.",
    place=210,
    minutes=2,
    words="VAE versus flow; exact likelihood; comparison of models",
    references=(
        "Kingma, Welling 2014, Auto-encoding variational Bayes, arXiv:1312.6114",
        "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
        "[GM] §3.12.5; [UDL] §14.2",
    ),
    machine="flow",
)
