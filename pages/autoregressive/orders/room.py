"""Orders and ensembles: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Orders and ensembles",
    idea="A density for every order: mix the densities, never their factors.",
    place=100,
    minutes=6,
    words="ordering; order-agnostic training; ensemble; mixture of orders; ordering of variables",
    references=(
        "Uria, Murray, Larochelle 2014, A deep and tractable density estimator, arXiv:1310.1757",
        "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
        "[GM] §1.5.4",
    ),
    lenses=("sampling",),
)
