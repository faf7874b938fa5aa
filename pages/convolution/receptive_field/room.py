"""Receptive field: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Receptive field",
    idea="A unit sees the input through a window that its layers open; the gradient shows what counts.",
    place=30,
    minutes=7,
    words=(
        "saliency; effective receptive field; CNN; convolutional network; gradient of a logit; "
        "backpropagation"
    ),
    references=(
        "[UDL] §10.2-10.4, figures 10.3-10.7, problems 10.9-10.11, 10.17",
        "Luo, Li, Urtasun, Zemel 2016, the effective receptive field, arXiv:1701.04128",
        "Greydanus, Kobak 2020, MNIST-1D, arXiv:2011.14439",
    ),
    lenses=("receptive_field",),
    machine="convolution",
)
