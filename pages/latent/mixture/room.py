"""Mixture by EM: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Mixture by EM",
    idea="Who made each point? Guess softly, fit to the guess, and guess again.",
    place=100,
    minutes=6,
    words=(
        "Gaussian mixture model; GMM; EM algorithm; expectation maximization; k-means; responsibilities; "
        "clustering; singularities"
    ),
    references=(
        "Dempster, Laird, Rubin 1977, Maximum likelihood from incomplete data via the EM algorithm",
        (
            "Neal, Hinton 1998, A view of the EM algorithm that justifies incremental, sparse, "
            "and other variants"
        ),
        "Schwarz 1978, Estimating the dimension of a model (BIC)",
        (
            "[GM] §3.2.2 (it says that EM increases the likelihood: it never lowers it), [UDL] §17.1.1, "
            "[BB] ex. 6.3"
        ),
    ),
)
