"""Four views of one prediction: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Four views of one prediction",
    idea="Noise, data, velocity, score: each tells the other three.",
    place=70,
    minutes=5,
    words=(
        "epsilon prediction; v-prediction; noise prediction; score; x0 prediction; Tweedie; "
        "parameterization; parameterisation"
    ),
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (ε)",
        "Salimans & Ho 2022, arXiv:2202.00512 (v, and x₀ at high noise)",
        "Song et al. 2021, arXiv:2011.13456 (score)",
        "[BB] 5: Gaussian conditioning",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    machine="diffusion",
)
