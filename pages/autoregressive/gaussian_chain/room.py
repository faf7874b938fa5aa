"""Gaussian chain: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Gaussian chain",
    idea="Each value is a times the last one and fresh noise: the first autoregression.",
    place=30,
    minutes=5,
    words="AR(1); autoregressive process; random walk; stationarity; chain rule",
    references=(
        "[BB] §5.1, examples 5.10.1-2",
        "[GM] §1.4 (where the name autoregressive comes from)",
        "Yule 1927, On a method of investigating periodicities in disturbed series",
    ),
    lenses=("sampling",),
)
