"""Senses: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Senses",
    idea="A table has one vector for a word; a Transformer one for every place.",
    place=140,
    minutes=4,
    words="polysemy; contextual embeddings; word sense; BERT; contextualized representations",
    references=(
        "Ethayarajh 2019, How contextual are contextualized word representations?, arXiv:1909.00512",
        "[GM] §1.6.1, §1.6.4",
    ),
    lenses=("latent",),
    machine="transformer",
)
