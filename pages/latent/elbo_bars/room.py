"""ELBO bars: what the room is."""

from lab.room import Room

ROOM = Room(
    title="ELBO bars",
    idea="log p(x) = ELBO + KL: five ways to write the bound, one number.",
    place=310,
    minutes=3,
    words=(
        "ELBO; evidence lower bound; variational inference; Jensen's inequality; variational gap; free energy"
    ),
    references=(
        "Jordan, Ghahramani, Jaakkola and Saul 1999, An introduction to variational methods",
        "[GM] §3.4.3-4; [UDL] §17.3.3-17.4; [BB] §6",
    ),
)
