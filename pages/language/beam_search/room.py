"""Beam search: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Beam search",
    idea="Keep the B best beginnings, go on with each: often likelier than greedy.",
    place=160,
    minutes=6,
    words="beam search; greedy decoding; length normalization; diverse beam search; decoding",
    references=(
        "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
        "Vijayakumar et al. 2016, Diverse beam search, arXiv:1610.02424",
    ),
    lenses=("sampling",),
)
