"""Conditional bench: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Conditional bench",
    idea="Rows are classes, columns noise: does the generator make what is asked for?",
    place=120,
    minutes=5,
    words=(
        "conditional GAN; cGAN; ACGAN; InfoGAN; projection discriminator; auxiliary classifier; "
        "class-conditional"
    ),
    references=(
        "Mirza & Osindero 2014, arXiv:1411.1784; Odena et al. 2017, arXiv:1610.09585",
        "Miyato & Koyama 2018, arXiv:1802.05637; Chen et al. 2016, arXiv:1606.03657",
        "[UDL] §15.4.1–15.4.3, figs 15.13–15.15",
    ),
    machine="gan",
)
