"""Averaged weights: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Averaged weights",
    idea="Noisy steps shake the last weights; their running average stands still.",
    place=100,
    minutes=4,
    words="EMA; exponential moving average; Polyak averaging; weight averaging; learning rate decay",
    references=(
        "Polyak & Juditsky 1992 (averages of the iterates)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (EMA of 0.9999); Song & Ermon 2020, arXiv:2006.09011 (why)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
)
