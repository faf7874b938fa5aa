"""Kernel: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Kernel",
    idea="One small set of weights slides over the input: a dense layer, tied and mostly zero.",
    place=10,
    minutes=6,
    words="convolution; stride; dilation; padding; filter; weight sharing; CNN; convolutional network",
    references=("[UDL] §10.2-10.4, figures 10.3-10.7, problems 10.9-10.11",),
    lenses=("receptive_field",),
    machine="convolution",
)
