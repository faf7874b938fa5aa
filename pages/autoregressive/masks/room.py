"""Masks: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Masks",
    idea="Masks that let no output see itself or what comes later make a density.",
    place=90,
    minutes=7,
    words="MADE; masked autoencoder; masked autoencoder for distribution estimation; autoregressive property",
    references=(
        "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
        "Uria, Murray, Larochelle 2014, order-agnostic training, arXiv:1310.1757",
        "[GM] §1.5.4; [UDL] §16.3.4",
    ),
    lenses=("receptive_field",),
)
