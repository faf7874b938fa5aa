"""Taxonomy of models: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Taxonomy of models",
    idea="Three sets inside each other, latent variables across, and six wishes.",
    place=70,
    minutes=2,
    words="generative models; taxonomy; implicit models; explicit density; unsupervised learning",
    references=(
        "[UDL] §14.1–14.2 and notes (its word for all models without labels is unsupervised)",
        "[GM] §3.12.5",
    ),
)
