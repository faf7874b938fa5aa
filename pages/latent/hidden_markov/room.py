"""HMM strip: what the room is."""

from lab.room import Room

ROOM = Room(
    title="HMM strip",
    idea="A hidden chain, seen through what it shows: sums and maxima over all paths.",
    place=30,
    minutes=3,
    words=(
        "hidden Markov model; HMM; forward-backward; Viterbi; forward algorithm; backward algorithm; "
        "smoothing; filtering"
    ),
    references=(
        "Rabiner 1989, A tutorial on hidden Markov models",
        "Viterbi 1967, Error bounds for convolutional codes",
        "[GM] §3.2.3 (3.22–3.24 are for one sequence; several need sums over all)",
    ),
)
