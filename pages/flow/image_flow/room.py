"""Glow pipeline: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Glow pipeline",
    idea="Squeeze, step, split: a digit becomes Gaussian numbers, one per pixel.",
    place=150,
    minutes=3,
    words="Glow; multi-scale architecture; squeeze; actnorm; invertible 1x1 convolution; RealNVP",
    references=(
        "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
        "Dinh, Sohl-Dickstein, Bengio 2017, RealNVP, arXiv:1605.08803",
        "[UDL] §16.4, §16.5.2; [GM] §3.12.3",
    ),
    lenses=("latent",),
    machine="flow",
)
