"""Shared strength: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Shared strength",
    idea="A sentence never seen: words with similar vectors help each other.",
    place=130,
    minutes=4,
    words="generalization; generalisation; distributed representation; smoothing",
    references=(
        "Bengio, Ducharme, Vincent, Jauvin 2003, A neural probabilistic language model, JMLR 3",
        "Kneser and Ney 1995, Improved backing-off for m-gram language modeling",
        "[LLM] neural language models",
    ),
    lenses=("latent",),
)
