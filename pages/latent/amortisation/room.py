"""Local or amortised: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Local or amortised",
    idea="One encoder for all data, or an optimum for each: two gaps.",
    place=370,
    minutes=6,
    words=(
        "amortization gap; amortized inference; approximation gap; amortised inference; inference network; "
        "stochastic variational inference; SVI"
    ),
    references=(
        "Ranganath, Gerrish and Blei 2014, Black box variational inference, arXiv:1401.0118",
        "Cremer, Li and Duvenaud 2018, Inference suboptimality in variational autoencoders, arXiv:1801.03558",
        "[GM] §3.9 (which speaks of N pairs: they are 2kN numbers)",
    ),
    machine="vae",
)
