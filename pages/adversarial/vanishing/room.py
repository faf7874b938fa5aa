"""Vanishing gradient: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Vanishing gradient",
    idea="The better D tells made from real, the less the printed loss teaches G.",
    place=40,
    minutes=3,
    words="vanishing gradient; saturating loss; instance noise; non-saturating; perfect discriminator",
    references=(
        "Arjovsky & Bottou 2017, arXiv:1701.04862 (the experiment, and noise as a cure)",
        "Goodfellow et al. 2014, arXiv:1406.2661; Gulrajani et al. 2017, arXiv:1704.00028",
        "[UDL] §15.2.2, figs 15.6–15.7 (laws that do not overlap: D_JS is log 2, not infinite)",
    ),
    machine="gan",
)
