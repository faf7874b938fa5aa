"""Two strategies: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Two strategies",
    idea="A model gives probabilities; a strategy makes a text of them.",
    place=180,
    minutes=4,
    words="ancestral sampling; greedy decoding; temperature; decoding",
    references=(
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
        "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
    ),
    lenses=("sampling",),
    machine="transformer",
)
