"""Copying autoencoder: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Copying autoencoder",
    idea="A network that sees its answer needs no model of the data.",
    place=80,
    minutes=4,
    words="autoencoder; identity map; denoising; bottleneck; entropy",
    references=(
        "[GM] §1.5.3 (it says that an unmasked network reaches zero error: only if its code is wide enough)",
        "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    ),
)
