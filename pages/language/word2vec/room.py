"""word2vec live: what the room is."""

from lab.room import Room

ROOM = Room(
    title="word2vec live",
    idea="A window slides; each place pulls the given vectors towards what came.",
    place=80,
    minutes=4,
    words="skip-gram; skipgram; negative sampling; CBOW; word embeddings; SGNS; stochastic gradient descent",
    references=(
        "Mikolov et al. 2013, Efficient estimation of word representations, arXiv:1301.3781",
        "Mikolov et al. 2013, Distributed representations of words and phrases, arXiv:1310.4546",
        "Rong 2014, word2vec parameter learning explained, arXiv:1411.2738",
        "[GM] §1.6.1",
    ),
    lenses=("latent",),
)
