"""Continuous flow: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Continuous flow",
    idea="A field moves points; where it spreads them, the density falls.",
    place=140,
    minutes=4,
    words=(
        "neural ODE; FFJORD; continuous normalizing flow; CNF; instantaneous change of variables; "
        "divergence of a field"
    ),
    references=(
        "Chen et al. 2018, Neural ordinary differential equations, arXiv:1806.07366",
        "Grathwohl et al. 2019, FFJORD, arXiv:1810.01367",
        "Dupont, Doucet, Teh 2019, Augmented neural ODEs, arXiv:1904.01681",
    ),
)
