"""Latent pad: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Latent pad",
    idea="Every place in the space of noise is a picture; near places are near pictures.",
    place=160,
    minutes=5,
    words="latent interpolation; truncation trick; BigGAN; slerp; spherical interpolation",
    references=(
        (
            "Radford et al. 2016, arXiv:1511.06434; White 2016, arXiv:1609.04468; "
            "Brock et al. 2019 (BigGAN), arXiv:1809.11096"
        ),
        "[UDL] §15.3, figs 15.10 and 15.12, problem 15.6 (whole samples are rejected there: that never ends)",
    ),
    lenses=("latent",),
    machine="gan",
)
