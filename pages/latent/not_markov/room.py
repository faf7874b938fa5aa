"""Hidden chain is not Markov: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Hidden chain is not Markov",
    idea="A function of a Markov chain remembers more than its last symbol.",
    place=50,
    minutes=6,
    words="lumpability; hidden Markov process; Markov property; higher-order Markov",
    references=(
        '[BB] §5.1, example 5.10 (under "n = 2", with the distributions as columns: rows do not sum to 1)',
        "Burke, Rosenblatt 1958, A Markovian function of a Markov chain",
    ),
    lenses=("sampling",),
)
