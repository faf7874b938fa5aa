"""Contraction: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Contraction",
    idea="A residual block z + f(z) is inverted by iterating, if f is a contraction.",
    place=120,
    minutes=2,
    words=(
        "i-ResNet; invertible residual network; Banach fixed point; Lipschitz; fixed-point iteration; "
        "spectral normalization; invertible ResNet"
    ),
    references=(
        "Banach 1922, Sur les opérations dans les ensembles abstraits",
        "Behrmann et al. 2019, Invertible residual networks, arXiv:1811.00995",
    ),
)
