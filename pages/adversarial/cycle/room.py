"""CycleGAN: what the room is."""

from lab.room import Room

ROOM = Room(
    title="CycleGAN",
    idea="Nobody shows a pair: a game in each domain, and a round trip that must come home.",
    place=180,
    minutes=4,
    words="CycleGAN; cycle consistency; unpaired translation; domain transfer; image-to-image translation",
    references=(
        "Zhu et al. 2017, CycleGAN, arXiv:1703.10593",
        "[UDL] §15.5.3, fig. 15.18 (one θ is printed for both generators; they have weights of their own)",
    ),
    machine="gan",
)
