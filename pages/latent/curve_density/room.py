"""Density from a curve: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Density from a curve",
    idea="One number z bends through the plane; noise around it is a density.",
    place=80,
    minutes=3,
    words=(
        "nonlinear latent variable model; marginal likelihood; intractable posterior; marginalization; "
        "manifold"
    ),
    references=("[UDL] §17.2, figs. 17.2–17.4, and §17.4.1 (a posterior without a closed form)",),
)
