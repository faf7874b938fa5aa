"""Change of variables: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Change of variables",
    idea="A curve carries mass along the line: steep parts thin it, flat parts pile it up.",
    place=10,
    minutes=5,
    words="change of variables; Jacobian; pushforward; density transformation; normalizing flow; inverse CDF",
    references=(
        "[UDL] §16.1, problems 16.1-16.2, 16.7",
        "[GM] §3.10, §3.12.1, problem 3.15(d)",
        (
            "Papamakarios et al. 2021, Normalizing flows for probabilistic modeling and inference, "
            "arXiv:1912.02762"
        ),
    ),
)
