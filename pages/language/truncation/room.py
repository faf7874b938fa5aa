"""Truncation: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Truncation",
    idea="Temperature bends the next token's distribution; cuts end its tail.",
    place=150,
    minutes=6,
    words="nucleus sampling; top-p; top-k; temperature; min-p; decoding; softmax",
    references=(
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
        "Nguyen et al. 2024, Turning up the heat: min-p sampling, arXiv:2407.01082",
    ),
    lenses=("sampling",),
    machine="transformer",
)
