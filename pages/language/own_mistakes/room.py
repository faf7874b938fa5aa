"""Own mistakes: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Own mistakes",
    idea="Trained after true tokens, used after its own: do mistakes add up?",
    place=200,
    minutes=2,
    words="exposure bias; teacher forcing; scheduled sampling",
    references=(
        "Ranzato et al. 2015, Sequence level training with recurrent neural networks, arXiv:1511.06732",
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
    ),
    lenses=("sampling",),
)
