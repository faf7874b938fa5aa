"""n-grams: what the room is."""

from lab.room import Room

ROOM = Room(
    title="n-grams",
    idea="Count what followed the last few tokens: language modelling without learning.",
    place=50,
    minutes=9,
    words=(
        "n-gram; bigram; trigram; smoothing; Kneser-Ney; add-one smoothing; Laplace smoothing; backoff; "
        "language model; sparsity"
    ),
    references=(
        "Kneser and Ney 1995; Chen and Goodman 1999",
        "Jurafsky and Martin, Speech and language processing, ch. 3",
        "[LLM] part 1, eq. 1.2-1.3",
    ),
)
