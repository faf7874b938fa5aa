"""The bound: what the room is."""

from lab.room import Room

ROOM = Room(
    title="The bound",
    idea="The ELBO buys pixels with nats of code: what it pays for, digit by digit.",
    place=170,
    minutes=5,
    words=(
        "ELBO; evidence lower bound; variational lower bound; reconstruction error; KL term; VAE loss; "
        "rate distortion"
    ),
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
        "Higgins et al. 2017, β-VAE",
    ),
    lenses=("latent",),
    machine="vae",
)
