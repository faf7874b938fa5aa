"""Sharing: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Sharing",
    idea="A network of its own for every pixel, or one set of columns for all: few examples decide.",
    place=60,
    minutes=4,
    words="NADE; weight sharing; neural autoregressive distribution estimator; overfitting",
    references=(
        "Bengio, Bengio 2000, Modeling high-dimensional discrete data with multi-layer neural networks",
        "Larochelle, Murray 2011, The neural autoregressive distribution estimator",
        "[GM] §1.5.2",
    ),
)
