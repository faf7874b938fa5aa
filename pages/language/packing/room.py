"""Packing: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Packing",
    idea="In many dimensions almost all directions are almost orthogonal: room for many words.",
    place=110,
    minutes=4,
    words="high dimensions; Johnson-Lindenstrauss; superposition; almost orthogonal; curse of dimensionality",
    references=(
        "MacWilliams and Sloane 1977, The theory of error-correcting codes, ch. 15",
        "[GM] §1.6.1",
    ),
    lenses=("latent",),
)
