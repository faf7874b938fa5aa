"""Text sampling: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Text sampling",
    idea="Every token of the vocabulary gets a probability; one is drawn, and it starts again.",
    place=20,
    minutes=14,
    words="KV cache; key-value cache; greedy decoding; GPT; transformer; text generation; temperature",
    references=(
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
        "Fan et al. 2018, Hierarchical neural story generation, arXiv:1805.04833",
        "[UDL] §12.7.3, [LLM] part 4",
    ),
    lenses=("sampling",),
    machine="transformer",
)
