"""Codebook: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Codebook",
    idea="A picture becomes a grid of numbers; each names a vector in a book.",
    place=240,
    minutes=2,
    words=(
        "VQ-VAE; vector quantization; VQVAE; straight-through estimator; discrete latent; codebook collapse"
    ),
    references=(
        "van den Oord, Vinyals & Kavukcuoglu 2017, Neural Discrete Representation Learning, arXiv:1711.00937",
        "[UDL] notes of ch. 17; [GM] §3.12.5",
    ),
    lenses=("latent",),
    machine="vae",
)
