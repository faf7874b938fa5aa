"""Neural language model: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Neural language model",
    idea="A network over the last tokens, trained live, against counts.",
    place=120,
    minutes=3,
    words=(
        "neural probabilistic language model; feed-forward language model; embedding layer; "
        "backpropagation; training loop; gradient descent; stochastic gradient descent; one-hot"
    ),
    references=(
        "Bengio, Ducharme, Vincent, Jauvin 2003, A neural probabilistic language model, JMLR 3",
        "[LLM] neural language models",
    ),
)
