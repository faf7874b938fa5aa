"""Growing: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Growing",
    idea="Learn small pictures first; fade each finer level in, and nothing jumps.",
    place=110,
    minutes=5,
    words="progressive growing; ProGAN; PGGAN; equalized learning rate; fade in",
    references=(
        "Karras et al. 2018, arXiv:1710.10196",
        "[UDL] §15.3, figs 15.9, 15.11",
    ),
    machine="gan",
)
