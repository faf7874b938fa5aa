"""Denoising: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Denoising",
    idea="Three autoencoders of one shape: a plain, a denoising, a variational one.",
    place=290,
    minutes=6,
    words="denoising autoencoder; autoencoder; DAE; reconstruction",
    references=(
        "Vincent, Larochelle, Lajoie, Bengio and Manzagol 2010, Stacked Denoising Autoencoders",
        "Bourlard and Kamp 1988, Auto-association by multilayer perceptrons",
        "[GM] §1.5.3; [UDL] notes of ch. 17",
    ),
)
