"""Analogies: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Analogies",
    idea="a is to b as c is to what? The same step from c leads near the answer.",
    place=100,
    minutes=4,
    words="king queen; analogy; word arithmetic; vector arithmetic; parallelogram",
    references=(
        "Mikolov et al. 2013, Efficient estimation of word representations, arXiv:1301.3781",
        "Levy and Goldberg 2014, Linguistic regularities in sparse and explicit word representations",
        "[GM] §1.6.1",
    ),
    lenses=("latent",),
)
