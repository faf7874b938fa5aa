"""All strategies: what the room is."""

from lab.room import Room

ROOM = Room(
    title="All strategies",
    idea="Nine strategies and people: who repeats, who invents words?",
    place=190,
    minutes=4,
    words="text degeneration; repetition; nucleus sampling; decoding",
    references=(
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
        "Nguyen et al. 2024, Turning up the heat: min-p sampling, arXiv:2407.01082",
    ),
    lenses=("sampling",),
)
