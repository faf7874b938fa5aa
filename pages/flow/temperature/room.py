"""Temperature: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Temperature",
    idea="Narrow the base and the samples get cleaner, and more and more alike.",
    place=170,
    minutes=2,
    words="temperature sampling; reduced temperature; truncation; Glow samples",
    references=(
        "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
        "[UDL] §16.5.2, erratum FL-E10",
    ),
    lenses=("sampling",),
    machine="flow",
)
