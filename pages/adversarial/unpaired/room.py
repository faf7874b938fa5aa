"""Unpaired: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Unpaired",
    idea="No pairs: games and cycles allow many maps, and the content picks one.",
    place=190,
    minutes=4,
    words="CycleGAN; cycle consistency; identity loss; unpaired translation; identifiability",
    references=(
        (
            "Zhu et al. 2017, CycleGAN, arXiv:1703.10593 (its optional content term is the identity on the "
            "target)"
        ),
        "[UDL] §15.5.3, fig. 15.18 (prints one θ for both generators; its content compares before and after)",
    ),
    machine="gan",
)
