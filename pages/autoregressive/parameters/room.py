"""Parameter counts: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Parameter counts",
    idea="The chain rule saves nothing; fewer parents and shared weights do.",
    place=10,
    minutes=5,
    words="curse of dimensionality; joint probability table; parameter sharing; chain rule",
    references=(
        "Frey 1998; Larochelle, Murray 2011",
        "[GM] §1.1.1, §1.2.3, §1.5.6",
    ),
)
