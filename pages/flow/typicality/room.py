"""Out of distribution: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Out of distribution",
    idea="What log p lets pass need not be a digit: a high density is not typicality.",
    place=190,
    minutes=3,
    words="out-of-distribution detection; OOD; typical set; typicality; anomaly detection; likelihood ratio",
    references=(
        "Nalisnick et al. 2019, Do deep generative models know what they don't know?, arXiv:1810.09136",
        "Nalisnick et al. 2019, Detecting out-of-distribution inputs, arXiv:1906.02994",
        "[UDL] §16.5.1",
        "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
        "Dinh, Sohl-Dickstein, Bengio 2017, RealNVP, arXiv:1605.08803",
        "[UDL] §16.4, §16.5.2; [GM] §3.12.3",
    ),
    machine="flow",
)
