"""Text from a code: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Text from a code",
    idea="A GRU writes lines from a code; left alone, it learns to do without.",
    place=210,
    minutes=6,
    words="text VAE; Bowman; posterior collapse; word dropout; KL annealing; sentence interpolation; GRU",
    references=(
        "Bowman et al. 2016, Generating Sentences from a Continuous Space, arXiv:1511.06349",
        "Kingma et al. 2016 (free bits), arXiv:1606.04934; Cho et al. 2014 (GRU), arXiv:1406.1078",
        "[GM] §3.11.1; [UDL] notes of ch. 17",
    ),
    machine="vae",
)
