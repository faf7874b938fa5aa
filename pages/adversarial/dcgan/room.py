"""DCGAN: what the room is."""

from lab.room import Room

ROOM = Room(
    title="DCGAN",
    idea="Convolutions without pooling: up from z to a picture, and down to one number.",
    place=100,
    minutes=3,
    words=(
        "deep convolutional GAN; transposed convolution; batch normalization; batch norm; LeakyReLU; "
        "deconvolution; upsampling"
    ),
    references=(
        "Radford et al. 2016, arXiv:1511.06434; Ioffe & Szegedy 2015, arXiv:1502.03167",
        "[UDL] §15.1.3, §15.1.4, figs 15.3–15.5 (kernels and middle widths are not printed)",
    ),
    machine="gan",
)
