"""Dequantization: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Dequantization",
    idea="A density of whole numbers is all spikes, unless noise fills the gaps.",
    place=160,
    minutes=4,
    words="uniform dequantization; variational dequantization; bits per dimension; discrete data",
    references=(
        "Theis, van den Oord, Bethge 2016, A note on evaluation, arXiv:1511.01844",
        "Ho et al. 2019, Flow++, arXiv:1902.00275",
        "[UDL] §16.5.2 (exact likelihood: of whole numbers uniform noise gives a bound)",
    ),
    machine="flow",
)
