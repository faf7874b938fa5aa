"""Chains and neighbours: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Chains and neighbours",
    idea="Count who follows whom: a density without training.",
    place=20,
    minutes=6,
    words="Markov chain; Bayesian network; Markov random field; conditional independence",
    references=(
        "[GM] §1.2.1, §1.2.2",
        "[BB] §5.1, example 5.10",
        "Pearl 1988; Norris 1997",
    ),
)
