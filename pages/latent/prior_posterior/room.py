"""Prior or posterior: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Prior or posterior",
    idea="A decoder was trained on codes of data; the prior draws other ones.",
    place=250,
    minutes=4,
    words=(
        "aggregate posterior; aggregated posterior; prior hole; VampPrior; holes in the prior; two-stage VAE"
    ),
    references=(
        "Hoffman, Johnson 2016, ELBO surgery",
        "Tomczak and Welling 2018, VAE with a VampPrior, arXiv:1705.07120",
        "[UDL] §17.8.2; [GM] problem 3.1(a)",
    ),
    lenses=("latent",),
    machine="vae",
)
