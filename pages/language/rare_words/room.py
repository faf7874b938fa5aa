"""Rare words: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Rare words",
    idea="Words left out of the vocabulary lower the perplexity; nothing has improved.",
    place=60,
    minutes=2,
    words="out of vocabulary; OOV; unknown token; UNK",
    references=(
        "Jurafsky and Martin, ch. 3",
        "[LLM] part 1",
    ),
)
