"""Latent diffusion: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Latent diffusion",
    idea="Let an autoencoder make digits small, and diffuse in its codes.",
    place=130,
    minutes=5,
    words="stable diffusion; latent diffusion; LDM; autoencoder; compression; classifier-free guidance",
    references=(
        "Rombach et al. 2022, arXiv:2112.10752 (latent diffusion)",
        "Vahdat, Kreis, Kautz 2021, arXiv:2106.05931 (the bound of the whole)",
        "Kynkäänniemi et al. 2019, arXiv:1904.06991 (precision, recall)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=(
        "sampling",
        "latent",
    ),
    machine="diffusion",
)
