"""Your own data: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Your own data",
    idea="A table of yours, four models, and how large each of them should be.",
    place=110,
    minutes=6,
    words="tabular data; model selection; mixture of Gaussians; factor analysis; hidden Markov model; CSV",
    references=(
        "Schwarz 1978, Estimating the dimension of a model (BIC)",
        "Dempster, Laird, Rubin 1977, Maximum likelihood from incomplete data via the EM algorithm",
        "Azzalini, Bowman 1990, A look at some data on the Old Faithful geyser",
        "[GM] §3.2; [UDL] §16 (flows), §17.1.1 (mixtures)",
    ),
)
