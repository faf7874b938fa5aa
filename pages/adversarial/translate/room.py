"""Translate: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Translate",
    idea="Distance alone paints the middle of all that fits; a game decides for one.",
    place=170,
    minutes=5,
    words="pix2pix; image-to-image translation; PatchGAN; paired translation; conditional GAN",
    references=(
        "Isola et al. 2017, Pix2Pix, arXiv:1611.07004",
        "[UDL] §15.5.1–15.5.2, fig. 15.16 (in words: output against input; it is against the target)",
    ),
    lenses=("receptive_field",),
    machine="gan",
)
