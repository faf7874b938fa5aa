"""Reversible block: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Reversible block",
    idea="Add f1 to one half, f2 to the other; subtract to go back. The volume stays.",
    place=110,
    minutes=5,
    words="RevNet; additive coupling; volume preserving; reversible network; memory saving; NICE",
    references=(
        "Gomez et al. 2017, The reversible residual network, arXiv:1707.04585",
        "Jacobsen, Smeulders, Oyallon 2018, i-RevNet, arXiv:1802.07088",
    ),
)
