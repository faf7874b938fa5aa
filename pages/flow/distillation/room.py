"""Distillation: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Distillation",
    idea="A slow sampler that scores fast teaches a fast sampler that scores slowly.",
    place=80,
    minutes=3,
    words=(
        "Parallel WaveNet; probability density distillation; knowledge distillation; teacher student; "
        "reverse KL"
    ),
    references=(
        "van den Oord et al. 2018, Parallel WaveNet, arXiv:1711.10433",
        "Papamakarios et al. 2017, Masked autoregressive flow, arXiv:1705.07057",
        "[UDL] §16.3.5, §16.5.3 (its fast “masked flow” is an IAF)",
    ),
    machine="flow",
)
