"""Conditional VAE: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Conditional VAE",
    idea="Tell both networks the class, and the code keeps only the style.",
    place=220,
    minutes=4,
    words="conditional VAE; CVAE; class-conditional; style and content",
    references=(
        (
            "Sohn, Lee & Yan 2015, Learning Structured Output Representation … Deep Conditional Generative "
            "Models"
        ),
        "Kingma et al. 2014, Semi-Supervised Learning with Deep Generative Models, arXiv:1406.5298",
        "[UDL] notes of ch. 17",
    ),
    lenses=("latent",),
    machine="vae",
)
