"""Super-resolution: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Super-resolution",
    idea="Many pictures shrink to one: squared error blurs them, a game picks one.",
    place=200,
    minutes=4,
    words="SRGAN; super resolution; upscaling; perceptual loss; PSNR; pixel shuffle; mean squared error",
    references=(
        "Ledig et al. 2017, SRGAN, arXiv:1609.04802; Shi et al. 2016 (pixel shuffle), arXiv:1609.05158",
        "Wang et al. 2018, ESRGAN (networks blended), arXiv:1809.00219",
        "[UDL] §15.5.2, fig. 15.17",
    ),
    machine="gan",
)
