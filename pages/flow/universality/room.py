"""Universality: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Universality",
    idea="Couplings of one number each make an autoregressive layer; the order says which.",
    place=90,
    minutes=4,
    words="universal approximation; coupling; autoregressive flow; permutation; expressiveness",
    references=(
        "Huang et al. 2018, Neural autoregressive flows, arXiv:1804.00779",
        "Teshima et al. 2020, Coupling-based invertible neural networks are universal, arXiv:2006.11469",
    ),
)
