"""StyleGAN: what the room is."""

from lab.room import Room

ROOM = Room(
    title="StyleGAN",
    idea="Every picture starts from one constant; a style at every layer makes it.",
    place=210,
    minutes=6,
    words="StyleGAN; AdaIN; style mixing; mapping network; truncation trick; W space; noise injection",
    references=(
        "Karras et al. 2019, arXiv:1812.04948; Huang & Belongie 2017 (AdaIN), arXiv:1703.06868",
        (
            "[UDL] §15.6, figs 15.19–15.20 (a mapping of seven layers is printed there: paper and code have "
            "eight)"
        ),
    ),
    machine="gan",
)
