"""Bound staircase: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Bound staircase",
    idea="A bound below log p: lift it until it touches, then climb to its top.",
    place=90,
    minutes=3,
    words="EM; expectation maximization; variational EM; lower bound; coordinate ascent",
    references=(
        (
            "Neal, Hinton 1998, A view of the EM algorithm that justifies incremental, sparse, "
            "and other variants"
        ),
        (
            "[UDL] §17.4, fig. 17.15 (it says that a better bound in either set raises the likelihood), "
            "[BB] ex. 6.7"
        ),
    ),
)
