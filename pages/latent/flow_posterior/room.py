"""Better posterior: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Better posterior",
    idea="What a diagonal Gaussian cannot bend to, a flow can.",
    place=380,
    minutes=4,
    words=(
        "normalizing flow posterior; IAF; inverse autoregressive flow; planar flow; richer posterior; "
        "Householder"
    ),
    references=(
        "Rezende and Mohamed 2015, Variational inference with normalizing flows, arXiv:1505.05770",
        "Kingma et al. 2016, Inverse autoregressive flow, arXiv:1606.04934",
        (
            "[GM] §3.11.2, §3.12.4 (3.82 has the other sign of the log-determinants, 3.87 is right); "
            "[UDL] §16.5.3"
        ),
    ),
)
