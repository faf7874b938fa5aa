"""Memorise or generalise: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Memorise or generalise",
    idea="The best denoiser of n points knows no others: it draws those n.",
    place=170,
    minutes=6,
    words=(
        "memorization; overfitting; generalization; optimal denoiser; training data extraction; empirical "
        "score"
    ),
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (the loss whose minimiser this is)",
        "Carlini et al. 2023, arXiv:2301.13188; Somepalli et al. 2022, arXiv:2212.03860 (copies found)",
        "Yoon, Choi, Kwon, Ryu 2023, ICML workshop: generalise when they fail to memorise (a third)",
        "Kadkhodaie et al. 2023, arXiv:2310.02557",
        "[BB] 6: mixtures",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
)
