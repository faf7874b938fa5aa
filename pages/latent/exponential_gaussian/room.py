"""Exponential-Gaussian: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Exponential-Gaussian",
    idea="A bound and an evidence that are formulas: z ~ Exp(θ), q = Exp(φ).",
    place=330,
    minutes=6,
    words="variational inference; evidence; marginal likelihood; closed form; conjugate",
    references=("[BB] example 6.7, which takes E z² = 1/φ² and calls the optimum maximum likelihood",),
)
