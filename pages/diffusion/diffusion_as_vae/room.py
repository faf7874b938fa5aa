"""Diffusion as a VAE: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Diffusion as a VAE",
    idea="Codes as large as the data, an encoder that never learns: one bound.",
    place=50,
    minutes=3,
    words="hierarchical VAE; ELBO; variational diffusion; posterior collapse; ladder",
    references=(
        "Sohl-Dickstein et al. 2015, arXiv:1503.03585; Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "Kingma et al. 2021, arXiv:2107.00630 (the chain as an infinitely deep VAE)",
        "[GM] §3.1.1; [UDL] §17: VAEs, and hierarchies of codes",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("latent",),
    machine="diffusion",
)
