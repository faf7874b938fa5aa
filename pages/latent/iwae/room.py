"""IWAE: what the room is."""

from lab.room import Room

ROOM = Room(
    title="IWAE",
    idea="K weighted draws: a tighter bound, a better posterior, a weaker signal.",
    place=360,
    minutes=3,
    words=(
        "IWAE; importance weighted autoencoder; importance weighted bound; DReG; signal-to-noise ratio; "
        "multi-sample bound"
    ),
    references=(
        "Burda, Grosse and Salakhutdinov 2016, Importance weighted autoencoders, arXiv:1509.00519",
        "Cremer, Morris and Duvenaud 2017, Reinterpreting importance-weighted autoencoders, arXiv:1704.02916",
        "Rainforth et al. 2018, Tighter variational bounds are not necessarily better, arXiv:1802.04537",
        "Tucker, Lawson, Gu and Maddison 2019, Doubly reparameterized gradients, arXiv:1810.04152",
    ),
)
