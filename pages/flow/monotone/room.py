"""Monotone maps: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Monotone maps",
    idea="What always rises can be undone: the inverse is the mirror image.",
    place=20,
    minutes=2,
    words="monotone spline; rational-quadratic spline; invertible function; neural spline; inverse CDF",
    references=(
        "Müller et al. 2019, Neural importance sampling, arXiv:1808.03856",
        "Durkan et al. 2019, Neural spline flows, arXiv:1906.04032",
        "[UDL] §16.3.2, problems 16.8-16.9 (eq. 16.12 and 16.33 lag a bin; fig. 16.5 calls the rise a slope)",
    ),
)
