"""Capacity wall: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Capacity wall",
    idea="Gaussians pave a shape one by one; a bent latent goes along it.",
    place=120,
    minutes=3,
    words="mixture of Gaussians; model capacity; GTM; generative topographic mapping; manifold",
    references=(
        "Bishop, Svensén, Williams 1998, GTM: the generative topographic mapping",
        "[GM] §3.2.4 (capacity of factor analysis and mixtures)",
    ),
)
