"""Own stack: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Own stack",
    idea="Each layer widens the window by d(K − 1) steps of the layer below; strides multiply.",
    place=20,
    minutes=5,
    words="dilated convolution; receptive field; convolutional network; CNN; stride; WaveNet",
    references=("[UDL] §10.2-10.4, problems 10.9-10.11",),
    lenses=("receptive_field",),
    machine="convolution",
)
