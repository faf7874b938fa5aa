"""Two levels: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Two levels",
    idea="A code above a code: draw one of them anew, and see what the other holds.",
    place=230,
    minutes=4,
    words="ladder VAE; hierarchical VAE; LVAE; top-down inference",
    references=(
        "Sønderby et al. 2016, Ladder Variational Autoencoders, arXiv:1602.02282",
        "[GM] §3.1.1; [UDL] §17.8.2 and notes",
    ),
    lenses=("latent",),
    machine="vae",
)
