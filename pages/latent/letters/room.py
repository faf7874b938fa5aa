"""HMM learns letters: what the room is."""

from lab.room import Room

ROOM = Room(
    title="HMM learns letters",
    idea="Hidden states, a text and EM: the states turn into vowels and the rest.",
    place=40,
    minutes=4,
    words="Baum-Welch; hidden Markov model; HMM; expectation maximization; vowels and consonants",
    references=(
        "Cave, Neuwirth 1980, Hidden Markov models for English",
        "Baum, Petrie, Soules, Weiss 1970, A maximization technique for functions of Markov chains",
        "[GM] §3.2.3",
    ),
)
