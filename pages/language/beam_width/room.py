"""Width of a beam: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Width of a beam",
    idea="Four beginnings, four widths: better, shorter, or more of the same?",
    place=170,
    minutes=4,
    words="beam search curse; length penalty; length bias; decoding",
    references=(
        "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
        "Vijayakumar et al. 2016, Diverse beam search, arXiv:1610.02424",
    ),
    lenses=("sampling",),
)
