"""GAN live: what the room is."""

from lab.room import Room

ROOM = Room(
    title="GAN live",
    idea="Turn the knobs of both players while they play; stop one, and see the other.",
    place=60,
    minutes=6,
    words=(
        "GAN training; mode collapse; two time-scale update rule; TTUR; learning rate; training "
        "instability; Adam"
    ),
    references=(
        "Goodfellow et al. 2014, Generative adversarial nets, arXiv:1406.2661",
        "Heusel et al. 2017, GANs trained by a two time-scale update rule, arXiv:1706.08500",
        "Mescheder et al. 2018, Which training methods for GANs do actually converge?, arXiv:1801.04406",
        "[UDL] §15.1–15.2.1",
    ),
    machine="gan",
)
