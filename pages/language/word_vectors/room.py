"""Word vectors: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Word vectors",
    idea="A word is known by the company it keeps: similar neighbours, similar vectors.",
    place=90,
    minutes=4,
    words="word embeddings; embedding; GloVe; cosine similarity; distributional hypothesis",
    references=(
        "Mikolov et al. 2013, Efficient estimation of word representations, arXiv:1301.3781",
        "Mikolov et al. 2013, Distributed representations of words and phrases, arXiv:1310.4546",
        "[GM] §1.6.1",
    ),
    lenses=("latent",),
)
