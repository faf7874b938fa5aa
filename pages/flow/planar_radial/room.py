"""Planar and radial: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Planar and radial",
    idea="One layer cuts the plane or blows up a ball; many make a shape.",
    place=100,
    minutes=5,
    words="planar flow; radial flow; Rezende and Mohamed; matrix determinant lemma",
    references=("Rezende & Mohamed 2015, Variational inference with normalizing flows, arXiv:1505.05770",),
    machine="flow",
)
