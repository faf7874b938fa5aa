"""Birthday: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Birthday",
    idea="Two that are the same among a few hundred draws tell how many there are at all.",
    place=140,
    minutes=6,
    words="birthday paradox; support size; diversity; mode collapse; memorization",
    references=(
        "Arora & Zhang 2017, arXiv:1706.08224",
        "[UDL] §15 notes (more than half at 400 draws speaks of 115,260 things at most, not of 400,000)",
    ),
    machine="gan",
)
