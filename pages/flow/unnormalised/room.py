"""Unnormalised target: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Unnormalised target",
    idea="No data, no normaliser: a flow finds a density from its formula.",
    place=200,
    minutes=6,
    words=(
        "Boltzmann generator; energy-based model; variational inference; reverse KL; unnormalized density; "
        "partition function; mode seeking"
    ),
    references=(
        "Rezende, Mohamed 2015, Variational inference with normalizing flows, arXiv:1505.05770",
        "Noé et al. 2019, Boltzmann generators, arXiv:1812.01729",
        "[UDL] §16.5.3, problem 16.11 (its eq. 16.25 starts from points, whose divergence is infinite)",
    ),
    machine="flow",
)
