"""MAF against IAF: what the room is."""

from lab.room import Room

ROOM = Room(
    title="MAF against IAF",
    idea="One network, two flows: what one does in a single pass costs the other D.",
    place=70,
    minutes=4,
    words="masked autoregressive flow; inverse autoregressive flow; MAF; IAF; sequential sampling",
    references=(
        "Papamakarios, Pavlakou, Murray 2017, Masked autoregressive flow, arXiv:1705.07057",
        "Kingma et al. 2016, Inverse autoregressive flow, arXiv:1606.04934",
    ),
    machine="flow",
)
