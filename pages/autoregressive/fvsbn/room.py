"""FVSBN inspector: what the room is."""

from lab.room import Room

ROOM = Room(
    title="FVSBN inspector",
    idea="Each bit is a logistic regression on those before it: a triangle of numbers.",
    place=40,
    minutes=5,
    words="fully visible sigmoid belief network; sigmoid belief network; logistic regression",
    references=(
        "Neal 1992; Frey 1998, Graphical Models for Machine Learning",
        "[GM] §1.5.1",
    ),
    lenses=("receptive_field",),
)
