"""Collapse: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Collapse",
    idea="A decoder that explains x alone leaves its code unused, at the same bound.",
    place=200,
    minutes=3,
    words="posterior collapse; KL vanishing; KL annealing; free bits; PixelVAE; strong decoder",
    references=(
        "Bowman et al. 2016, Generating Sentences from a Continuous Space, arXiv:1511.06349",
        "Chen et al. 2017, Variational Lossy Autoencoder, arXiv:1611.02731",
        "Kingma et al. 2016 (free bits), arXiv:1606.04934; Fu et al. 2019 (cycles), arXiv:1903.10145",
        "[GM] §3.11.1; [UDL] notes of ch. 17",
    ),
    machine="vae",
)
